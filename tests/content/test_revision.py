"""Every committed change of content advances the revision of its edition, and of no other."""

from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta

import pytest
from django.db import transaction
from django.utils import timezone

from conference.models import Edition
from content import invalidation, revision
from content.invalidation import ROWS_PREFIX, Invalidation, changed_between, prune, tags_between
from papers.models import AwardGrant, Paper
from people.models import Person
from tests import factories

pytestmark = pytest.mark.django_db


def edition_revisions(*editions: Edition) -> list[int]:
    return [revision.current(edition.pk).edition for edition in editions]


def tags(edition: Edition) -> str:
    """Return the tags that the last change of an edition invalidated, separated by spaces."""
    last = Invalidation.objects.filter(edition_key=edition.pk).order_by("-revision")[0].revision
    rows = Invalidation.objects.filter(edition_key=edition.pk, revision=last).order_by("tag")
    return " ".join(rows.exclude(tag__startswith=ROWS_PREFIX).values_list("tag", flat=True))


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
    edition, other = factories.make_edition(2026), factories.make_edition(2021)
    paper = factories.make_paper(edition)
    before = edition_revisions(edition, other)
    change(paper)
    after = edition_revisions(edition, other)
    assert after == [before[0] + 1, before[1]]


def test_update_without_matching_rows_advances_nothing() -> None:
    edition = factories.make_edition()
    before = edition_revisions(edition)
    Paper.objects.filter(title="No such paper").update(track="Demo")
    assert edition_revisions(edition) == before


def test_change_of_a_person_advances_the_site_revision() -> None:
    edition = factories.make_edition()
    person = factories.make_person("Zed")
    before = revision.current(edition.pk)
    person.save()
    after = revision.current(edition.pk)
    assert (after.edition, after.site) == (before.edition, before.site + 1)
    assert after.etag != before.etag


def test_saving_a_stale_edition_does_not_reset_its_revision() -> None:
    edition = factories.make_edition()
    factories.make_paper(edition)
    before = revision.current(edition.pk)

    edition.city = "Austin"
    edition.save()

    after = revision.current(edition.pk)
    assert (after.edition, after.site) == (before.edition, before.site + 1)
    assert Edition.objects.get().city == "Austin"


def test_award_for_an_older_paper_connects_two_editions() -> None:
    newer, old, other = (factories.make_edition(year) for year in (2026, 2021, 2020))
    paper = factories.make_paper(old)
    award = factories.make_award(newer, [paper])
    before = edition_revisions(newer, old, other)
    paper.save()
    after_paper = edition_revisions(newer, old, other)
    award.save()
    assert [after_paper, edition_revisions(newer, old, other)] == [
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
        lambda grant, spare: change_paper_of_grant(grant, spare),
    ],
    ids=["grant", "paper", "award", "grants", "update", "save"],
)
def test_change_that_ends_a_grant_advances_both_editions(
    change: Callable[[AwardGrant, Paper], object],
) -> None:
    newer, old, other = (factories.make_edition(year) for year in (2026, 2021, 2020))
    award, other_paper = factories.make_award(newer, [factories.make_paper(old)]), factories.make_paper(newer)
    before = edition_revisions(newer, old, other)
    change(award.grants.get(), other_paper)
    after = edition_revisions(newer, old, other)
    assert [new > earlier for new, earlier in zip(after, before, strict=True)] == [True, True, False]


def change_paper_of_grant(grant: AwardGrant, paper: Paper) -> None:
    grant.paper = paper
    grant.save()


def test_deleting_an_edition_advances_the_editions_of_awarded_papers() -> None:
    newer, old = factories.make_edition(2026), factories.make_edition(2021)
    factories.make_award(newer, [factories.make_paper(old)])
    before = edition_revisions(old)
    newer.delete()
    assert edition_revisions(old) > before


def test_moving_a_grant_advances_all_four_editions() -> None:
    editions = [factories.make_edition(year) for year in (2026, 2025, 2021, 2020)]
    awards = [factories.make_award(edition) for edition in editions[:2]]
    papers = [factories.make_paper(edition) for edition in editions[2:]]
    grant = AwardGrant.objects.create(award=awards[0], paper=papers[0])
    before = edition_revisions(*editions)
    grant.award, grant.paper = awards[1], papers[1]
    grant.save()
    assert [new > old for new, old in zip(edition_revisions(*editions), before, strict=True)] == [True] * 4


def test_changes_inside_lock_advance_the_revision_once() -> None:
    edition = factories.make_edition()
    before = edition_revisions(edition)
    with revision.lock():
        factories.make_paper(edition)
        factories.make_paper(edition)
    assert edition_revisions(edition) == [before[0] + 1]


def test_rolled_back_change_advances_nothing() -> None:
    edition = factories.make_edition()
    before = edition_revisions(edition)
    with suppress(RuntimeError), transaction.atomic():
        factories.make_paper(edition)
        raise RuntimeError
    with suppress(RuntimeError), revision.lock():
        Person.objects.create(name="Zed")
        raise RuntimeError
    assert edition_revisions(edition) == before
    assert not Person.objects.filter(name="Zed").exists()


