"""Tests of actions on papers: awards, material from a list of addresses, sessions; preview and revert."""

import re

import pytest
from django.contrib.auth.models import Permission
from django.test import Client

from conference.models import Edition
from papers.admin.actions import match_urls
from papers.models import Award, AwardGrant, Material, Paper
from people.merging import merge
from schedule.models import Presentation
from tests import factories as make
from tests.access.world import add_member
from tests.admin_forms import post_action, run_action

pytestmark = pytest.mark.django_db

PDF, CODE = "https://example.org/a.pdf", "https://example.org/b"


def revert(client: Client, page: str) -> None:
    match = re.search(r'href="(/admin/[^"]+/take-back/)"', page)
    assert match
    client.post(match[1])


def test_award_is_granted_to_papers_after_its_winners(admin_client: Client, edition: Edition) -> None:
    papers = [make.make_paper(edition, title=name) for name in ("One", "Two", "Three")]
    award = make.make_award(make.make_edition(2022), [papers[1]])
    page = run_action(admin_client, "grant_award", papers, award=award.pk)

    assert "Award granted to 2 papers. 1 has the award already." in page
    assert list(AwardGrant.objects.values_list("position", "paper__title")) == [
        (1, "Two"),
        (2, "One"),
        (3, "Three"),
    ]
    revert(admin_client, page)
    assert list(AwardGrant.objects.values_list("position", "paper__title")) == [(1, "Two")]
    assert Award.objects.get() == award


def test_award_is_granted_to_people_after_its_winners(admin_client: Client, edition: Edition) -> None:
    ada, bob, merged = (make.make_person(name) for name in ("Ada Byron", "Bob Cray", "Bobby Cray"))
    paper = make.make_paper(edition, [ada, bob])
    award = make.make_award(edition, [paper, bob])
    merge.merge(bob, [merged])
    page = run_action(admin_client, "grant_award", [ada, bob, merged], award=award.pk)

    assert "Award granted to 1 person. 1 has the award already. 1 was left unchanged." in page
    grants = AwardGrant.objects.order_by("position").values_list("position", "paper", "person")
    assert [*grants] == [(1, paper.pk, None), (2, None, bob.pk), (3, None, ada.pk)]
    revert(admin_client, page)
    assert AwardGrant.objects.count() == 2


@pytest.mark.parametrize("role", ["viewer", "session_chair", "editor"])
def test_only_editors_grant_awards_to_people_and_only_of_their_edition(
    client: Client, edition: Edition, role: str
) -> None:
    ada, other_edition = make.make_person("Ada Byron"), make.make_edition(2030)
    make.make_paper(edition, [ada])
    own_award, other_award = make.make_award(edition), make.make_award(other_edition)
    client.force_login(add_member("member", edition, role))
    for award in (own_award, other_award):
        run_action(client, "grant_award", [ada], award=award.pk)

    assert [*AwardGrant.objects.values_list("award", flat=True)] == (
        [own_award.pk] if role == "editor" else []
    )


@pytest.mark.parametrize(
    ("text", "pairs", "problems"),
    [
        (f"{PDF}\n\n{CODE}", [(0, PDF), (1, CODE)], []),
        (f"p2 {PDF}\np1\t{CODE}", [(1, PDF), (0, CODE)], []),
        (f"p1, {PDF}", [(0, PDF)], []),
        ("", [], ["Paste at least one address."]),
        (PDF, [], ["1 addresses for 2 papers: start each line with the paper's identifier."]),
        (f"p1 {PDF}\np9 {CODE}", [], ["Line 2: no chosen paper has the identifier “p9”."]),
        (
            f"{PDF}\np1 {CODE}",
            [],
            ["Start every line with a paper's identifier, or none of them."],
        ),
        (f"p1 {PDF} x", [], ["Line 1: enter an address, or an identifier and an address."]),
    ],
)
def test_lines_are_matched_to_papers_or_reported(
    text: str, pairs: list[tuple[int, str]], problems: list[str]
) -> None:
    assert match_urls(text, ["p1", "p2"]) == (pairs, problems)


