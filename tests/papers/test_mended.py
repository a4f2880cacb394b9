"""Catalogues are mended where a few papers changed, and say what they would say made anew."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from conference.models import Edition
from pagecache import per_revision
from papers import facetchoices, facetrows
from papers.catalogue import catalogue
from papers.facetrows import MENDED
from papers.models import Paper
from people.models import Institution
from tests import factories as make
from tests.papers.catalogues import made_anew, now, said

pytestmark = pytest.mark.django_db


@pytest.fixture
def edition() -> Edition:
    return make.make_edition()


def swap_titles(edition: Edition) -> None:
    first, *_, last = papers = [*edition.papers.published()]
    first.title, last.title = last.title, first.title
    Paper.objects.bulk_update(papers, ["title"])


def rename_topic(edition: Edition) -> None:
    topic = edition.topics.get()
    topic.slug = "other"
    topic.save()


def alter(**values: Any) -> Callable[[Edition], None]:
    """Return what changes the middle one of three papers."""

    def change(edition: Edition) -> None:
        paper = edition.papers.get(title__startswith="M")
        for name, value in values.items():
            setattr(paper, name, value)
        paper.save()

    return change


# Of each whether papers are numbered anew.
CHANGES: dict[str, tuple[Callable[[Edition], object], bool]] = {
    "to the front": (alter(title="Aa"), False),
    "to the end": (alter(title="Zz"), False),
    "in its place": (alter(title="Ma"), False),
    "beside its equal": (alter(title="Apple"), False),
    "before its equal": (alter(title="Apple", uid="0"), False),
    "address": (alter(uid="0"), False),
    "abstract": (alter(abstract="New."), False),
    "withdrawal": (alter(status="withdrawn"), False),
    "track": (alter(track="Demos"), True),
    "topic": (alter(topic=None), True),
    "swap": (swap_titles, False),
    "other topic": (rename_topic, True),
    "draft goes": (lambda edition: edition.papers.get(status="draft").delete(), False),
    "paper goes": (lambda edition: edition.papers.get(title="Apple").delete(), False),
    "all go": (lambda edition: edition.papers.all().delete(), False),
    "published": (lambda edition: edition.papers.filter(status="draft").update(status="published"), True),
    "new": (lambda edition: make.make_paper(edition, title="Nu"), True),
    "many": (lambda edition: [make.make_paper(edition, title=f"Nu {n}") for n in range(MENDED + 1)], True),
}


@pytest.mark.parametrize(("change", "is_numbered_anew"), CHANGES.values(), ids=CHANGES)
def test_mended_catalogue_says_what_one_says_that_is_made_anew(
    edition: Edition, change: Callable[[Edition], object], is_numbered_anew: bool
) -> None:
    topic = make.make_topic(edition, slug="vision")
    for title in ("Apple", "Middle", "Zebra"):
        shown = make.make_paper(edition, ["Ada"], title=title, topic=topic)
        make.make_presentation(make.make_session(edition), shown, board=f"B{shown.pk}")
    make.make_paper(edition, title="Hidden", status="draft")
    at = timezone.now()
    before = catalogue(now(edition), at)
    change(edition)
    found = catalogue(now(edition), at)
    assert (found.order.numbers is not before.order.numbers) == is_numbered_anew
    assert said(found) == said(made_anew(now(edition), at))


def test_withdrawn_paper_that_comes_back_has_its_number(edition: Edition) -> None:
    apple, middle = (make.make_paper(edition, title=title, track=title) for title in ("Apple", "Middle"))
    at, found = timezone.now(), []
    for status in ("published", "withdrawn", "published"):
        apple.status = status
        apple.save()
        found.append(catalogue(now(edition), at))
    assert [[*one.facets["track"]] for one in found] == [["Apple", "Middle"], ["Middle"], ["Apple", "Middle"]]
    assert [one.order.titles[-1].key for one in found] == 3 * [middle.pk]
    assert {id(one.order.numbers) for one in found} == {id(found[0].order.numbers)}


def test_title_is_put_nowhere_if_another_was_moved_meanwhile(edition: Edition, monkeypatch: Any) -> None:
    papers = {title: make.make_paper(edition, title=title) for title in ("Aa", "Bb", "Cc", "Xx", "Zz")}
    at = timezone.now()
    catalogue(now(edition), at)
    ask = facetrows._before

    def meanwhile(*values: Any) -> Any:
        # Another chair's change, committed between two questions.
        monkeypatch.setattr(facetrows, "_before", ask)
        papers["Bb"].title = "Dc"
        papers["Bb"].save()
        return ask(*values)

    papers["Xx"].title = "Dd"
    papers["Xx"].save()
    monkeypatch.setattr(facetrows, "_before", meanwhile)
    catalogue(now(edition), at)
    assert said(catalogue(now(edition), at)) == said(made_anew(now(edition), at))


def test_bitmaps_of_one_edition_leave_those_of_another(edition: Edition) -> None:
    year, at = make.make_edition(2020), timezone.now()
    make.make_award(year, [make.make_paper(year)])
    other = now(year)
    numbered = facetchoices.numbers(other, at)
    awards = facetchoices.awards(other, at, numbered)
    for title in ("A", "B", "C", "D"):
        make.make_paper(edition, title=title)
        catalogue(now(edition), at)
    assert facetchoices.awards(other, at, numbered) is awards


def author(edition: Edition, title: str = "Apple") -> Any:
    return edition.papers.get(title=title).authorships.get(position=1)


def mark_author(edition: Edition) -> None:
    one = author(edition)
    one.corresponding = True
    one.save()


def add_author(edition: Edition) -> None:
    paper = edition.papers.get(title="Middle")
    added = paper.authorships.create(person=make.make_person("Bo"), name="Bo")
    added.institutions.add(Institution.objects.get(slug="eth"))


def give_away(edition: Edition) -> None:
    one = author(edition)
    one.paper, one.position = edition.papers.get(title="Middle"), 9
    one.save()


# Of each whether what was read still stands.
AUTHORS: dict[str, tuple[Callable[[Edition], object], bool]] = {
    "marked": (mark_author, True),
    "author without place": (
        lambda edition: author(edition).paper.authorships.create(person=make.make_person("Bo"), name="Bo"),
        True,
    ),
    "new with place": (add_author, False),
    "author goes": (lambda edition: author(edition).delete(), False),
    "given away": (give_away, False),
    "other place": (lambda edition: author(edition).institutions.set([make.make_institution("MIT")]), False),
}


@pytest.mark.parametrize(("change", "is_mended"), AUTHORS.values(), ids=AUTHORS)
def test_mended_institutions_have_the_papers_that_those_read_anew_have(
    edition: Edition, change: Callable[[Edition], object], is_mended: bool, monkeypatch: Any
) -> None:
    eth = make.make_institution("ETH", slug="eth")
    for title in ("Apple", "Middle"):
        make.make_paper(edition, ["Ada", "Mia"], title=title)
    for one in (author(edition), *edition.papers.get(title="Apple").authorships.all()):
        one.institutions.add(eth)
    make.make_room(edition)
    at = timezone.now()
    catalogue(now(edition), at)
    change(edition)
    with CaptureQueriesContext(connection) as queries:
        found = facetrows.institutions(now(edition), at)
    reads_all = any("papers_paper" in query["sql"] for query in queries)
    assert reads_all != is_mended
    per_revision.forget()
    anew = facetrows.institutions(now(edition), at)
    assert {slug: sorted(keys) for slug, keys in found.items()} == {
        slug: sorted(keys) for slug, keys in anew.items()
    }
