"""Small changes: pages that do not name what was touched stand; whatever is not noted touches everything.

What hangs on some kinds of rows outlasts noted changes of others: `test_standing`.
"""

from collections.abc import Callable
from typing import Any

import pytest

from conference.models import Edition
from content import revision, touches
from pagecache import revisions
from pagecache.middleware import PageCache
from papers.models import Paper
from tests import factories
from tests.pagecache.cached_pages import BODY, Site, ask

pytestmark = pytest.mark.django_db

HOME, DAY, LIST = "/2021/", "/2021/schedule/2021-04-05/", "/2021/papers/"


@pytest.fixture
def edition() -> Edition:
    return factories.make_edition()


@pytest.fixture
def paper(edition: Edition) -> Paper:
    return factories.make_paper(edition, uid="17")


@pytest.fixture
def site() -> Site:
    return Site()


@pytest.fixture
def cache(site: Site, paper: Paper, monkeypatch: pytest.MonkeyPatch) -> PageCache:
    """A cache that reads the stamps each time, so that no test has to wait."""
    monkeypatch.setattr(revisions, "READ_EVERY", -1.0)
    return PageCache(site)


def change_words(paper: Paper) -> None:
    paper.title += " again"
    paper.save()


def test_page_that_does_not_name_what_was_touched_stands(cache: PageCache, site: Site, paper: Paper) -> None:
    before = ask(cache)
    change_words(paper)
    assert ask(cache) == before
    assert site.asked == [HOME]


@pytest.mark.parametrize("path", [LIST, "/2021/awards/", "/search/", "/2021/papers/5.bib"])
def test_what_words_put_in_order_or_find_does_not(
    cache: PageCache, site: Site, paper: Paper, path: str
) -> None:
    ask(cache, path)
    change_words(paper)
    ask(cache, path)
    assert site.asked == [path, path]


def test_page_with_parameters_does_not(cache: PageCache, site: Site, paper: Paper) -> None:
    ask(cache, DAY, "view=grid")
    change_words(paper)
    ask(cache, DAY, "view=grid")
    assert len(site.asked) == 2


def test_page_that_names_it_does_not(cache: PageCache, site: Site, paper: Paper) -> None:
    site.body = BODY + b'<a href="/2021/papers/17/title/">'
    ask(cache)
    change_words(paper)
    ask(cache)
    assert len(site.asked) == 2


def test_its_own_page_does_not(cache: PageCache, site: Site, paper: Paper) -> None:
    path = "/2021/papers/17/title/"
    ask(cache, path)
    change_words(paper)
    ask(cache, path)
    assert site.asked == [path, path]


def test_calendar_that_names_it_across_lines_does_not(cache: PageCache, site: Site, paper: Paper) -> None:
    site.body = BODY + b"URL:http://example.org/2021/pap\r\n ers/17/title/"
    ask(cache, "/2021/presentations/5.ics")
    change_words(paper)
    ask(cache, "/2021/presentations/5.ics")
    assert len(site.asked) == 2


def test_any_other_change_in_between_touches_everything(cache: PageCache, site: Site, paper: Paper) -> None:
    ask(cache)
    change_words(paper)
    factories.make_room(paper.edition)
    change_words(paper)
    ask(cache)
    assert len(site.asked) == 2


def test_change_that_is_not_of_words_alone_touches_everything(
    cache: PageCache, site: Site, paper: Paper
) -> None:
    ask(cache)
    paper.title, paper.track = "Another", "Another"
    paper.save()
    ask(cache)
    assert len(site.asked) == 2


def notes() -> str:
    """What is noted of the last change."""
    edition = Edition.objects.get()
    return ",".join(sorted(touches.read(edition.touched)[edition.revision]))


def test_held_changes_are_one_note(paper: Paper) -> None:
    other = factories.make_paper(paper.edition, uid="18")
    with revision.hold():
        for changed in (paper, other, paper):
            change_words(changed)
    assert notes() == "papers/17,papers/18"


def test_held_changes_that_are_not_all_of_words_are_noted_as_such(paper: Paper) -> None:
    with revision.hold():
        change_words(paper)
        room = f"*schedule.room/{factories.make_room(paper.edition).pk}"
    assert notes() == f"{room},papers/17"
    assert touches.together([{room, "papers/17"}]) is None


