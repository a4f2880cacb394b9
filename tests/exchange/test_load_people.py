"""Tests of matching people: by each key, or by name if it is unambiguous. Namesakes remain two people."""

from typing import Any

import pytest

from exchange.files import Context, Source
from exchange.formats import spreadsheet
from exchange.imports.load import Report, load
from exchange.problems import ProgramError
from exchange.records import (
    AuthorRecord,
    AwardRecord,
    GrantRecord,
    PaperRecord,
    PersonRecord,
    PersonRef,
    Program,
    SpeakerRecord,
)
from papers.models import Authorship, AwardGrant
from people.duplicates import storage
from people.duplicates.evidence import weigh_evidence
from people.merging import merge
from people.models import Person, PersonIdentifier, PersonName, PersonPair
from schedule.models import Speaker
from tests.exchange.programs import author, paper, program, talk
from tests.factories import add_author, make_conference, make_edition, make_paper, make_person

pytestmark = pytest.mark.django_db
ORCID = "0000-0002-1825-0097"
OTHER_ORCID = "0000-0001-5109-3700"


def doubt_messages(report: Report) -> list[str]:
    return [note.message for note in report.notes if note.kind == "doubt"]


def author_uids(uid: str) -> list[str]:
    rows = Authorship.objects.filter(paper__uid=uid).order_by("position")
    return list(rows.values_list("person__uid", flat=True))


@pytest.mark.parametrize(
    "ref", [{"uid": "ada"}, {"ids": (("dblp", "l/Ada"),)}, {"orcid": f"https://orcid.org/{ORCID}"}, {}]
)
def test_person_is_found_by_each_key_and_by_name(ref: dict[str, str]) -> None:
    ada = make_person("Ada Lovelace", uid="ada", orcid=ORCID)
    PersonIdentifier.objects.create(person=ada, scheme="dblp", value="l/Ada")
    name = "A. Lovelace" if ref else "Ada Lovelace"

    report = load(program(paper("p1", author(name, **ref))), "2021")

    assert author_uids("p1") == ["ada"]
    assert Authorship.objects.get().name == name
    assert Person.objects.get().name == "Ada Lovelace"
    assert doubt_messages(report) == []


def test_two_uids_with_one_orcid_are_two_people_and_a_doubt() -> None:
    ann, bob = author("Ann Lee", "ann", orcid=ORCID), author("Bob Ray", "bob", orcid=ORCID)

    report = load(program(paper("p1", ann), paper("p2", bob)), "2021")

    assert (author_uids("p1"), author_uids("p2")) == (["ann"], ["bob"])
    assert doubt_messages(report) == [
        "An id of Bob Ray (bob) is that of Ann Lee (ann) too. They are kept apart without it."
    ]
    assert load(program(paper("p1", ann), paper("p2", bob)), "2021").run is None


def test_orcid_match_with_another_uid_and_name_is_a_doubt() -> None:
    make_person("Ann Lee", uid="ann", orcid=ORCID)

    report = load(program(paper("p1", author("Bob Ray", "bob", orcid=ORCID))), "2021")

    assert author_uids("p1") == ["ann"]
    assert doubt_messages(report) == [
        (
            "Bob Ray (bob) is taken for Ann Lee (ann) because of an id that both have. "
            "Correct the id if they are two."
        )
    ]


@pytest.mark.parametrize("is_hidden", [False, True])
def test_person_is_found_by_other_names_and_hidden_ones_are_not_printed(is_hidden: bool) -> None:
    PersonName.objects.create(person=make_person("Ada King", uid="ada"), name="Ada Byron", hidden=is_hidden)

    load(program(paper("p1", author("Ada Byron"))), "2021")

    assert author_uids("p1") == ["ada"]
    assert Authorship.objects.get().name == ("Ada King" if is_hidden else "Ada Byron")


