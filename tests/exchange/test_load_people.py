"""Tests of matching people: by each key, or by name if it is unambiguous. Namesakes remain two people."""

from typing import Any

import pytest

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


def doubts(report: Report) -> list[str]:
    return [note.message for note in report.notes if note.kind == "doubt"]


def people_of(uid: str) -> list[str]:
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

    assert people_of("p1") == ["ada"]
    assert Authorship.objects.get().name == name
    assert Person.objects.get().name == "Ada Lovelace"
    assert doubts(report) == []


def test_two_uids_with_one_orcid_are_two_people_and_a_doubt() -> None:
    ann, bob = author("Ann Lee", "ann", orcid=ORCID), author("Bob Ray", "bob", orcid=ORCID)

    report = load(program(paper("p1", ann), paper("p2", bob)), "2021")

    assert (people_of("p1"), people_of("p2")) == (["ann"], ["bob"])
    assert doubts(report) == [
        "An id of Bob Ray (bob) is that of Ann Lee (ann) too. They are kept apart without it."
    ]
    assert load(program(paper("p1", ann), paper("p2", bob)), "2021").run is None


def test_other_uid_and_name_with_the_orcid_of_somebody_here_is_a_doubt() -> None:
    make_person("Ann Lee", uid="ann", orcid=ORCID)

    report = load(program(paper("p1", author("Bob Ray", "bob", orcid=ORCID))), "2021")

    assert people_of("p1") == ["ann"]
    assert doubts(report) == [
        (
            "Bob Ray (bob) is taken for Ann Lee (ann) because of an id that both have. "
            "Correct the id if they are two."
        )
    ]


@pytest.mark.parametrize("hidden", [False, True])
def test_person_is_found_by_another_spelling_and_a_hidden_one_is_never_printed(hidden: bool) -> None:
    PersonName.objects.create(person=make_person("Ada King", uid="ada"), name="Ada Byron", hidden=hidden)

    load(program(paper("p1", author("Ada Byron"))), "2021")

    assert people_of("p1") == ["ada"]
    assert Authorship.objects.get().name == ("Ada King" if hidden else "Ada Byron")


def test_merged_person_is_followed() -> None:
    after = make_person("Yang Liu", uid="after")
    make_person("Y. Liu", uid="before", merged_into=after)

    load(program(paper("p1", author("Y. Liu", "before")), paper("p2", author("Y. Liu"))), "2021")

    assert (people_of("p1"), people_of("p2")) == (["after"], ["after"])


def test_merge_between_imports_changes_nothing() -> None:
    load(program(paper("p1", author("Yang Liu", "a")), paper("p2", author("Y. Liu", "b"))), "2021")
    kept = Person.objects.get(uid="a")
    Authorship.objects.filter(person__uid="b").update(person=kept)
    Person.objects.filter(uid="b").update(merged_into=kept)

    file = program(paper("p1", author("Yang Liu", "a")), paper("p2", author("Y. Liu", "b")))
    report = load(file, "2021")

    assert (report.total["changed"], report.conflicts, people_of("p2")) == (0, (), ["a"])
    assert load(file, "2021").run is None


def test_two_source_ids_with_one_name_are_two_people() -> None:
    papers = (
        paper("p1", author("Yang Liu", ids=(("src", "1"),))),
        paper("p2", author("Yang Liu", ids=(("src", "2"),))),
    )
    report = load(program(*papers), "2021")

    assert (people_of("p1"), people_of("p2")) == (["src-1"], ["src-2"])
    assert doubts(report) == [
        "Yang Liu is also the name of 2 people of this file. They are kept apart; merge them if they are one."
    ]
    assert load(program(*papers), "2021").run is None


@pytest.mark.parametrize("ref", [{"uid": "other"}, {"orcid": OTHER_ORCID}, {"ids": (("src", "2"),)}])
def test_contradiction_keeps_namesakes_apart(ref: dict[str, str]) -> None:
    here = make_person("Yang Liu", uid="here", orcid=ORCID)
    PersonIdentifier.objects.create(person=here, scheme="src", value="1")

    report = load(program(paper("p1", author("Yang Liu", **ref))), "2021")

    assert people_of("p1") != ["here"]
    assert len(doubts(report)) == 1


def test_id_is_added_to_whom_the_name_alone_finds() -> None:
    make_person("Ada Lovelace", uid="ada")

    load(program(paper("p1", author("Ada Lovelace", ids=(("src", "1"),), orcid=ORCID))), "2021")

    ada = Person.objects.get()
    assert (people_of("p1"), ada.orcid) == (["ada"], ORCID)
    assert list(ada.identifiers.values_list("scheme", "value")) == [("src", "1")]