@pytest.mark.parametrize("url", ["javascript:alert(1)", "ftp://example.org/a", "example", "https://"])
def test_invalid_url_is_reported_with_its_line(url: str) -> None:
    pairs, problems = match_urls(f"p1 {PDF}\np2 {url}", ["p1", "p2"])

    assert pairs == []
    assert [problem[: len(f"Line 2: “{url}” is not a valid address.")] for problem in problems] == [
        f"Line 2: “{url}” is not a valid address."
    ]


def test_material_is_added_from_a_list_and_reverted(admin_client: Client, edition: Edition) -> None:
    papers = [make.make_paper(edition, uid=uid, title=uid) for uid in ("p1", "p2")]
    make.make_material(papers[0], url=PDF)
    fields = {"kind": "pdf", "label": "", "visible": "on", "addresses": f"p1 {PDF}\np2 {CODE}\np1 {CODE}"}
    page = run_action(admin_client, "add_material", papers, **fields)
    stored = Material.objects.order_by("paper__uid", "position").values_list("paper__uid", "position", "url")

    assert "1 is there already." in page
    assert list(stored) == [("p1", 1, PDF), ("p1", 2, CODE), ("p2", 1, CODE)]
    revert(admin_client, page)
    assert list(stored.all()) == [("p1", 1, PDF)]


def test_material_with_a_long_label_is_added(admin_client: Client, edition: Edition) -> None:
    paper, label = make.make_paper(edition, uid="p1"), "Slides of the talk, " * 15
    page = run_action(
        admin_client, "add_material", [paper], kind="slides", label=label, addresses=f"p1 {PDF}"
    )

    assert "Material was added to 1 paper." in page
    assert paper.materials.get().label == label.strip()


def test_no_material_is_added_if_a_line_is_invalid(admin_client: Client, edition: Edition) -> None:
    paper = make.make_paper(edition, uid="p1")
    page = run_action(
        admin_client, "add_material", [paper], kind="pdf", label="", addresses=f"p1 {PDF}\np1 bad"
    )

    assert "Line 2: “bad” is not a valid address." in page
    assert not Material.objects.exists()


def test_papers_join_a_session_with_their_unscheduled_or_new_presentations(
    admin_client: Client, edition: Edition
) -> None:
    session = make.make_session(edition, title="Posters")
    papers = [make.make_paper(edition, title=name) for name in ("One", "Two", "Three")]
    make.make_presentation(session, papers[0], kind="poster")
    unscheduled = make.make_presentation(None, papers[1], kind="poster")
    old_paper = make.make_paper(make.make_edition(2020), title="Old")
    fields = {"session": session.pk, "kind": "poster"}
    preview = post_action(admin_client, "put_in_session", papers[1:], **fields)
    page = run_action(admin_client, "put_in_session", [*papers, old_paper], **fields)
    placed_titles = session.presentations.order_by("position").values_list("position", "paper__title")

    assert "its presentation without a session goes to “Posters” (Poster)" in preview
    assert "is presented in “Posters” (Poster)" in preview
    assert "2 papers moved to the session. 1 is there already. 1 was left unchanged." in page
    # The papers get positions in the order of the list.
    assert list(placed_titles) == [(1, "One"), (2, "Three"), (3, "Two")]
    revert(admin_client, page)
    assert list(placed_titles.all()) == [(1, "One")]
    assert list(Presentation.objects.filter(session=None)) == [unscheduled]