def test_row_moved_to_another_edition_invalidates_both() -> None:
    edition, other_edition, third_edition = (factories.make_edition(year) for year in (2026, 2021, 2020))
    paper, other_paper = factories.make_paper(edition), factories.make_paper(other_edition)
    material = factories.make_material(paper)
    for row, owner, target in ((material, "paper", other_paper), (paper, "edition", other_edition)):
        before = edition_revisions(edition, other_edition, third_edition)
        setattr(row, owner, target)
        row.save()
        assert edition_revisions(edition, other_edition, third_edition) == [
            before[0] + 1,
            before[1] + 1,
            before[2],
        ]
        assert {tags(edition), tags(other_edition)} == {"edition:2026", "edition:2021"}


def test_page_moved_from_the_site_to_an_edition_advances_both() -> None:
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


def test_new_title_invalidates_the_paper_and_paper_lists(paper: Paper) -> None:
    retitle(paper)
    assert tags(paper.edition) == "paper:17 papers:2021 title:17"


def test_titles_changed_inside_lock_are_one_change(paper: Paper) -> None:
    other = factories.make_paper(paper.edition, uid="18")
    with revision.lock():
        for changed in (paper, other, paper):
            retitle(changed)
    assert tags(paper.edition) == "paper:17 paper:18 papers:2021 title:17 title:18"
    Paper.objects.bulk_update([paper, other], ["abstract"])
    assert tags(paper.edition) == "paper:17 paper:18 papers:2021"


def test_new_abstract_does_not_invalidate_pages_that_show_only_the_title(paper: Paper) -> None:
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


def test_new_title_together_with_another_change_invalidates_the_edition(paper: Paper) -> None:
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


def test_new_title_of_a_paper_awarded_by_another_edition_invalidates_both(paper: Paper) -> None:
    newer = factories.make_edition(2026)
    factories.make_award(newer, [paper])
    retitle(paper)
    assert tags(paper.edition) == "paper:17 papers:2021 title:17"
    assert tags(newer) == "paper:17 papers:2026 title:17"


def test_change_of_the_site_invalidates_the_site(paper: Paper) -> None:
    before = Invalidation.objects.filter(edition_key=paper.edition_id).count()
    factories.make_person("Zed")
    last = Invalidation.objects.exclude(tag__startswith=ROWS_PREFIX).order_by("-pk")[0]
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
    expected = {"paper:17", "title:17", "papers:2021", "edition:2021"}
    assert tags_between(old.pk, old.revision, new.revision, old.changed_at) == expected
    assert tags_between(old.pk, new.revision - 1, new.revision, None) == {"edition:2021"}
    assert tags_between(old.pk, old.revision, new.revision, old.changed_at - timedelta(seconds=1)) is None
    Invalidation.objects.filter(edition_key=old.pk, revision=new.revision - 1).delete()
    assert tags_between(old.pk, old.revision, new.revision, old.changed_at) is None


def test_changed_tables_and_columns_are_read_between_two_revisions(paper: Paper) -> None:
    old = Edition.objects.get(pk=paper.edition_id)
    retitle(paper)
    retitled = Edition.objects.get(pk=paper.edition_id)
    after_title = changed_between(old.pk, old.revision, retitled.revision, old.changed_at)
    room = factories.make_room(paper.edition)
    type(room).objects.filter(pk=room.pk).update(capacity=20)
    author = factories.add_author(paper, factories.make_person("Zed"))
    author.institutions.add(factories.make_institution("ETH"))
    new = Edition.objects.get(pk=paper.edition_id)
    titles = "papers_paper sort_title title title_html"
    links = "papers_authorship_institutions"
    between = changed_between(old.pk, old.revision, new.revision, old.changed_at)

    # People and institutions are of the whole site.
    of_site = {"people_person", "people_institution"}
    assert after_title == {titles}
    assert between == {
        titles,
        "schedule_room",
        "schedule_room capacity",
        "papers_authorship",
        links,
        *of_site,
    }


def test_changes_that_name_no_rows_are_unknown(paper: Paper) -> None:
    old = Edition.objects.get(pk=paper.edition_id)
    retitle(paper)
    revision.advance([paper.edition_id])
    new = Edition.objects.get(pk=paper.edition_id)
    assert changed_between(old.pk, old.revision, new.revision, old.changed_at) is None


def test_long_lists_of_columns_are_stored_in_several_rows(paper: Paper) -> None:
    columns = " ".join(f"column_{number}" for number in range(40))
    now = timezone.now()
    invalidation.record(paper.edition_id, 998, now, ["site"], ["papers_paper"])
    invalidation.record(paper.edition_id, 999, now, ["site"], [f"papers_paper {columns}"])
    stored = changed_between(paper.edition_id, 998, 999, now)
    assert stored is not None
    assert len(stored) > 1
    assert {line.split()[0] for line in stored} == {"papers_paper"}
    assert {column for line in stored for column in line.split()[1:]} == {*columns.split()}


def test_tags_are_pruned_after_a_day(paper: Paper) -> None:
    now = timezone.now()
    Invalidation.objects.update(at=now - timedelta(hours=23))
    retitle(paper)
    prune(now + timedelta(hours=2))
    rows = Invalidation.objects.exclude(tag__startswith=ROWS_PREFIX)
    assert {*rows.values_list("tag", flat=True)} == {"paper:17", "title:17", "papers:2021"}


def test_every_hundredth_change_prunes(paper: Paper) -> None:
    Invalidation.objects.update(at=timezone.now() - timedelta(days=2))
    before = Edition.objects.get(pk=paper.edition_id).revision
    for _ in range(100 - before % 100):
        revision.advance([paper.edition_id])
    assert not Invalidation.objects.filter(at__lt=timezone.now() - timedelta(days=1)).exists()