def test_merged_person_is_matched_to_the_remaining_person() -> None:
    remaining = make_person("Yang Liu", uid="after")
    make_person("Y. Liu", uid="before", merged_into=remaining)

    load(program(paper("p1", author("Y. Liu", "before")), paper("p2", author("Y. Liu"))), "2021")

    assert (author_uids("p1"), author_uids("p2")) == (["after"], ["after"])


def test_import_after_a_merge_changes_nothing() -> None:
    load(program(paper("p1", author("Yang Liu", "a")), paper("p2", author("Y. Liu", "b"))), "2021")
    remaining = Person.objects.get(uid="a")
    Authorship.objects.filter(person__uid="b").update(person=remaining)
    Person.objects.filter(uid="b").update(merged_into=remaining)

    file = program(paper("p1", author("Yang Liu", "a")), paper("p2", author("Y. Liu", "b")))
    report = load(file, "2021")

    assert (report.total["changed"], report.conflicts, author_uids("p2")) == (0, (), ["a"])
    assert load(file, "2021").run is None


def test_two_source_ids_with_one_name_are_two_people() -> None:
    papers = (
        paper("p1", author("Yang Liu", ids=(("src", "1"),))),
        paper("p2", author("Yang Liu", ids=(("src", "2"),))),
    )
    report = load(program(*papers), "2021")

    assert (author_uids("p1"), author_uids("p2")) == (["src-1"], ["src-2"])
    assert doubt_messages(report) == [
        "Yang Liu is also the name of 2 people of this file. They are kept apart; merge them if they are one."
    ]
    assert load(program(*papers), "2021").run is None


@pytest.mark.parametrize("ref", [{"uid": "other"}, {"orcid": OTHER_ORCID}, {"ids": (("src", "2"),)}])
def test_conflicting_key_keeps_namesakes_apart(ref: dict[str, str]) -> None:
    existing = make_person("Yang Liu", uid="here", orcid=ORCID)
    PersonIdentifier.objects.create(person=existing, scheme="src", value="1")

    report = load(program(paper("p1", author("Yang Liu", **ref))), "2021")

    assert author_uids("p1") != ["here"]
    assert len(doubt_messages(report)) == 1


def test_ids_are_added_to_a_person_found_by_name() -> None:
    make_person("Ada Lovelace", uid="ada")

    load(program(paper("p1", author("Ada Lovelace", ids=(("src", "1"),), orcid=ORCID))), "2021")

    ada = Person.objects.get()
    assert (author_uids("p1"), ada.orcid) == (["ada"], ORCID)
    assert list(ada.identifiers.values_list("scheme", "value")) == [("src", "1")]


def wei_wang(source_id: str) -> AuthorRecord:
    return author("Wei Wang", ids=(("x", source_id),))


@pytest.mark.parametrize("order", [("1", "2"), ("2", "1")])
@pytest.mark.parametrize("uid", ["p0", "p1"])
def test_two_namesakes_on_a_paper_are_kept_apart_from_a_known_person(uid: str, order: Any) -> None:
    known = make_person("Wei Wang", uid="known")
    make_paper(
        make_edition(), [known, make_person("Ann Rare"), make_person("Cy Zop")], uid=uid, title="On p1"
    )
    record = paper("p1", *map(wei_wang, order), author("Ann Rare"), author("Cy Zop"))

    load(Program(papers=(record,)), "2021")

    owners = PersonIdentifier.objects.order_by("value").values_list("person__uid", flat=True)
    assert (len({*owners}), "known" in owners) == (2, False)
    pairs = PersonPair.objects.filter(signs__contains=",kept_apart,", first=known)
    assert {pair.second.uid for pair in pairs} == {*owners}


@pytest.mark.parametrize("order", [("p1", "p2"), ("p2", "p1")])
def test_namesake_with_more_common_coauthors_is_the_known_person(order: Any) -> None:
    known = make_person("Wei Wang", uid="known")
    make_paper(make_edition(), [known, make_person("Ann Rare"), make_person("Cy Zop")], uid="p0")
    papers = {
        "p1": paper("p1", wei_wang("1"), author("Ann Rare")),
        "p2": paper("p2", wei_wang("2"), author("Ann Rare"), author("Cy Zop")),
    }

    load(Program(papers=tuple(papers[uid] for uid in order)), "2021")

    assert PersonIdentifier.objects.get(person=known).value == "2"
    assert author_uids("p1")[0] != "known" == author_uids("p2")[0]


