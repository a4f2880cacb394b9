"""Write a plan: rows, lists, and the values as last imported. Callers must open a transaction."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import batched
from typing import Any

from django.core.files.base import ContentFile
from django.db.models import F, Manager
from django.utils import timezone

from conference.models import MenuItem
from content import revision
from content.array_lookup import AnyOf
from content.history import recording
from content.history.recording import record_link_changes
from content.models import Content
from content.ordering import lock_owners
from content.row_values import PARKED_FROM
from exchange.imports.compare import ImportPlan, ProgressCallback, RowPlan
from exchange.imports.kinds import (
    AUTHORS,
    EDITION,
    GRANTS,
    KINDS,
    MENU,
    PERSON,
    Kind,
    Listing,
    Values,
)
from exchange.imports.rows import PartRow, field_value, in_batches, media_address
from exchange.models import Conflict, ImportRun, Provenance
from papers.models import Authorship, AwardGrant, Material
from people.duplicates.evidence import KEPT_APART, LikelyDuplicate, Reason
from people.duplicates.storage import store_kept_apart
from people.models import Person, PersonIdentifier, PersonName

BATCH_ROWS = 500
# `bulk_update` repeats all rows for every column: larger batches take more memory and are no faster.
UPDATED_ROWS = 200


def write_rows(plan: ImportPlan, progress: ProgressCallback) -> None:
    """Write all new and changed rows, in an order in which the targets of references are written first."""
    for kind in KINDS.values():
        steps = plan.steps[kind.name]
        total, done = len(steps), 0
        for level in _levels(step for step in steps if step.is_new):
            for batch in batched(level, BATCH_ROWS, strict=False):
                kind.model._default_manager.bulk_create([step.row for step in batch])
                done += len(batch)
                if kind is not EDITION:
                    write_lists(kind, batch)
                _free_derived_fields(batch)
                progress(f"writing {kind.plural or kind.name}", done, total)
        changed_steps = [step for step in steps if step.merge.updates and not step.is_new]
        update_rows(kind, changed_steps)
        if kind is not EDITION:
            write_lists(kind, changed_steps)
        if done < total:
            progress(f"writing {kind.plural or kind.name}", total, total)
    store_kept_apart(_likely_duplicates(plan))
    # The menu refers to pages and the committee to people, so both are written last.
    write_lists(EDITION, plan.steps["edition"])


def _likely_duplicates(plan: ImportPlan) -> Iterator[LikelyDuplicate]:
    """Yield the new people with their possible matches, for the list of likely duplicates."""
    for pair in plan.kept_apart:
        # Co-authors of the file are known by name only.
        reasons: list[Reason] = [(KEPT_APART, {}), ("name_same", {})]
        reasons += [reason for reason in pair.verdict.reasons if reason[0] != "coauthors"]
        if pair.person.pk and pair.other.pk:
            first, second = sorted((pair.person.pk, pair.other.pk))
            yield LikelyDuplicate(first, second, pair.verdict.probability, tuple(reasons))


def _levels(steps: Iterable[RowPlan]) -> Iterator[list[RowPlan]]:
    """Yield the steps of new rows by the number of new rows above theirs, parents first."""
    levels: dict[int, list[RowPlan]] = defaultdict(list)
    for step in steps:
        depth, parent = 0, getattr(step.row, "parent", None)
        while parent is not None and parent.pk is None:
            depth, parent = depth + 1, parent.parent
        levels[depth].append(step)
    yield from (levels[depth] for depth in sorted(levels))


def _free_derived_fields(steps: Iterable[RowPlan]) -> None:
    """Free the memory of rendered texts, which are long. They are reloaded from the database on access."""
    for step in steps:
        for name in step.row.derived_fields:
            step.row.__dict__.pop(name, None)


def update_rows(kind: Kind, steps: list[RowPlan]) -> None:
    names = {
        name
        for step in steps
        for name in step.merge.updates
        if name in (*kind.plain_fields, *kind.references)
    }
    rows = [step.row for step in steps if names & step.merge.updates.keys()]
    if rows:
        kind.model._default_manager.bulk_update(rows, sorted(names), batch_size=UPDATED_ROWS)
        _free_derived_fields(steps)


def write_lists(kind: Kind, steps: Sequence[RowPlan]) -> None:
    if kind is PERSON:
        _write_person_lists(steps)
    for listing in kind.listings:
        new_lists: dict[int, list[PartRow]] = {
            step.row.pk: step.parts.pop(listing.name) for step in steps if listing.name in step.parts
        }
        if new_lists:
            for owners in in_batches(new_lists):
                _write_batch(listing, {owner: new_lists[owner] for owner in owners})
            revision.advance({step.row.get_edition_key() for step in steps})


def _write_person_lists(steps: Sequence[RowPlan]) -> None:
    """Add identifiers, and replace the other names that are not hidden."""
    new_ids, added_names, removed_names = [], [], []
    for step in steps:
        person, old = step.row, step.old
        if not isinstance(person, Person):
            continue
        old_ids = old.get("ids", [])
        new_ids += [
            PersonIdentifier(person=person, scheme=pair[0], value=pair[1])
            for pair in step.merge.updates.get("ids", [])
            if pair not in old_ids
        ]
        if "other_names" in step.merge.updates:
            old_names = old.get("other_names", [])
            new_names = step.merge.updates["other_names"]
            added_names += [
                PersonName(person=person, name=name) for name in new_names if name not in old_names
            ]
            removed_names += [(step.row.pk, name) for name in old_names if name not in new_names]
    PersonIdentifier.objects.bulk_create(new_ids, batch_size=BATCH_ROWS)
    if removed_names:
        rows = PersonName.objects.filter(person__in={owner for owner, _ in removed_names}, hidden=False)
        keys = {(owner, name): key for key, owner, name in rows.values_list("pk", "person_id", "name")}
        PersonName.objects.filter(pk__in=[keys[pair] for pair in removed_names]).delete()
    PersonName.objects.bulk_create(added_names, batch_size=BATCH_ROWS)


# Lists


def _write_batch(listing: Listing, new_lists: dict[int, list[PartRow]]) -> None:
    """Replace the lists of these owners, which are given by primary key."""
    lock_owners(listing.model, new_lists)
    current = _current_rows(listing, new_lists)
    new_parts: list[PartRow] = []
    kept_parts: list[PartRow] = []
    names = {"position"}
    for owner, parts in new_lists.items():
        for part in parts:
            rows = current.get((owner, _identity(listing, part.row)), [])
            if rows:
                names |= _reuse_row(listing, part, rows.pop(0))
                kept_parts.append(part)
            else:
                new_parts.append(part)
    manager: Manager[Any] = listing.model._default_manager
    removed_keys = [row.pk for rows in current.values() for row in rows]
    if removed_keys:
        manager.filter(pk__in=removed_keys).delete()
    if kept_parts:
        manager.filter(pk__in=[part.row.pk for part in kept_parts]).update(
            position=F("position") + PARKED_FROM
        )
        manager.bulk_update([part.row for part in kept_parts], sorted(names), batch_size=UPDATED_ROWS)
    _create_parts(listing, new_parts)
    if listing is AUTHORS:
        _link_institutions([*kept_parts, *new_parts], {part.row.pk for part in kept_parts})


def _current_rows(
    listing: Listing, owners: Iterable[int]
) -> dict[tuple[int, tuple[object, ...]], list[Content]]:
    """Return the rows of these owners by owner and identity. Menus are rebuilt, as their lines have none."""
    rows_by_identity: dict[tuple[int, tuple[object, ...]], list[Content]] = defaultdict(list)
    rows = listing.model._default_manager.filter(**{f"{listing.owner}__in": list(owners)})
    related = ["person"] if "person" in listing.columns else []
    if listing is GRANTS:
        related += ["award", "paper__edition"]
    if related:
        rows = rows.select_related(*related)
    for row in rows.order_by("position", "pk"):
        rows_by_identity[getattr(row, f"{listing.owner}_id"), _identity(listing, row)].append(row)
    return rows_by_identity


def _identity(listing: Listing, row: Content) -> tuple[object, ...]:
    """Return the identity of a part: the values of `listing.identity`. Lines of menus have none."""
    if isinstance(row, MenuItem):
        return (row.pk, "line")
    if isinstance(row, Material):
        return (row.kind, row.url or media_address(row.file.name or ""))
    person = getattr(row, "person", None)
    uid = person.uid if person else ""
    if isinstance(row, AwardGrant):
        paper = row.paper
        if paper is None or paper.edition_id == row.award.edition_id:
            return (paper.uid if paper else "", "", uid)
        return (paper.uid, paper.edition.slug, uid)
    return tuple(uid if name == "person" else getattr(row, name) for name in listing.identity)


def _reuse_row(listing: Listing, part: PartRow, old: Content) -> set[str]:
    """Give the new row the old one's primary key and uploaded file. Return the changed fields."""
    part.row.pk = old.pk
    part.row._state.adding = False
    if isinstance(old, Material) and old.file:
        part.row.file, part.row.url = old.file, old.url
    columns = listing.model._meta.concrete_fields
    return {
        column.name for column in columns if getattr(old, column.attname) != getattr(part.row, column.attname)
    }


