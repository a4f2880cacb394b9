"""Every committed change of content advances the revision of its edition, and of no other."""

from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta

import pytest
from django.db import transaction
from django.utils import timezone

from conference.models import Edition
from content import invalidation, revision
from content.invalidation import Invalidation, prune, tags_between
from papers.models import AwardGrant, Paper
from people.models import Person
from tests import factories

pytestmark = pytest.mark.django_db


def stamps(*editions: Edition) -> list[int]:
    return [revision.current(edition.pk).edition for edition in editions]


def tags(edition: Edition) -> str:
    """Return the tags that the last change of an edition invalidated, separated by spaces."""
    last = Invalidation.objects.filter(edition_key=edition.pk).order_by("-revision")[0].revision
    rows = Invalidation.objects.filter(edition_key=edition.pk, revision=last).order_by("tag")
    return " ".join(rows.values_list("tag", flat=True))


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
    with revision.lock():
        factories.make_paper(edition)
        factories.make_paper(edition)
    assert stamps(edition) == [before[0] + 1]


def test_rolled_back_change_leaves_the_stamp() -> None:
    edition = factories.make_edition()
    before = stamps(edition)
    with suppress(RuntimeError), transaction.atomic():
        factories.make_paper(edition)
        raise RuntimeError
    with suppress(RuntimeError), revision.lock():
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
        assert {tags(this), tags(other)} == {"edition:2026", "edition:2021"}


def test_page_that_an_edition_takes_from_the_site_changes_both() -> None:
    edition = factories.make_edition()
    page = factories.make_page(None)
    before = revision.current(edition.pk)
    page.edition = edition
    page.save()
    after = revision.current(edition.pk)
    assert (after.edition, after.site) == (before.edition + 1, before.site + 1)


# The tags that a change invalidates


@pytest.fixture
def paper() -> Paper:
    return factories.make_paper(factories.make_edition(2021), uid="17")


def retitle(paper: Paper) -> None:
    paper.title += " again"
    paper.save()


def test_change_of_words_invalidates_the_paper_and_what_lists_papers(paper: Paper) -> None:
    retitle(paper)
    assert tags(paper.edition) == "paper:17 papers:2021 title:17"


def test_words_of_several_papers_are_one_change(paper: Paper) -> None:
    other = factories.make_paper(paper.edition, uid="18")
    with revision.lock():
        for changed in (paper, other, paper):
            retitle(changed)
    assert tags(paper.edition) == "paper:17 paper:18 papers:2021 title:17 title:18"
    Paper.objects.bulk_update([paper, other], ["abstract"])
    assert tags(paper.edition) == "paper:17 paper:18 papers:2021"


def test_change_of_an_abstract_leaves_pages_valid_that_show_the_title_alone(paper: Paper) -> None:
    paper.abstract = "In short."
    paper.save()
    assert tags(paper.edition) == "paper:17 papers:2021"


@pytest.mark.parametrize(
    "change",
    [
        lambda paper: Paper.objects.update(title="Another"),
        lambda paper: Paper.objects.bulk_update([paper], ["abstract", "track"]),
        lambda paper: paper.delete(),
        lambda paper: factories.make_room(paper.edition),
        lambda paper: revision.advance([paper.edition_id]),
    ],
    ids=["update", "other fields", "delete", "other row", "advance"],
)
def test_any_other_change_invalidates_the_edition(paper: Paper, change: Callable[[Paper], object]) -> None:
    change(paper)
    assert tags(paper.edition) == "edition:2021"


def test_words_held_together_with_anything_else_invalidate_the_edition(paper: Paper) -> None:
    with revision.lock():
        retitle(paper)
        factories.make_room(paper.edition)
        retitle(paper)
    assert tags(paper.edition) == "edition:2021"


def test_withdrawal_of_a_paper_invalidates_the_edition(paper: Paper) -> None:
    paper.status = Paper.Status.WITHDRAWN
    paper.title = "Withdrawn"
    paper.save()
    assert tags(paper.edition) == "edition:2021"


def test_change_of_too_many_papers_invalidates_the_edition(
    paper: Paper, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(revision, "MAX_TAGS_PER_CHANGE", 2)
    papers = [paper, factories.make_paper(paper.edition, uid="18")]
    Paper.objects.bulk_update(papers[:1], ["title"])
    assert tags(paper.edition) == "paper:17 papers:2021 title:17"
    Paper.objects.bulk_update(papers, ["title"])
    assert tags(paper.edition) == "edition:2021"


def test_words_of_a_paper_with_an_award_of_another_year_are_told_to_both(paper: Paper) -> None:
    newer = factories.make_edition(2026)
    factories.make_award(newer, [paper])
    retitle(paper)
    assert tags(paper.edition) == "paper:17 papers:2021 title:17"
    assert tags(newer) == "paper:17 papers:2026 title:17"


def test_change_of_the_site_invalidates_the_site(paper: Paper) -> None:
    before = Invalidation.objects.filter(edition_key=paper.edition_id).count()
    factories.make_person("Zed")
    last = Invalidation.objects.order_by("-pk")[0]
    assert (last.edition_key, last.tag) == (invalidation.SITE_KEY, "site")
    assert last.revision == revision.current(None).site
    assert Invalidation.objects.filter(edition_key=paper.edition_id).count() == before


def test_rolled_back_change_records_no_tags(paper: Paper) -> None:
    before = Invalidation.objects.count()
    with suppress(RuntimeError), transaction.atomic():
        retitle(paper)
        raise RuntimeError
    assert Invalidation.objects.count() == before


def test_tags_are_read_between_two_revisions_of_the_same_history(paper: Paper) -> None:
    old = Edition.objects.get(pk=paper.edition_id)
    retitle(paper)
    factories.make_room(paper.edition)
    new = Edition.objects.get(pk=paper.edition_id)
    both = {"paper:17", "title:17", "papers:2021", "edition:2021"}
    assert tags_between(old.pk, old.revision, new.revision, old.changed_at) == both
    assert tags_between(old.pk, new.revision - 1, new.revision, None) == {"edition:2021"}
    assert tags_between(old.pk, old.revision, new.revision, old.changed_at - timedelta(seconds=1)) is None
    Invalidation.objects.filter(edition_key=old.pk, revision=new.revision - 1).delete()
    assert tags_between(old.pk, old.revision, new.revision, old.changed_at) is None


def test_tags_are_pruned_after_a_day(paper: Paper) -> None:
    now = timezone.now()
    Invalidation.objects.update(at=now - timedelta(hours=23))
    retitle(paper)
    prune(now + timedelta(hours=2))
    assert {*Invalidation.objects.values_list("tag", flat=True)} == {"paper:17", "title:17", "papers:2021"}


def test_every_hundredth_change_prunes(paper: Paper) -> None:
    Invalidation.objects.update(at=timezone.now() - timedelta(days=2))
    before = Edition.objects.get(pk=paper.edition_id).revision
    for _ in range(100 - before % 100):
        revision.advance([paper.edition_id])
    assert not Invalidation.objects.filter(at__lt=timezone.now() - timedelta(days=1)).exists()