@pytest.mark.parametrize("is_known", [True, False])
def test_namesakes_on_one_paper_are_two_people(is_known: bool) -> None:
    if is_known:
        authors = [make_person("Wei Wang", orcid=ORCID), make_person("Ann Rare"), make_person("Cy Zop")]
        make_paper(make_edition(), authors, uid="p0")
    namesakes = author("Wei Wang", orcid=ORCID), author("Wei Wang")
    file = program(paper("p1", *namesakes, author("Ann Rare"), author("Cy Zop")))

    first_report, second_report = load(file, "2021"), load(file, "2021")

    assert (len({*author_uids("p1")}), len(author_uids("p1"))) == (4, 4)
    assert [note.kind for note in first_report.notes if note.kind == "repeat"] == []
    assert second_report.run is None


def test_speaker_with_an_id_is_the_only_author_of_that_name() -> None:
    talks = (
        talk(
            "t1", paper="p1", speakers=(SpeakerRecord(person=PersonRef(name="Wei Wang", ids=(("x", "1"),))),)
        ),
    )
    file = program(paper("p1", author("Wei Wang")), presentations=talks)
    make_paper(make_edition(), [make_person("Wei Wang", uid="wei")], uid="p1", title="On p1")

    load(file, "2021")
    second_report = load(file, "2021")

    assert (author_uids("p1"), Person.objects.count(), second_report.run) == (["wei"], 1, None)


def test_id_removed_by_hand_stays_removed() -> None:
    file = program(paper("p1", author("Ada Lovelace", "ada", ids=(("src", "1"),), orcid=ORCID)))
    load(file, "2021")
    PersonIdentifier.objects.all().delete()
    Person.objects.update(orcid="")

    load(file, "2021")

    assert (PersonIdentifier.objects.count(), Person.objects.get().orcid) == (0, "")


def test_ambiguous_name_matches_the_existing_author() -> None:
    make_person("Yang Liu", uid="one")
    second = make_person("Yang Liu", uid="two")
    make_paper(make_edition(), [second], uid="p1", title="On p1")

    report = load(Program(papers=(paper("p1", author("Yang Liu")), paper("p2", author("Yang Liu")))), "2021")

    assert author_uids("p1") == ["two"]
    assert author_uids("p2")[0] not in ("one", "two")
    assert len(doubt_messages(report)) == 1


def test_ambiguous_names_match_the_people_of_the_first_import() -> None:
    make_person("Yang Liu", uid="one")
    make_person("Yang Liu", uid="two")
    file = program(paper("p1", author("Yang Liu")), paper("p2", author("Yang Liu")))
    load(file, "2021")
    uids_before = (author_uids("p1"), author_uids("p2"))

    report = load(file, "2021")

    assert (author_uids("p1"), author_uids("p2")) == uids_before
    assert report.run is None


def test_name_without_key_matches_the_only_person_record_with_it() -> None:
    record = PersonRecord(ref=PersonRef(name="Ada Lovelace", uid="ada"), other_names=("Ada King",))

    load(
        program(paper("p1", author("Ada Lovelace")), paper("p2", author("Ada King")), people=(record,)),
        "2021",
    )

    assert (author_uids("p1"), author_uids("p2")) == (["ada"], ["ada"])


def join_messages(report: Report) -> list[str]:
    return [note.message for note in report.notes if note.kind == "joined"]


def duplicate_pairs() -> list[tuple[set[str], bool]]:
    """Return the pairs of likely duplicates, and whether an import decided not to match them."""
    pairs = PersonPair.objects.select_related("first", "second")
    return [({pair.first.uid, pair.second.uid}, ",kept_apart," in pair.signs) for pair in pairs]