def test_what_is_held_with_an_unknown_change_is_everything(paper: Paper) -> None:
    with revision.hold():
        change_words(paper)
        revision.advance([paper.edition_id])
    assert notes() == "*"


@pytest.mark.parametrize("change", ["save", "bulk_update", "update"])
def test_other_fields_of_rows_are_noted_as_these_or_their_kind(paper: Paper, change: str) -> None:
    paper.track = "Another"
    if change == "save":
        paper.save()
    elif change == "update":
        Paper.objects.update(track="Another")
    else:
        Paper.objects.bulk_update([paper], ["track"])
    assert notes() == ("*papers.paper" if change == "update" else f"*papers.paper/{paper.pk}")


@pytest.mark.parametrize("change", [Paper.delete, lambda _: Paper.objects.all().delete()])
def test_deletion_is_noted_as_all_rows_that_go(paper: Paper, change: Callable[[Paper], object]) -> None:
    talk = factories.make_presentation(factories.make_session(paper.edition), paper)
    material, key = factories.make_material(paper), paper.pk
    going = f"*papers.material/{material.pk},*papers.paper/{key},*schedule.presentation/{talk.pk}"
    change(paper)
    assert notes() == going


def test_deletion_is_noted_as_the_kind_of_what_loses_a_relation(paper: Paper) -> None:
    topic = factories.make_topic(paper.edition)
    Paper.objects.update(topic=topic)
    key = topic.pk
    topic.delete()
    assert notes() == f"*papers.paper,*papers.topic/{key}"


def test_change_that_is_not_noted_ends_the_notes(paper: Paper) -> None:
    change_words(paper)
    revision.advance([paper.edition_id])
    edition = Edition.objects.get()
    assert [*touches.read(edition.touched)] == [edition.revision]
    assert notes() == "*"


def test_of_many_notes_of_rows_the_last_are_kept(paper: Paper) -> None:
    name, before, edition = "*papers.paper/1234567", "", paper.edition
    for _ in range(100):
        revision.advance([paper.edition_id], [name])
        edition = Edition.objects.get()
        assert touches.go_on(edition.touched, touches.mark(before)) or not before
        before = edition.touched
    assert touches.SHORT < len(before) < touches.SHORT + 50
    cut, *numbers = found = touches.read(before)
    assert (cut, numbers) == (0, [*range(edition.revision - len(numbers) + 1, edition.revision + 1)])
    assert {found[number] for number in numbers} == {frozenset([name])}
    assert touches.changed(found, 0, edition.revision, {"*papers.paper"}) is None


def test_notes_go_on_from_those_before_and_from_no_others(paper: Paper) -> None:
    edition = Edition.objects.get()
    change_words(paper)
    later, other = Edition.objects.get(), edition.touched.replace(touches.AT, "@another")
    assert touches.go_on(later.touched, touches.mark(edition.touched))
    assert touches.go_on(later.touched, touches.mark(later.touched))
    assert not touches.go_on(edition.touched, touches.mark(later.touched))
    assert not touches.go_on(later.touched, touches.mark(other))
    assert not touches.go_on(later.touched, touches.mark(""))


def test_version_that_knows_of_words_alone_finds_no_other_note(paper: Paper) -> None:
    change_words(paper)
    factories.make_room(paper.edition)
    change_words(paper)
    edition = Edition.objects.get()
    # As it was read before kinds of rows were noted.
    found = {
        int(number): {*names.split(",")}
        for number, _, names in (note.partition(":") for note in edition.touched.split())
    }
    last = edition.revision
    assert found.get(last - 1) is None
    assert [found[number] >= {"papers/17"} for number in (last - 2, last)] == [True, True]


def test_last_change_of_a_kind_is_found_or_taken_for_the_last_of_all(paper: Paper) -> None:
    edition, rows, words = Edition.objects.get(), {"*papers.paper"}, {"papers"}
    change_words(paper)
    factories.make_room(edition)
    now = Edition.objects.get()
    notes, new = touches.read(now.touched), now.revision
    assert [touches.last(notes, new - 2, new, kinds) for kinds in (words, rows)] == [new - 1, new - 2]
    assert touches.last({new: frozenset(["papers/1"])}, new - 2, new, rows) == new
    assert touches.last({new: frozenset(["*"]), **dict.fromkeys(range(9), rows)}, new - 1, new, rows) == new


