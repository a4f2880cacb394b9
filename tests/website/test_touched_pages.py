"""What is said of small changes is so: an edit of words changes no page but those that name the paper."""

from collections.abc import Iterator

import pytest
from django.core.management import call_command
from django.test import Client

from conference import touches
from conference.models import Edition
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


def test_edit_of_words_changes_only_pages_that_name_the_paper(edition: Edition, client: Client) -> None:
    papers = [*edition.papers.published()[2::30]]
    before = {path: client.get(path).getvalue() for path in addresses(edition)}
    assert all(touches.holds(path, {edition.slug}) for path in before)

    for paper, title in zip(papers, EDITED, strict=True):
        paper.title, paper.abstract, paper.doi = title, f"{title}.", f"10.1000/{paper.pk}"
        paper.save()

    names = [f"papers/{paper.uid}" for paper in papers]
    stand = [path for path in before if not any(touches.touches(before[path], path, name) for name in names)]
    assert len(before) > len(stand) > len(before) / 2
    assert [path for path in stand if client.get(path).getvalue() != before[path]] == []
    assert Paper.objects.get(pk=papers[0].pk).title == EDITED[0]
