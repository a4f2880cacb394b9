"""Tests of catalogs: the parts of a program, indexed by the values of filters."""

from datetime import timedelta

import pytest
from django.utils import timezone

from conference.models import Edition
from papers.catalog import (
    catalog,
    paper_talks,
    papers_by_institution,
    papers_by_material,
)
from papers.models import Paper
from papers.rows import UNSCHEDULED, natural_sort_key
from tests import factories as make

pytestmark = pytest.mark.django_db

HOUR = timedelta(hours=1)


@pytest.fixture
def paper(edition: Edition) -> Paper:
    return make.make_paper(edition, ["Ada"], uid="a")


def reload(edition: Edition) -> Edition:
    """Return the edition loaded again, as in the next request."""
    return Edition.objects.get(pk=edition.pk)


def test_papers_are_public_and_sorted_by_title(edition: Edition) -> None:
    topic = make.make_topic(edition, "Vision", slug="vision")
    beta = make.make_paper(edition, title="Beta", uid="b", topic=topic)
    alpha = make.make_paper(edition, title="alpha", uid="a", track="Main")
    make.make_paper(edition, title="Aardvark", status="draft")
    make.make_paper(make.make_edition(2022), title="Other")

    assert catalog(reload(edition), timezone.now()).papers == [
        (alpha.pk, "a", "", "Main"),
        (beta.pk, "b", "vision", ""),
    ]


def test_papers_by_institution_are_sorted_by_name(edition: Edition, paper: Paper) -> None:
    make.make_institution("Nobody's", slug="n")
    other = make.make_paper(make.make_edition(2022), ["Mia"])
    for name, slug, paper_of_institution in (
        ("Zürich", "z", paper),
        ("Århus", "a", paper),
        ("B", "b", other),
    ):
        paper_of_institution.authorships.get().institutions.add(make.make_institution(name, slug=slug))
    make.make_room(edition)
    edition.save()

    papers_by_slug = papers_by_institution(edition)
    assert [(slug, [*keys]) for slug, keys in papers_by_slug.items()] == [
        ("a", [paper.pk]),
        ("z", [paper.pk]),
    ]


def test_papers_by_material_count_only_visible_materials(edition: Edition, paper: Paper) -> None:
    other = make.make_paper(make.make_edition(2022))
    for owner, kind, visible in ((paper, "pdf", True), (paper, "code", False), (other, "data", True)):
        make.make_material(owner, kind, visible=visible)

    assert {kind: [*keys] for kind, keys in papers_by_material(edition).items()} == {"pdf": [paper.pk]}


def test_cancelled_talks_are_omitted_and_sessions_sorted_by_start(edition: Edition, paper: Paper) -> None:
    late = make.make_session(edition, uid="late", title="Late", start=make.MORNING + HOUR)
    early = make.make_session(edition, uid="early", title="Early")
    url = "https://a.example/"
    make.make_presentation(None, paper, kind="poster", board="9", edition=edition)
    make.make_presentation(early, paper, kind="oral", board="10", recording_url=url)
    make.make_presentation(late, paper, kind="oral", start=make.MORNING - HOUR)
    make.make_presentation(early, paper, kind="spotlight", status="cancelled")
    make.make_presentation(make.make_session(edition, status="cancelled"), paper, kind="spotlight")
    make.make_presentation(make.make_session(edition, status="draft"), paper, kind="spotlight")
    make.make_presentation(early, title="Of no paper")

    talks = paper_talks(edition, timezone.now())
    assert [(talk.kind, talk.start, talk.session, talk.is_recorded) for talk in talks] == [
        ("oral", make.MORNING - HOUR, ("late", "Late"), False),
        ("oral", make.MORNING, ("early", "Early"), True),
        ("poster", UNSCHEDULED, ("", ""), False),
    ]
    loaded = catalog(reload(edition), timezone.now())
    assert {name: [*loaded.facets[name]] for name in ("kind", "session", "day", "has")} == {
        "kind": ["oral", "poster"],
        "session": ["late", "early"],
        "day": ["2021-04-06"],
        "has": ["video"],
    }
    assert (loaded.starts, loaded.boards) == (
        {paper.pk: make.MORNING - HOUR},
        {paper.pk: natural_sort_key("9")},
    )


def test_drafts_are_in_no_facet(edition: Edition, paper: Paper) -> None:
    session = make.make_session(edition)
    draft = make.make_paper(edition, ["Mia"], status="draft", track="Hidden")
    make.make_presentation(session, draft, kind="poster", recording_url="https://a.example/")
    make.make_material(draft, "code")
    make.make_award(edition, [draft])
    draft.authorships.get().institutions.add(make.make_institution())
    edition.save()

    loaded = catalog(reload(edition), timezone.now())
    assert [title.key for title in loaded.papers] == [paper.pk]
    assert {name: choices for name, choices in loaded.facets.items() if choices} == {}