def test_rare_name_is_joined_and_listed_with_evidence_against_it() -> None:
    ada = make_person("Ada Lovelace", uid="ada", affiliation="London")
    make_paper(make_edition(2020), [ada])

    report = load(program(paper("p1", author("Ada Lovelace", affiliations=("MIT",)))), "2021")

    assert (author_uids("p1"), doubt_messages(report), duplicate_pairs()) == (["ada"], [], [])
    assert join_messages(report) == [
        (
            "Ada Lovelace was joined with Ada Lovelace (ada) by name. "
            "Their affiliations differ, which is evidence against it."
        )
    ]


def test_reasons_of_several_joins_do_not_contradict_each_other() -> None:
    coauthors = ["Ann Abe", "Bo Bell", "Cy Carr", "Di Dow", "Ed Eks", "Fay Fox", "Gus Gow", "Hal Hay"]
    others = [f"{name[:-1]}nen" for name in coauthors]
    papers = (
        paper("p1", author("Ada Lovelace"), *coauthors),
        paper("p2", author("Ada Lovelace"), *others),
        paper("p3", author("Ada Lovelace"), *coauthors[:1], *others[:2]),
        paper("p4", author("Ada Lovelace"), *coauthors[:3]),
    )
    report = load(program(*papers), "2021")
    (message,) = (text for text in join_messages(report) if text.startswith("Ada Lovelace"))

    assert message == (
        "Ada Lovelace appears in 4 places in the file, joined by name. "
        "3 co-authors in common: Ann Abe, Ann Abnen, Bo Belnen."
    )


def test_common_name_is_joined_only_with_common_coauthors() -> None:
    lei = make_person("Lei Wang", uid="lei")
    coauthors = [make_person("Ann Abe", uid="ann-abe"), make_person("Bo Bell", uid="bo-bell")]
    earlier_paper = make_paper(make_edition(2020), coauthors)
    add_author(earlier_paper, lei, affiliations=["ETH"])
    same_coauthors = paper("p1", author("Lei Wang"), "Ann Abe", "Bo Bell")
    other_coauthor = paper("p2", author("Lei Wang", affiliations=("MIT",)), "Cy Carr")

    report = load(program(same_coauthors, other_coauthor), "2021")

    (new_uid, _cy) = author_uids("p2")
    assert (author_uids("p1")[0], new_uid != "lei") == ("lei", True)
    assert join_messages(report) == [
        "Lei Wang was joined with Lei Wang (lei) by name. 2 co-authors in common: Ann Abe, Bo Bell."
    ]
    assert doubt_messages(report) == [
        (
            "Lei Wang is also the name of 2 people of this file and Lei Wang (lei) here. "
            "They are kept apart; merge them if they are one."
        )
    ]
    assert ({new_uid, "lei"}, True) in duplicate_pairs()
    second_report = load(program(same_coauthors, other_coauthor), "2021")
    assert (second_report.run, join_messages(second_report)) == (None, [])


def test_pair_kept_apart_is_listed_until_a_chair_decides() -> None:
    lei = make_person("Lei Wang", uid="lei", affiliation="ETH")
    make_paper(make_edition(2020), [lei])
    load(program(paper("p1", author("Lei Wang", affiliations=("MIT",)))), "2021")
    new_person = Person.objects.exclude(uid="lei").get()

    storage.search(Person)

    assert duplicate_pairs() == [({"lei", new_person.uid}, True)]
    merge.mark_distinct([lei, new_person])
    storage.search(Person)
    assert duplicate_pairs() == []


def test_name_from_another_conference_creates_a_possible_duplicate() -> None:
    other_edition = make_edition(
        2020, slug="other-2020", conference=make_conference(slug="other", name="Other")
    )
    make_paper(other_edition, [make_person("Ada Lovelace", uid="ada")])

    report = load(program(paper("p1", author("Ada Lovelace"))), "2021")

    (new_uid,) = author_uids("p1")
    assert (new_uid != "ada", join_messages(report), len(doubt_messages(report))) == (True, [], 1)
    assert duplicate_pairs() == [({"ada", new_uid}, True)]