def _create_parts(listing: Listing, parts: list[PartRow]) -> None:
    rows = [part.row for part in parts]
    manager = listing.model._default_manager
    if listing is MENU:
        manager.bulk_create([row for row in rows if row.parent is None])
        manager.bulk_create([row for row in rows if row.parent is not None])
    elif rows:
        manager.bulk_create(rows, batch_size=BATCH_ROWS)


def _link_institutions(parts: list[PartRow], reused: set[int]) -> None:
    through = Authorship.institutions.through
    links = [
        through(authorship_id=part.row.pk, institution_id=institution.pk)
        for part in parts
        for institution in part.institutions
    ]
    with record_link_changes(Authorship, "institutions", reused):
        if reused:
            through._default_manager.filter(authorship__in=reused).delete()
        through._default_manager.bulk_create(links, batch_size=BATCH_ROWS)


# Values stored for the next import


def write_last_imports(plan: ImportPlan, run: ImportRun) -> None:
    """Write the last imported values of each row, and the conflicts."""
    steps = [step for kind in KINDS.values() for step in plan.steps[kind.name]]
    keys: dict[tuple[str, int], int] = {}
    for batch in batched(steps, BATCH_ROWS, strict=False):
        keys |= _write_provenance(batch, plan, run)
    _write_conflicts(steps, keys, run)


