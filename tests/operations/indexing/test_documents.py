"""Documents of the search index: which rows of each model can be found, and by which words."""

import pytest

from conference.models import Edition
from operations.indexing.update import refresh
from people.models import PersonName
from search.hits import find_documents
from search.models import Document
from search.query import parse_query
from tests import factories as make

pytestmark = pytest.mark.django_db


def search(text: str) -> list[str]:
    """Update the index; return the results of a search, such as `paper one`."""
    refresh()
    keys = [(hit.kind, hit.object_id) for hit in find_documents(parse_query(text)).page]
    return sorted(str(Document.objects.get(kind=kind, object_id=key)) for kind, key in keys)


def test_paper_is_found_by_every_indexed_field(edition: Edition) -> None:
    vision = make.make_topic(edition, "Computer Vision")
    topic = make.make_topic(edition, "Depth", parent=vision)
    paper = make.make_paper(
        edition,
        ["Eva Šimek"],
        uid="p1",
        title="On *graphs*",
        topic=topic,
        abstract="With $\\alpha$ and **tensors**.",
        keywords=["sparse kernels"],
    )
    make.make_award(edition, [paper], name="Best Paper")

    for text in ("title:graphs", "author:simek", 'topic:"vision depth"', "award:best", "tensors", "kernels"):
        assert "paper p1" in search(text), text


def test_paper_is_found_by_an_award_of_a_later_edition() -> None:
    paper = make.make_paper(make.make_edition(2021), uid="p1")
    make.make_award(make.make_edition(2031), [paper], name="Test of Time")

    assert search("award:time") == ["paper p1"]


def test_person_is_found_by_every_name_that_is_not_hidden() -> None:
    ada = make.make_person("Ada Lovelace", uid="ada", native_name="Айда", affiliation="King's College")
    make.make_paper(make.make_edition(), [ada], uid="p1")
    PersonName.objects.create(person=ada, name="A. A. King")
    PersonName.objects.create(person=ada, name="Ada Byron", hidden=True)

    assert [search(text) for text in ("lovelace", "author:king", "college", "byron")] == [
        ["paper p1", "person ada"],
        ["person ada"],
        ["person ada"],
        [],
    ]


def test_person_is_found_in_the_editions_that_show_them() -> None:
    ada, first, second, third = make.make_person("Ada"), *map(make.make_edition, (2021, 2022, 2023))
    make.make_paper(first, [ada])
    make.add_role(make.make_session(second), ada)
    make.make_paper(third, [ada], status="draft")
    refresh()

    counts = [
        find_documents(parse_query("ada"), edition=edition.pk, kinds=["person"]).count
        for edition in (first, second, third)
    ]
    assert (counts, find_documents(parse_query("ada"), kinds=["person"]).count) == ([1, 1, 0], 1)


def test_paper_is_found_by_the_display_name_instead_of_a_hidden_name() -> None:
    ada = make.make_person("Ada Lovelace", uid="ada")
    paper = make.make_paper(make.make_edition(), uid="p1")
    make.add_author(paper, ada, name="Ada Byron")
    assert search("byron") == ["paper p1"]

    PersonName.objects.create(person=ada, name="Ada Byron", hidden=True)

    assert (search("byron"), search("author:lovelace")) == ([], ["paper p1", "person ada"])


def test_sessions_talks_and_pages_are_found(edition: Edition) -> None:
    session = make.make_session(edition, uid="s1", title="Engines", abstract="About *steam*.")
    make.add_role(session, "Charles Babbage")
    make.make_presentation(session, title="Pistons", speakers=["Grace Hopper"], uid="t1")
    make.make_presentation(session, make.make_paper(edition, uid="p1", title="Valves"), uid="t2")
    make.make_page(edition, slug="visit", title="Visit", body="By tram")
    make.make_page(None, slug="conduct", title="Conduct")

    words = ("engines", "steam", "title:pistons", "valves", "tram", "conduct")
    assert [search(word) for word in words] == [
        ["session s1"],
        ["session s1"],
        ["talk t1"],
        ["paper p1"],
        ["page visit"],
        ["page conduct"],
    ]
    assert search("babbage")[1:] == ["session s1"]
    assert search("author:hopper")[1:] == ["talk t1"]
