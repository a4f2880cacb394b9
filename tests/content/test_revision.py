"""Every committed change of content advances the stamp of its edition, and of no other."""

from collections.abc import Callable
from contextlib import suppress

import pytest
from django.db import transaction

from conference.models import Edition
from content import revision, touches
from papers.models import AwardGrant, Paper
from people.models import Person
from tests import factories

pytestmark = pytest.mark.django_db


def stamps(*editions: Edition) -> list[int]:
    return [revision.current(edition.pk).edition for edition in editions]


CHANGES: dict[str, Callable[[Paper], object]] = {
    "save": lambda paper: paper.save(),
    "update": lambda paper: Paper.objects.filter(pk=paper.pk).update(track="Demo"),
    "bulk_update": lambda paper: Paper.objects.bulk_update([paper], ["track"]),
    "bulk_create": lambda paper: Paper.objects.bulk_create([Paper(edition=paper.edition, title="New")]),
    "delete": lambda paper: paper.delete(),
    "bulk_delete": lambda paper: Paper.objects.filter(pk=paper.pk).delete(),
    "part": lambda paper: factories.add_author(paper, factories.make_person("Zed")),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_change_advances_its_own_edition_only(change: Callable[[Paper], object]) -> None:
    this, other = factories.make_edition(2026), factories.make_edition(2021)
    paper = factories.make_paper(this)
    before = stamps(this, other)
    change(paper)
    after = stamps(this, other)
    assert after == [before[0] + 1, before[1]]


def test_update_of_nothing_advances_nothing() -> None:
    edition = factories.make_edition()
    before = stamps(edition)
    Paper.objects.filter(title="No such paper").update(track="Demo")
    assert stamps(edition) == before


def test_person_belongs_to_the_whole_site() -> None:
    edition = factories.make_edition()
    person = factories.make_person("Zed")
    before = revision.current(edition.pk)
    person.save()
    after = revision.current(edition.pk)
    assert (after.edition, after.site) == (before.edition, before.site + 1)
    assert after.etag != before.etag


def test_edition_read_a_while_ago_does_not_set_its_stamp_back() -> None:
    edition = factories.make_edition()
    factories.make_paper(edition)
    stamp = revision.current(edition.pk)

    edition.city = "Austin"
    edition.save()

    now = revision.current(edition.pk)
    assert (now.edition, now.site) == (stamp.edition, stamp.site + 1)
    assert Edition.objects.get().city == "Austin"


def test_award_for_an_older_paper_ties_two_editions() -> None:
    now, old, other = (factories.make_edition(year) for year in (2026, 2021, 2020))
    paper = factories.make_paper(old)
    award = factories.make_award(now, [paper])
    before = stamps(now, old, other)
    paper.save()
    between = stamps(now, old, other)
    award.save()
    assert [between, stamps(now, old, other)] == [
        [before[0] + 1, before[1] + 1, before[2]],
        [before[0] + 2, before[1] + 2, before[2]],
    ]


@pytest.mark.parametrize(
    "change",
    [
        lambda grant, _: grant.delete(),
        lambda grant, _: grant.paper.delete(),
        lambda grant, _: grant.award.delete(),
        lambda grant, _: AwardGrant.objects.all().delete(),
        lambda _, spare: AwardGrant.objects.update(paper=spare),
        lambda grant, spare: given_to_another(grant, spare),
    ],
    ids=["grant", "paper", "award", "grants", "update", "save"],
)
def test_what_unties_two_editions_changes_both(change: Callable[[AwardGrant, Paper], object]) -> None:
    now, old, other = (factories.make_edition(year) for year in (2026, 2021, 2020))
    award, spare = factories.make_award(now, [factories.make_paper(old)]), factories.make_paper(now)
    before = stamps(now, old, other)
    change(award.grants.get(), spare)
    after = stamps(now, old, other)
    assert [new > earlier for new, earlier in zip(after, before, strict=True)] == [True, True, False]


def given_to_another(grant: AwardGrant, paper: Paper) -> None:
    grant.paper = paper
    grant.save()


def test_edition_that_goes_with_its_awards_changes_that_of_their_papers() -> None:
    now, old = factories.make_edition(2026), factories.make_edition(2021)
    factories.make_award(now, [factories.make_paper(old)])
    before = stamps(old)
    now.delete()
    assert stamps(old) > before


def test_award_for_another_paper_in_another_year_changes_all_four() -> None:
    editions = [factories.make_edition(year) for year in (2026, 2025, 2021, 2020)]
    awards = [factories.make_award(edition) for edition in editions[:2]]
    papers = [factories.make_paper(edition) for edition in editions[2:]]
    grant = AwardGrant.objects.create(award=awards[0], paper=papers[0])
    before = stamps(*editions)
    grant.award, grant.paper = awards[1], papers[1]
    grant.save()
    assert [new > old for new, old in zip(stamps(*editions), before, strict=True)] == [True] * 4


def test_held_changes_count_as_one() -> None:
    edition = factories.make_edition()
    before = stamps(edition)
    with revision.hold():
        factories.make_paper(edition)
        factories.make_paper(edition)
    assert stamps(edition) == [before[0] + 1]


def test_rolled_back_change_leaves_the_stamp() -> None:
    edition = factories.make_edition()
    before = stamps(edition)
    with suppress(RuntimeError), transaction.atomic():
        factories.make_paper(edition)
        raise RuntimeError
    with suppress(RuntimeError), revision.hold():
        Person.objects.create(name="Zed")
        raise RuntimeError
    assert stamps(edition) == before
    assert not Person.objects.filter(name="Zed").exists()


def test_row_that_goes_to_another_edition_changes_all_of_both() -> None:
    this, other, third = (factories.make_edition(year) for year in (2026, 2021, 2020))
    paper, there = factories.make_paper(this), factories.make_paper(other)
    material = factories.make_material(paper)
    for row, owner, target in ((material, "paper", there), (paper, "edition", other)):
        before = stamps(this, other, third)
        setattr(row, owner, target)
        row.save()
        assert stamps(this, other, third) == [before[0] + 1, before[1] + 1, before[2]]
        for edition in Edition.objects.exclude(pk=third.pk):
            assert touches.read(edition.touched) == {edition.revision: {"*"}}


def test_page_that_an_edition_takes_from_the_site_changes_both() -> None:
    edition = factories.make_edition()
    page = factories.make_page(None)
    before = revision.current(edition.pk)
    page.edition = edition
    page.save()
    after = revision.current(edition.pk)
    assert (after.edition, after.site) == (before.edition + 1, before.site + 1)