def test_orcid_matches_across_conferences() -> None:
    other_edition = make_edition(
        2020, slug="other-2020", conference=make_conference(slug="other", name="Other")
    )
    make_paper(other_edition, [make_person("Lei Wang", uid="lei", orcid=ORCID)])

    load(program(paper("p1", author("Lei Wang", orcid=ORCID, affiliations=("MIT",)))), "2021")

    assert (author_uids("p1"), duplicate_pairs()) == (["lei"], [])


def test_namesakes_are_separated_by_affiliation_and_coauthors() -> None:
    def lei_wang_paper(uid: str, affiliation: str, *coauthors: str) -> PaperRecord:
        return paper(uid, author("Lei Wang", affiliations=(affiliation,)), *coauthors)

    papers = (
        lei_wang_paper("p1", "ETH", "Ann Abe", "Bo Bell", "Cy Carr"),
        lei_wang_paper("p2", "ETH", "Ann Abe", "Bo Bell"),
        lei_wang_paper("p3", "MIT", "Di Dunn", "Ed Egan", "Flo Ford"),
    )
    report = load(program(*papers), "2021")

    first, second, third = (author_uids(uid)[0] for uid in ("p1", "p2", "p3"))
    assert (first == second, first == third) == (True, False)
    assert duplicate_pairs() == [({first, third}, True)]
    assert load(program(*papers), "2021").run is None
    assert len(doubt_messages(report)) == 1


def test_only_namesakes_with_common_evidence_are_compared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    comparisons = []

    def count_comparison(*arguments: Any) -> Any:
        comparisons.append(arguments)
        return weigh_evidence(*arguments)

    monkeypatch.setattr("exchange.imports.name_evidence.weigh_evidence", count_comparison)
    papers = [paper(f"p{n}", author("Wei Wang"), author(f"Ann Rare{n}")) for n in range(100)]

    load(program(*papers, paper("last", author("Wei Wang"), author("Ann Rare98"))), "2021")

    assert author_uids("last") == author_uids("p98")
    assert Person.objects.filter(name="Wei Wang").count() == 100
    assert len(comparisons) < 300


def test_speaker_of_a_paper_is_its_author_of_the_same_name() -> None:
    speaker = SpeakerRecord(person=PersonRef(name="Lei Wang"))
    talks = (talk("t1", paper="p1", speakers=(speaker,)), talk("t2", paper="p2", speakers=(speaker,)))
    papers = (paper("p1", author("Lei Wang", "lei")), paper("p2", author("Lei Wang")))

    load(program(*papers, presentations=talks), "2021")

    speakers = Speaker.objects.order_by("presentation__uid").values_list("person__uid", flat=True)
    assert list(speakers) == [*author_uids("p1"), *author_uids("p2")]


def test_author_replaced_by_a_chair_stays() -> None:
    load(program(paper("p1", author("Lei Wang"))), "2021")
    Authorship.objects.update(person=make_person("Wang Lei-Lei", uid="other"))

    report = load(program(paper("p1", author("Lei Wang"))), "2021")

    assert (author_uids("p1"), report.conflicts, report.total["changed"]) == (["other"], (), 0)


def import_counts(report: Report) -> tuple[int, int, int, int]:
    """Return the numbers of people, and of new, kept and conflicting rows of the import."""
    total = report.total
    return Person.objects.count(), total["new"], total["kept"], total["conflicting"]