@pytest.mark.parametrize(
    ("session_kind", "presentation_kind"),
    [
        ("poster", "poster"),
        ("spotlight", "spotlight"),
        ("oral", "oral"),
        ("workshop", "oral"),
        ("eve", "poster"),
    ],
)
def test_kind_of_a_new_presentation_follows_its_session(
    admin_client: Client, edition: Edition, session_kind: str, presentation_kind: str
) -> None:
    make.make_session_kind(edition.conference, slug="eve", counts_as="poster")
    session, paper = make.make_session(edition, kind=session_kind), make.make_paper(edition)
    page = post_action(admin_client, "put_in_session", [paper])
    assert '<option value="" selected>As the session</option>' in page
    run_action(admin_client, "put_in_session", [paper], session=session.pk, kind="")

    assert [row.kind for row in session.presentations.all()] == [presentation_kind]


@pytest.mark.parametrize(
    ("action", "fields", "reason"),
    [
        ("put_in_session", {"kind": "oral"}, "You don’t have permission to add presentations there."),
        ("put_in_session", {"kind": "poster"}, "You don’t have permission to change its presentation."),
        (
            "add_material",
            {"kind": "pdf", "addresses": PDF},
            "You don’t have permission to add material to it.",
        ),
    ],
)
def test_editor_of_another_edition_adds_nothing_to_papers(
    client: Client, edition: Edition, action: str, fields: dict[str, str], reason: str
) -> None:
    mia = add_member("mia", make.make_edition(2022), "editor")
    mia.user_permissions.set(Permission.objects.filter(codename__in=["change_paper", "view_session"]))
    client.force_login(mia)
    paper, session = make.make_paper(edition), make.make_session(edition)
    make.make_presentation(None, paper, kind="poster")
    page = post_action(client, action, [paper], session=session.pk, label="", **fields)

    assert reason in page
    assert (Material.objects.count(), Presentation.objects.count(), session.presentations.count()) == (
        0,
        1,
        0,
    )


def test_presentations_move_to_a_session_and_revert_restores_their_order(
    admin_client: Client, edition: Edition
) -> None:
    old, new = make.make_session(edition), make.make_session(edition)
    talks = [make.make_presentation(old, title=name) for name in ("One", "Two", "Three")]
    make.make_presentation(new, title="Four")
    page = run_action(admin_client, "set_session", [talks[0], talks[2]], session=new.pk, follow="on")

    def order() -> list[list[tuple[int, str]]]:
        rows = Presentation.objects.order_by("position")
        return [list(rows.filter(session=session).values_list("position", "title")) for session in (old, new)]

    assert order() == [[(1, "Two")], [(1, "Four"), (2, "One"), (3, "Three")]]
    revert(admin_client, page)
    assert order() == [[(1, "One"), (2, "Two"), (3, "Three")], [(1, "Four")]]


def test_presentations_lose_their_own_times_only_if_chosen(admin_client: Client, edition: Edition) -> None:
    old, new = make.make_session(edition), make.make_session(edition)
    talk = make.make_presentation(old, start=old.start, end=old.end)
    page = post_action(admin_client, "set_session", [talk], session=new.pk, follow="on")
    run_action(admin_client, "set_session", [talk], session=new.pk)
    talk.refresh_from_db()

    assert f"{old} → {new}, without times of its own" in page
    assert (talk.session, talk.start) == (new, old.start)


def test_topic_choices_are_of_the_edition_of_the_chosen_papers(
    admin_client: Client, edition: Edition
) -> None:
    make.make_topic(edition, "Mine")
    make.make_topic(make.make_edition(2020), "Elsewhere")
    page = post_action(admin_client, "set_topic", [make.make_paper(edition)])
    options = re.findall(r"<option[^>]*>([^<]+)</option>", page)

    assert options == ["No topic", "Mine"]


def test_track_and_decision_are_set(admin_client: Client, edition: Edition) -> None:
    papers = [make.make_paper(edition), make.make_paper(edition, track="Systems")]
    page = run_action(admin_client, "set_track", papers, track="Systems")
    run_action(admin_client, "set_decision", papers, decision="Accept (oral)")

    assert "Track set for 1 paper. 1 has it already." in page
    assert list(Paper.objects.values_list("track", "decision")) == [("Systems", "Accept (oral)")] * 2