def wei(number: str) -> AuthorRecord:
    return author("Wei Wang", ids=(("x", number),))


@pytest.mark.parametrize("order", [("1", "2"), ("2", "1")])
@pytest.mark.parametrize("uid", ["p0", "p1"])
def test_which_of_two_with_ids_is_known_is_not_decided_by_their_order(uid: str, order: Any) -> None:
    known = make_person("Wei Wang", uid="known")
    make_paper(
        make_edition(), [known, make_person("Ann Rare"), make_person("Cy Zop")], uid=uid, title="On p1"
    )
    both = paper("p1", *map(wei, order), author("Ann Rare"), author("Cy Zop"))

    load(Program(papers=(both,)), "2021")

    owners = PersonIdentifier.objects.order_by("value").values_list("person__uid", flat=True)
    assert (len({*owners}), "known" in owners) == (2, False)
    pairs = PersonPair.objects.filter(signs__contains=",kept_apart,", first=known)
    assert {pair.second.uid for pair in pairs} == {*owners}


@pytest.mark.parametrize("order", [("p1", "p2"), ("p2", "p1")])
def test_whom_more_speaks_for_is_whom_the_name_meant(order: Any) -> None:
    known = make_person("Wei Wang", uid="known")
    make_paper(make_edition(), [known, make_person("Ann Rare"), make_person("Cy Zop")], uid="p0")
    papers = {
        "p1": paper("p1", wei("1"), author("Ann Rare")),
        "p2": paper("p2", wei("2"), author("Ann Rare"), author("Cy Zop")),
    }

    load(Program(papers=tuple(papers[uid] for uid in order)), "2021")

    assert PersonIdentifier.objects.get(person=known).value == "2"
    assert people_of("p1")[0] != "known" == people_of("p2")[0]


@pytest.mark.parametrize("is_known", [True, False])
def test_namesakes_on_one_paper_are_two_whatever_they_share(is_known: bool) -> None:
    if is_known:
        team = [make_person("Wei Wang", orcid=ORCID), make_person("Ann Rare"), make_person("Cy Zop")]
        make_paper(make_edition(), team, uid="p0")
    both = author("Wei Wang", orcid=ORCID), author("Wei Wang")
    file = program(paper("p1", *both, author("Ann Rare"), author("Cy Zop")))

    first, again = load(file, "2021"), load(file, "2021")

    assert (len({*people_of("p1")}), len(people_of("p1"))) == (4, 4)
    assert [note.kind for note in first.notes if note.kind == "repeat"] == []
    assert again.run is None


def test_speaker_with_an_id_is_the_only_author_of_that_name_again() -> None:
    talks = (
        talk(
            "t1", paper="p1", speakers=(SpeakerRecord(person=PersonRef(name="Wei Wang", ids=(("x", "1"),))),)
        ),
    )
    file = program(paper("p1", author("Wei Wang")), presentations=talks)
    make_paper(make_edition(), [make_person("Wei Wang", uid="wei")], uid="p1", title="On p1")

    load(file, "2021")
    again = load(file, "2021")

    assert (people_of("p1"), Person.objects.count(), again.run) == (["wei"], 1, None)


def test_id_taken_away_by_hand_stays_away() -> None:
    file = program(paper("p1", author("Ada Lovelace", "ada", ids=(("src", "1"),), orcid=ORCID)))
    load(file, "2021")
    PersonIdentifier.objects.all().delete()
    Person.objects.update(orcid="")

    load(file, "2021")

    assert (PersonIdentifier.objects.count(), Person.objects.get().orcid) == (0, "")


def test_name_of_several_people_takes_the_one_who_stands_there() -> None:
    make_person("Yang Liu", uid="one")
    two = make_person("Yang Liu", uid="two")
    make_paper(make_edition(), [two], uid="p1", title="On p1")

    report = load(Program(papers=(paper("p1", author("Yang Liu")), paper("p2", author("Yang Liu")))), "2021")

    assert people_of("p1") == ["two"]
    assert people_of("p2")[0] not in ("one", "two")
    assert len(doubts(report)) == 1


def test_bare_names_of_several_people_are_settled_by_the_first_import() -> None:
    make_person("Yang Liu", uid="one")
    make_person("Yang Liu", uid="two")
    file = program(paper("p1", author("Yang Liu")), paper("p2", author("Yang Liu")))
    load(file, "2021")
    before = (people_of("p1"), people_of("p2"))

    report = load(file, "2021")

    assert (people_of("p1"), people_of("p2")) == before
    assert report.run is None