@pytest.mark.parametrize("new_name", ["", "Weiwei Wang-Li", "Wei Wang"])
def test_author_changed_by_a_chair_is_kept_in_later_imports(new_name: str) -> None:
    file = program(paper("p1", author("Wei Wang"), author("Ann Rare")))
    load(file, "2021")
    authorships = Authorship.objects.filter(person__name="Wei Wang")
    if new_name:
        authorships.update(person=make_person(new_name), name=new_name)
    else:
        authorships.delete()
    state_before = Person.objects.count(), author_uids("p1")

    reports = [load(file, "2021") for _ in range(3)]

    assert (Person.objects.count(), author_uids("p1")) == state_before
    # If a namesake replaced the author, later imports match the name with the namesake.
    is_kept = new_name != "Wei Wang"
    assert [import_counts(report)[1:] for report in reports] == [(0, is_kept, 0)] * 3
    assert [report.run for report in reports[1:]] == [None, None]


def test_speaker_replaced_by_a_namesake_stays() -> None:
    talks = (talk("t1", paper="p1", speakers=(SpeakerRecord(person=PersonRef(name="Wei Wang")),)),)
    file = program(paper("p1", author("Wei Wang")), presentations=talks)
    load(file, "2021")
    Speaker.objects.update(person=make_person("Wei Wang", uid="two"))

    reports = [load(file, "2021") for _ in range(3)]

    assert [import_counts(report) for report in reports] == [(2, 0, 0, 0)] * 3
    assert Speaker.objects.get().person.uid == "two"


def test_person_record_stays_with_one_of_two_people_split_by_a_chair() -> None:
    record = PersonRecord(ref=PersonRef(name="Wei Wang"), affiliation="MIT")
    papers = (paper(uid, author("Wei Wang")) for uid in ("p1", "p2", "p3"))
    file = program(*papers, people=(record,))
    load(file, "2021")
    second = make_person("Wei Wang", uid="two", affiliation="")
    Authorship.objects.exclude(paper__uid="p1").update(person=second)

    reports = [load(file, "2021") for _ in range(3)]

    assert [import_counts(one) for one in reports] == [(2, 0, 0, 0)] * 3
    assert [one.uid for one in Person.objects.exclude(affiliation="")] == author_uids("p1")


def test_author_list_in_conflict_creates_no_people_again() -> None:
    make_paper(make_edition(), [make_person("Bo Zed")], uid="p1", title="On p1")
    file = program(paper("p1", author("Wei Wang")))

    reports = [load(file, "2021") for _ in range(3)]

    assert [report.run for report in reports[1:]] == [None, None]
    assert (author_uids("p1"), Person.objects.count()) == ([Person.objects.get(name="Bo Zed").uid], 2)


def test_renamed_award_winner_is_matched_again() -> None:
    grants = (GrantRecord(person=PersonRef(name="Wei Wang")),)
    file = program(awards=(AwardRecord(uid="best", name="Best", grants=grants),))
    load(file, "2021")
    winner = Person.objects.get()
    winner.name = "Weiwei Wang"
    winner.save()

    assert load(file, "2021").run is None
    assert AwardGrant.objects.get().person == Person.objects.get()


def test_person_record_without_key_is_matched_again() -> None:
    file = program(people=(PersonRecord(ref=PersonRef(name="Wei Wang"), biography="She is."),))

    reports = [load(file, "2021") for _ in range(3)]

    assert Person.objects.get().biography == "She is."
    assert [report.run for report in reports[1:]] == [None, None]


def test_name_without_key_is_matched_after_a_merge() -> None:
    file = program(paper("p1", author("Wei Wang"), author("Ann Rare")))
    load(file, "2021")
    remaining = make_person("Weiwei Wong", uid="stays")
    merge.merge(remaining, [Person.objects.get(name="Wei Wang")])
    Authorship.objects.filter(person=remaining).delete()

    assert [import_counts(load(file, "2021"))[1:] for _ in range(2)] == [(0, 1, 0)] * 2


def test_suspicious_name_is_noted_only_when_new() -> None:
    file = program(paper("p1", author("NameError", "x")))

    first_report, second_report = load(file, "2021"), load(file, "2021")

    assert [(note.kind, "NameError" in note.message) for note in first_report.notes] == [("name", True)] * 2
    assert second_report.notes == ()


