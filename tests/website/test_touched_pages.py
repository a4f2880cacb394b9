"""What is said of small changes is so: an edit of words changes no page but those that name the paper."""

from collections.abc import Callable, Iterator

import pytest
from django.core.management import call_command
from django.test import Client

from conference.models import Edition
from content import touches
from papers.models import Paper
from people.models import Person

pytestmark = pytest.mark.django_db

EDITED = ["Aardvarks first of all", "Zzz last of all", r"Sparse $\alpha$ again"]


@pytest.fixture
def edition() -> Edition:
    """A program with halls of posters, talks, awards and speakers."""
    call_command("generate_program", papers=90, editions=1, seed=3, verbosity=0)
    return Edition.objects.get()


def addresses(edition: Edition) -> Iterator[str]:
    root = edition.get_absolute_url()
    yield root
    for day in sorted(edition.sessions.published().program_days(edition.day_of)):
        yield f"{root}schedule/{day}/"
    for row in (*edition.papers.published(), *edition.sessions.published()):
        yield row.get_absolute_url()
    for talk in edition.presentations.published()[:20]:
        yield f"{root}presentations/{talk.uid}.ics"
    for person in Person.objects.published()[:40]:
        yield person.get_absolute_url()


def titles(papers: list[Paper]) -> None:
    for paper, title in zip(papers, EDITED, strict=True):
        paper.title, paper.abstract, paper.doi = title, f"{title}.", f"10.1000/{paper.pk}"
        paper.save()


def what_stands_under_them(papers: list[Paper]) -> None:
    for paper in papers:
        paper.abstract, paper.lay_summary = "In short.", "In plain words."
        paper.doi, paper.pages = f"10.1000/{paper.pk}", "1--9"
    Paper.objects.bulk_update(papers, ["abstract", "lay_summary", "doi", "pages"])


@pytest.mark.parametrize("light", [100, 5], ids=["with abstracts", "large sessions without"])
@pytest.mark.parametrize(
    ("edited", "named"), [(titles, "papers/{}"), (what_stands_under_them, "in:papers/{}")]
)
def test_edit_of_words_changes_only_pages_that_show_them(
    edition: Edition,
    client: Client,
    monkeypatch: pytest.MonkeyPatch,
    edited: Callable[[list[Paper]], None],
    named: str,
    light: int,
) -> None:
    monkeypatch.setattr("schedule.views.LIGHT", light)
    papers = [*edition.papers.published()[2::30]]
    before = {path: client.get(path).getvalue() for path in addresses(edition)}
    assert all(touches.holds(path, {edition.slug}) for path in before)

    old = Edition.objects.get().revision
    edited(papers)
    names, now = {named.format(paper.uid) for paper in papers}, Edition.objects.get()
    assert touches.since(touches.read(now.touched), old, now.revision) == names

    stand = [path for path in before if not touches.touches(before[path], path, names)]
    assert len(before) > len(stand) > len(before) / 2
    assert [path for path in stand if client.get(path).getvalue() != before[path]] == []


def test_first_abstract_is_seen_where_there_was_none(edition: Edition, client: Client) -> None:
    Paper.objects.update(abstract="", abstract_html="")
    session = edition.sessions.published().filter(presentations__paper__isnull=False)[0]
    path, paper = session.get_absolute_url(), session.presentations.exclude(paper=None)[0].paper
    page = client.get(path).getvalue()
    paper.abstract = "In short."
    paper.save()

    assert b"In short." in client.get(path).getvalue()
    assert touches.touches(page, path, {f"in:papers/{paper.uid}"})


@pytest.mark.parametrize(
    ("path", "mark", "is_touched"),
    [
        ("/2021/papers/17/title/", "", True),
        ("/2021/papers/18/title/", "", False),
        ("/2021/sessions/s1/hall/", "", False),
        ("/2021/sessions/s1/talks/", "<li data-abstract>", True),
        ("/2021/presentations/5.ics", "", True),
    ],
)
def test_page_that_shows_titles_alone_stands(path: str, mark: str, is_touched: bool) -> None:
    page = f'<a href="/2021/papers/17/title/">{mark}'.encode()
    assert touches.touches(page, path, {"in:papers/17"}) == is_touched
    assert touches.touches(page, path, {"papers/17"})