def test_bare_name_means_the_only_person_of_the_file_who_has_it() -> None:
    record = PersonRecord(ref=PersonRef(name="Ada Lovelace", uid="ada"), other_names=("Ada King",))

    load(
        program(paper("p1", author("Ada Lovelace")), paper("p2", author("Ada King")), people=(record,)),
        "2021",
    )

    assert (people_of("p1"), people_of("p2")) == (["ada"], ["ada"])


def joined(report: Report) -> list[str]:
    return [note.message for note in report.notes if note.kind == "joined"]


def asked() -> list[tuple[set[str], bool]]:
    """Return the pairs of likely duplicates, and whether an import decided not to match them."""
    pairs = PersonPair.objects.select_related("first", "second")
    return [({pair.first.uid, pair.second.uid}, ",kept_apart," in pair.signs) for pair in pairs]


def test_rare_name_is_joined_in_its_series_and_listed_with_what_speaks_against_it() -> None:
    ada = make_person("Ada Lovelace", uid="ada", affiliation="London")
    make_paper(make_edition(2020), [ada])

    report = load(program(paper("p1", author("Ada Lovelace", affiliations=("MIT",)))), "2021")

    assert (people_of("p1"), doubts(report), asked()) == (["ada"], [], [])
    assert joined(report) == [
        (
            "Ada Lovelace was joined with Ada Lovelace (ada) by name. "
            "Their affiliations differ, which is evidence against it."
        )
    ]


def test_common_name_is_joined_where_co_authors_say_so_else_kept_apart_and_asked_about() -> None:
    lei = make_person("Lei Wang", uid="lei")
    others = [make_person("Ann Abe", uid="ann-abe"), make_person("Bo Bell", uid="bo-bell")]
    earlier = make_paper(make_edition(2020), others)
    add_author(earlier, lei, affiliations=["ETH"])
    same = paper("p1", author("Lei Wang"), "Ann Abe", "Bo Bell")
    other = paper("p2", author("Lei Wang", affiliations=("MIT",)), "Cy Carr")

    report = load(program(same, other), "2021")

    (new, _cy) = people_of("p2")
    assert (people_of("p1")[0], new != "lei") == ("lei", True)
    assert joined(report) == [
        "Lei Wang was joined with Lei Wang (lei) by name. 2 co-authors in common: Ann Abe, Bo Bell."
    ]
    assert doubts(report) == [
        (
            "Lei Wang is also the name of 2 people of this file and Lei Wang (lei) here. "
            "They are kept apart; merge them if they are one."
        )
    ]
    assert ({new, "lei"}, True) in asked()
    again = load(program(same, other), "2021")
    assert (again.run, joined(again)) == (None, [])


def test_who_was_kept_apart_stays_on_the_list_until_a_chair_decides() -> None:
    lei = make_person("Lei Wang", uid="lei", affiliation="ETH")
    make_paper(make_edition(2020), [lei])
    load(program(paper("p1", author("Lei Wang", affiliations=("MIT",)))), "2021")
    new = Person.objects.exclude(uid="lei").get()

    storage.search(Person)

    assert asked() == [({"lei", new.uid}, True)]
    merge.mark_distinct([lei, new])
    storage.search(Person)
    assert asked() == []


def test_bare_name_of_another_series_is_a_new_person_who_may_be_the_same() -> None:
    elsewhere = make_edition(2020, slug="other-2020", conference=make_conference(slug="other", name="Other"))
    make_paper(elsewhere, [make_person("Ada Lovelace", uid="ada")])

    report = load(program(paper("p1", author("Ada Lovelace"))), "2021")

    (new,) = people_of("p1")
    assert (new != "ada", joined(report), len(doubts(report))) == (True, [], 1)
    assert asked() == [({"ada", new}, True)]


def test_identifier_joins_across_series() -> None:
    elsewhere = make_edition(2020, slug="other-2020", conference=make_conference(slug="other", name="Other"))
    make_paper(elsewhere, [make_person("Lei Wang", uid="lei", orcid=ORCID)])

    load(program(paper("p1", author("Lei Wang", orcid=ORCID, affiliations=("MIT",)))), "2021")

    assert (people_of("p1"), asked()) == (["lei"], [])