def test_person_record_of_a_known_author_is_no_conflict() -> None:
    load(program(paper("p1", author("Jon Smith", "jon"))), "2021")
    record = PersonRecord(
        ref=PersonRef(name="Jonathan Smith", uid="jon"), given="Jonathan", family="Smith", biography="He is."
    )

    report = load(Program(people=(record,)), "2021")

    jon = Person.objects.get()
    assert (jon.name, jon.given, jon.biography, report.conflicts) == (
        "Jonathan Smith",
        "Jonathan",
        "He is.",
        (),
    )
    assert author_uids("p1") == ["jon"]


def test_name_parts_follow_the_name_unless_set_by_hand() -> None:
    def people_program(first_name: str, second_name: str) -> Program:
        records = [
            PersonRecord(ref=PersonRef(name=name, uid=uid))
            for name, uid in ((first_name, "a"), (second_name, "b"))
        ]
        return program(people=tuple(records))

    load(people_program("Jon Smith", "Ana Ruiz Gil"), "2021")
    Person.objects.filter(uid="b").update(given="Ana", family="Ruiz Gil")

    load(people_program("Jon Smythe", "Ana María Ruiz Gil"), "2021")

    rows = Person.objects.order_by("uid").values_list("name", "given", "family", "sort_key")
    assert list(rows) == [
        ("Jon Smythe", "Jon", "Smythe", "smythe, jon"),
        ("Ana María Ruiz Gil", "Ana", "Ruiz Gil", "ruiz gil, ana"),
    ]


def test_hand_edit_of_a_person_survives() -> None:
    record = PersonRecord(ref=PersonRef(name="Ada Lovelace", uid="ada"), biography="Old.", homepage="")
    load(program(people=(record,)), "2021")
    Person.objects.update(biography="By hand.")
    new_record = PersonRecord(
        ref=PersonRef(name="Ada Lovelace", uid="ada"), biography="Old.", homepage="https://a.test/"
    )

    load(Program(people=(new_record,)), "2021")

    assert (Person.objects.get().biography, Person.objects.get().homepage) == ("By hand.", "https://a.test/")


def test_two_records_of_one_person_are_refused() -> None:
    make_person("Ada Lovelace", uid="ada", orcid=ORCID)
    records = (
        PersonRecord(ref=PersonRef(name="Ada Lovelace", uid="ada")),
        PersonRecord(ref=PersonRef(name="A. Lovelace", uid="b", orcid=ORCID)),
    )
    with pytest.raises(ProgramError, match="are one person here"):
        load(program(people=records), "2021")


def test_award_to_a_person_and_to_an_older_paper() -> None:
    old_paper = make_paper(make_edition(2011), uid="old")
    grants = (GrantRecord(paper="old", edition="2011"), GrantRecord(person=PersonRef(name="Ada", uid="ada")))

    load(program(awards=(AwardRecord(uid="tot", name="Test of Time", grants=grants),)), "2021")

    rows = AwardGrant.objects.order_by("position")
    assert list(rows.values_list("paper", "person__uid")) == [(old_paper.pk, None), (None, "ada")]


def test_trap_40_numbers_of_people_in_a_file_keep_namesakes_apart() -> None:
    """The name and the affiliation are one guess, the number of the person is stated."""
    make_edition()
    papers = b"#,title,decision\n1,A,accept\n2,B,accept\n3,C,accept\n"
    authors = (
        b"submission #,first name,last name,affiliation,person #\n1,J.,Kim,MIT,10\n2,J.,Kim,MIT,11\n"
        b"3,J.,Kim,MIT,10\n"
    )
    sources = [Source("submission.csv", papers), Source("author.csv", authors)]
    records = spreadsheet.read(sources, Context("2021", 2021, "UTC"))
    load(records, "2021")

    first, second, third = (author_uids(uid)[0] for uid in ("1", "2", "3"))
    assert (first == third, first == second) == (True, False)
    assert load(records, "2021").run is None