def write_photos(plan: ImportPlan, photos: Mapping[str, tuple[str, bytes]]) -> bool:
    """Save the fetched photos of people who have none. Return whether there were any."""
    has_written = False
    urls = {person.pk: url for person, url in reversed(plan.photos) if url in photos}
    for batch in in_batches(urls):
        people = [*Person.objects.filter(pk__in=batch, photo="")]
        for person in people:
            ending, content = photos[urls[person.pk]]
            person.photo.save(f"{person.uid}.{ending}", ContentFile(content), save=False)
        Person.objects.bulk_update(people, ["photo"])
        has_written = has_written or bool(people)
    return has_written


def write_emails(plan: ImportPlan) -> None:
    """Save the e-mail addresses of people who still have none."""
    for batch in in_batches(plan.emails):
        people = [*Person.objects.filter(pk__in=batch, email="")]
        for person in people:
            person.email = plan.emails[person.pk]
        Person.objects.bulk_update(people, ["email"])


def _write_provenance(
    steps: Iterable[RowPlan], plan: ImportPlan, run: ImportRun
) -> dict[tuple[str, int], int]:
    """Store the values as imported, and the previously stored ones in the history.

    Return the keys of the stored rows for rows with conflicts, by kind and primary key.
    """
    rows = [
        (
            step,
            Provenance(
                pk=step.last_import.key if step.last_import else None,
                kind=step.kind.name,
                object_id=step.row.pk,
                edition=plan.edition if step.kind.is_in_edition else None,
                values=_values_to_store(step),
                run=run,
            ),
        )
        for step in steps
        if step.changes_last_import
    ]
    Provenance.objects.bulk_create([row for step, row in rows if step.last_import is None])
    Provenance.objects.bulk_update([row for step, row in rows if step.last_import], ["values", "run"])
    with recording.single_change_set() as log:
        for step, row in rows:
            if not step.is_new:
                # Also fields with the same new value here and in the file, whose rows do not change.
                last_values = step.last_import.values if step.last_import else {}
                before = {name: last_values.get(name) for name in row.values}
                log.record_changed(Provenance, row.pk, before, row.values, None)
    return {(step.kind.name, step.row.pk): row.pk for step, row in rows if step.merge.conflicts}


def _values_to_store(step: RowPlan) -> Values:
    """Return the values to store. For a new row, include unstated fields, as they are unedited."""
    kind = step.kind
    if not step.is_new or kind is PERSON:
        return step.merge.last_import
    names = (*kind.plain_fields, *kind.references)
    unstated = {
        name: field_value(step.row, kind, name) for name in names if name not in step.merge.last_import
    }
    lists: Values = {listing.name: [] for listing in kind.listings}
    return {**unstated, **lists, **step.merge.last_import}


def _write_conflicts(steps: list[RowPlan], keys: dict[tuple[str, int], int], run: ImportRun) -> None:
    """Store one open conflict per field. Replace it if the file has another value now."""
    now = timezone.now()
    new_conflicts: list[Conflict] = []
    changed_conflicts: list[Conflict] = []
    settled_keys: list[int] = []
    for step in steps:
        key = step.last_import.key if step.last_import else keys.get((step.kind.name, step.row.pk), 0)
        open_conflicts = step.last_import.conflicts if step.last_import else {}
        for name, values in step.merge.conflicts.items():
            if step.last_import and step.last_import.has_conflict(name, values):
                continue
            conflict = open_conflicts.get(name) or Conflict(
                provenance_id=key, field=name, label=str(step.row)[:200]
            )
            (changed_conflicts if name in open_conflicts else new_conflicts).append(conflict)
            conflict.base, conflict.ours, conflict.theirs = values.base, values.ours, values.theirs
            conflict.run, conflict.created_at = run, now
        settled_keys += [conflict.pk for conflict in step.settled_conflicts]
    Conflict.objects.bulk_create(new_conflicts, batch_size=BATCH_ROWS)
    Conflict.objects.bulk_update(changed_conflicts, ["base", "ours", "theirs", "run", "created_at"])
    Conflict.objects.filter(AnyOf("pk", settled_keys)).update(resolved_at=now)