def test_namesakes_of_one_file_are_told_apart_by_place_and_co_authors() -> None:
    def written(uid: str, place: str, *others: str) -> PaperRecord:
        return paper(uid, author("Lei Wang", affiliations=(place,)), *others)

    papers = (
        written("p1", "ETH", "Ann Abe", "Bo Bell", "Cy Carr"),
        written("p2", "ETH", "Ann Abe", "Bo Bell"),
        written("p3", "MIT", "Di Dunn", "Ed Egan", "Flo Ford"),
    )
    report = load(program(*papers), "2021")

    one, two, three = (people_of(uid)[0] for uid in ("p1", "p2", "p3"))
    assert (one == two, one == three) == (True, False)
    assert asked() == [({one, three}, True)]
    assert load(program(*papers), "2021").run is None
    assert len(doubts(report)) == 1


def test_namesakes_are_compared_where_they_share_something_however_many_they_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compared = []

    def counted(*given: Any) -> Any:
        compared.append(given)
        return weigh_evidence(*given)

    monkeypatch.setattr("exchange.imports.name_evidence.weigh_evidence", counted)
    papers = [paper(f"p{n}", author("Wei Wang"), author(f"Ann Rare{n}")) for n in range(100)]

    load(program(*papers, paper("last", author("Wei Wang"), author("Ann Rare98"))), "2021")

    assert people_of("last") == people_of("p98")
    assert Person.objects.filter(name="Wei Wang").count() == 100
    assert len(compared) < 300


def test_speaker_of_a_paper_is_its_author_of_that_name() -> None:
    speaker = SpeakerRecord(person=PersonRef(name="Lei Wang"))
    talks = (talk("t1", paper="p1", speakers=(speaker,)), talk("t2", paper="p2", speakers=(speaker,)))
    papers = (paper("p1", author("Lei Wang", "lei")), paper("p2", author("Lei Wang")))

    load(program(*papers, presentations=talks), "2021")

    speakers = Speaker.objects.order_by("presentation__uid").values_list("person__uid", flat=True)
    assert list(speakers) == [*people_of("p1"), *people_of("p2")]


def test_author_whom_a_chair_replaced_by_somebody_of_another_name_stays() -> None:
    load(program(paper("p1", author("Lei Wang"))), "2021")
    Authorship.objects.update(person=make_person("Wang Lei-Lei", uid="other"))

    report = load(program(paper("p1", author("Lei Wang"))), "2021")

    assert (people_of("p1"), report.conflicts, report.total["changed"]) == (["other"], (), 0)


def counts(report: Report) -> tuple[int, int, int, int]:
    """Return the number of people, and of rows that the import created, preserved and found in conflict."""
    total = report.total
    return Person.objects.count(), total["new"], total["kept"], total["conflicting"]


@pytest.mark.parametrize("replaced_by", ["", "Weiwei Wang-Li", "Wei Wang"])
def test_bare_name_means_whom_it_meant_before_a_chair_changed_the_record(replaced_by: str) -> None:
    file = program(paper("p1", author("Wei Wang"), author("Ann Rare")))
    load(file, "2021")
    wei = Authorship.objects.filter(person__name="Wei Wang")
    if replaced_by:
        wei.update(person=make_person(replaced_by), name=replaced_by)
    else:
        wei.delete()
    before = Person.objects.count(), people_of("p1")

    reports = [load(file, "2021") for _ in range(3)]

    assert (Person.objects.count(), people_of("p1")) == before
    # If a namesake replaced the author, later imports match the name with the namesake.
    kept = replaced_by != "Wei Wang"
    assert [counts(one)[1:] for one in reports] == [(0, kept, 0)] * 3
    assert [one.run for one in reports[1:]] == [None, None]


def test_namesake_who_gives_the_talk_of_a_paper_stays() -> None:
    talks = (talk("t1", paper="p1", speakers=(SpeakerRecord(person=PersonRef(name="Wei Wang")),)),)
    file = program(paper("p1", author("Wei Wang")), presentations=talks)
    load(file, "2021")
    Speaker.objects.update(person=make_person("Wei Wang", uid="two"))

    reports = [load(file, "2021") for _ in range(3)]

    assert [counts(one) for one in reports] == [(2, 0, 0, 0)] * 3
    assert Speaker.objects.get().person.uid == "two"