def test_words_of_many_are_one_note(paper: Paper) -> None:
    papers = [paper, factories.make_paper(paper.edition, uid="18")]
    for one in papers:
        one.abstract = "Another."
    Paper.objects.bulk_update(papers, ["abstract"])
    assert notes() == "in:papers/17,in:papers/18"


@pytest.mark.parametrize("fields", [["track"], ["abstract", "track"]])
def test_other_fields_of_many_are_noted_as_these_rows(paper: Paper, fields: list[str]) -> None:
    paper.abstract = paper.track = "Another"
    Paper.objects.bulk_update([paper], fields)
    assert notes() == f"*papers.paper/{paper.pk}"


@pytest.mark.parametrize("few", [1, 2])
def test_words_of_too_many_are_noted_as_rows_and_of_more_as_their_kind(
    paper: Paper, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(touches, "MOST", 2)
    monkeypatch.setattr(touches, "FEW", few)
    papers = [paper, *(factories.make_paper(paper.edition, uid=uid) for uid in ("18", "19"))]
    Paper.objects.bulk_update(papers[:2], ["title"])
    assert notes() == "papers/17,papers/18"
    Paper.objects.bulk_update(papers, ["title"])
    assert notes() == "*papers.paper"


def test_rows_of_a_kind_that_is_named_itself_are_not(paper: Paper) -> None:
    with revision.hold():
        Paper.objects.filter(pk=paper.pk).update(track="Another")
        paper.track = "Other"
        paper.save()
        room = factories.make_room(paper.edition)
    assert notes() == f"*papers.paper,*schedule.room/{room.pk}"


def test_what_changed_of_some_kinds_is_known_by_name_or_not_at_all(paper: Paper) -> None:
    def found(since: int) -> Any:
        now = Edition.objects.get()
        return touches.changed(touches.read(now.touched), since, now.revision, {"*papers.paper", "papers"})

    begun = Edition.objects.get().revision
    change_words(paper)
    factories.make_room(paper.edition)
    paper.track = "Other"
    paper.save()
    assert found(begun) == {"papers/17", f"*papers.paper/{paper.pk}"}
    assert touches.keys(found(begun), "*papers.paper") == {str(paper.pk)}
    assert found(-1) is None
    Paper.objects.filter(pk=paper.pk).update(track="Another")
    assert found(begun) is None
    revision.advance([paper.edition_id])
    assert [found(begun + since) for since in (3, 4, 5)] == [None, None, set()]


def test_more_than_can_be_noted_is_everything(paper: Paper) -> None:
    names = [f"papers/{number}" for number in range(touches.MOST + 1)]
    revision.advance([paper.edition_id], names[1:])
    assert notes().count(",") == touches.MOST - 1
    revision.advance([paper.edition_id], names)
    assert notes() == "*"


def test_pages_that_name_none_of_many_stand(cache: PageCache, site: Site, paper: Paper) -> None:
    papers = [paper, *(factories.make_paper(paper.edition, uid=f"2{number}") for number in range(20))]
    for path in (HOME, DAY, "/2021/papers/219/title/"):
        site.body = BODY + b'<a href="/2021/papers/21/title/">' if path == DAY else BODY
        ask(cache, path)
    Paper.objects.bulk_update(papers, ["title"])
    for path in (HOME, DAY, "/2021/papers/219/title/"):
        ask(cache, path)
    assert site.asked[3:] == [DAY, "/2021/papers/219/title/"]


def test_note_is_whole_however_long_it_is(paper: Paper) -> None:
    names = {f"papers/{number}" for number in range(1, touches.MOST)} | {"*schedule.room/1"}
    marks, edition = set(), paper.edition
    for _ in range(3):
        revision.advance([paper.edition_id], names)
        edition = Edition.objects.get()
        assert touches.read(edition.touched)[edition.revision] == names
        marks.add(touches.mark(edition.touched))
    assert len(marks - {""}) == 3
    assert touches.mark(f"{touches.CUT}papers/5,papers/6") == ""


def test_oldest_notes_are_forgotten_and_none_is_read_in_part(paper: Paper) -> None:
    names = frozenset(f"papers/{number}" for number in range(touches.MOST))
    for _ in range(5):
        revision.advance([paper.edition_id], names)
    edition = Edition.objects.get()
    assert len(edition.touched) == touches.LONGEST
    found = touches.read(edition.touched)
    assert [*found] == [edition.revision - 1, edition.revision]
    assert {*found.values()} == {names}