def test_record_of_a_bare_name_stays_with_one_of_two_whom_a_chair_split() -> None:
    record = PersonRecord(ref=PersonRef(name="Wei Wang"), affiliation="MIT")
    papers = (paper(uid, author("Wei Wang")) for uid in ("p1", "p2", "p3"))
    file = program(*papers, people=(record,))
    load(file, "2021")
    two = make_person("Wei Wang", uid="two", affiliation="")
    Authorship.objects.exclude(paper__uid="p1").update(person=two)

    reports = [load(file, "2021") for _ in range(3)]

    assert [counts(one) for one in reports] == [(2, 0, 0, 0)] * 3
    assert [one.uid for one in Person.objects.exclude(affiliation="")] == people_of("p1")


def test_list_in_conflict_makes_no_new_people_with_every_import() -> None:
    make_paper(make_edition(), [make_person("Bo Zed")], uid="p1", title="On p1")
    file = program(paper("p1", author("Wei Wang")))

    reports = [load(file, "2021") for _ in range(3)]

    assert [one.run for one in reports[1:]] == [None, None]
    assert (people_of("p1"), Person.objects.count()) == ([Person.objects.get(name="Bo Zed").uid], 2)


def test_award_whose_winner_was_renamed_means_the_same_person_again() -> None:
    grants = (GrantRecord(person=PersonRef(name="Wei Wang")),)
    file = program(awards=(AwardRecord(uid="best", name="Best", grants=grants),))
    load(file, "2021")
    winner = Person.objects.get()
    winner.name = "Weiwei Wang"
    winner.save()

    assert load(file, "2021").run is None
    assert AwardGrant.objects.get().person == Person.objects.get()


def test_bare_record_alone_describes_the_same_person_again() -> None:
    file = program(people=(PersonRecord(ref=PersonRef(name="Wei Wang"), biography="She is."),))

    reports = [load(file, "2021") for _ in range(3)]

    assert Person.objects.get().biography == "She is."
    assert [one.run for one in reports[1:]] == [None, None]


def test_bare_name_follows_whom_it_meant_through_a_merge() -> None:
    file = program(paper("p1", author("Wei Wang"), author("Ann Rare")))
    load(file, "2021")
    stays = make_person("Weiwei Wong", uid="stays")
    merge.merge(stays, [Person.objects.get(name="Wei Wang")])
    Authorship.objects.filter(person=stays).delete()

    assert [counts(load(file, "2021"))[1:] for _ in range(2)] == [(0, 1, 0)] * 2


def test_suspicious_name_is_a_doubt_only_when_new() -> None:
    file = program(paper("p1", author("NameError", "x")))

    first, again = load(file, "2021"), load(file, "2021")

    assert [(note.kind, "NameError" in note.message) for note in first.notes] == [("name", True)] * 2
    assert again.notes == ()


def test_record_of_a_person_known_from_a_paper_is_no_conflict() -> None:
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
    assert people_of("p1") == ["jon"]


def test_parts_of_a_name_follow_it_unless_somebody_set_them() -> None:
    def named(one: str, two: str) -> Program:
        records = [PersonRecord(ref=PersonRef(name=name, uid=uid)) for name, uid in ((one, "a"), (two, "b"))]
        return program(people=tuple(records))

    load(named("Jon Smith", "Ana Ruiz Gil"), "2021")
    Person.objects.filter(uid="b").update(given="Ana", family="Ruiz Gil")

    load(named("Jon Smythe", "Ana María Ruiz Gil"), "2021")

    rows = Person.objects.order_by("uid").values_list("name", "given", "family", "sort_key")
    assert list(rows) == [
        ("Jon Smythe", "Jon", "Smythe", "smythe, jon"),
        ("Ana María Ruiz Gil", "Ana", "Ruiz Gil", "ruiz gil, ana"),
    ]


def test_hand_edit_of_a_person_survives() -> None:
    record = PersonRecord(ref=PersonRef(name="Ada Lovelace", uid="ada"), biography="Old.", homepage="")
    load(program(people=(record,)), "2021")
    Person.objects.update(biography="By hand.")
    new = PersonRecord(
        ref=PersonRef(name="Ada Lovelace", uid="ada"), biography="Old.", homepage="https://a.test/"
    )

    load(Program(people=(new,)), "2021")

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
    old = make_paper(make_edition(2011), uid="old")
    grants = (GrantRecord(paper="old", edition="2011"), GrantRecord(person=PersonRef(name="Ada", uid="ada")))

    load(program(awards=(AwardRecord(uid="tot", name="Test of Time", grants=grants),)), "2021")

    rows = AwardGrant.objects.order_by("position")
    assert list(rows.values_list("paper", "person__uid")) == [(old.pk, None), (None, "ada")]
