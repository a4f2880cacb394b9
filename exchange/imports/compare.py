"""Compare a program with the existing rows to plan an import. Writes nothing."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from django.core.exceptions import ValidationError
from django.utils.translation import gettext

from conference.models import Edition
from content.array_lookup import AnyOf
from content.models import Content
from content.row_values import to_json_value
from exchange.imports.file_people import FilePerson
from exchange.imports.kinds import (
    CONFERENCE,
    EDITION,
    EDITION_KINDS,
    INSTITUTION,
    PERSON,
    PRESENTATION,
    Kind,
    Values,
)
from exchange.imports.match_people import KeptApart, MatchedPeople
from exchange.imports.merge import (
    LastImport,
    Merge,
    Successors,
    imported_rows,
    load_last_imports,
    merge,
    with_successors,
)
from exchange.imports.other_rows import OtherRows
from exchange.imports.publication import KINDS_WITH_STATUS, PublicationRule, keep_draft
from exchange.imports.rows import (
    Concealed,
    EditionRows,
    Lookup,
    PartRow,
    build_parts,
    field_value,
    parts_by_owner,
    records_of,
)
from exchange.imports.stated_values import StatedValues
from exchange.models import Conflict
from exchange.problems import Findings, Where
from exchange.records import Program, Record, is_stated
from people import names
from people.models import Person, PersonIdentifier, PersonName
from schedule.models import SessionKind

ABSENT_SHOWN = 10
# Fields of a person that are rows of their own.
PERSON_LISTS = ("other_names", "ids")
# The possible results of `RowPlan.outcomes`.
OUTCOMES = ("new", "changed", "kept", "conflicting", "skipped")

type ProgressCallback = Callable[[str, int, int], None]


@dataclass(slots=True)
class RowPlan:
    """Planned changes of one row."""

    kind: Kind
    row: Content
    where: Where
    merge: Merge
    is_new: bool = False
    # The file only refers to this person: nothing is compared or stored.
    is_mentioned: bool = False
    # The file would publish the row, and the import keeps it a draft.
    is_kept_draft: bool = False
    # The record has an unresolved reference, which has been reported.
    is_broken: bool = False
    last_import: LastImport | None = None
    # The values before the change, for reverting it.
    old: Values = field(default_factory=dict)
    parts: dict[str, list[PartRow]] = field(default_factory=dict)

    def keep_draft(self) -> None:
        """Leave out the status if it would publish the row."""
        base = self.last_import.values if self.last_import else {}
        status = None if self.is_new else self.old.get("status", "")
        merge = self.merge
        self.is_kept_draft = keep_draft(self.kind, status, merge.updates, merge.last_import, base)
        if "status" not in merge.updates:
            self.old.pop("status", None)

    @property
    def changes_last_import(self) -> bool:
        """Return whether the values to store as last imported differ from the stored ones."""
        return self.last_import is None or self.last_import.values != self.merge.last_import

    @property
    def settled_conflicts(self) -> list[Conflict]:
        """Return the undecided conflicts of fields that the file or this site has changed back."""
        undecided = self.last_import.conflicts if self.last_import else {}
        return [undecided[name] for name in (*self.merge.agreed, *self.merge.kept_edits) if name in undecided]

    @property
    def is_worth_recording(self) -> bool:
        """Return whether the plan writes more than conflicts that are already stored."""
        conflicts, last_import = self.merge.conflicts, self.last_import
        is_known = last_import is not None and all(
            last_import.has_conflict(*item) for item in conflicts.items()
        )
        return (
            self.is_new
            or bool(self.merge.updates or self.settled_conflicts)
            or self.changes_last_import
            or not is_known
        )

    @property
    def is_idle(self) -> bool:
        """Return whether nothing is to be written for this row."""
        if self.is_mentioned:
            return True
        has_conflicts = bool(self.merge.conflicts or self.settled_conflicts)
        return not (self.is_new or self.merge.updates or has_conflicts or self.changes_last_import)

    @property
    def outcomes(self) -> list[str]:
        """Return the `OUTCOMES` that apply: a row may be changed in one field and conflicting in another."""
        conditions = {
            "new": self.is_new,
            "changed": self.merge.updates and not self.is_new,
            "kept": self.merge.kept_edits,
            "conflicting": self.merge.conflicts,
        }
        return [outcome for outcome, is_met in conditions.items() if is_met] or ["skipped"]


@dataclass(slots=True)
class ImportPlan:
    """Plan of an import, by kind: `steps` are rows to write, and `idle` rows need no writing."""

    rows: EditionRows
    rule: PublicationRule
    steps: dict[str, list[RowPlan]] = field(default_factory=lambda: defaultdict(list))
    idle: dict[str, list[RowPlan]] = field(default_factory=lambda: defaultdict(list))
    # The number of rows by outcome.
    tallies: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    # Kinds of sessions that the file adds.
    new_kinds: list[SessionKind] = field(default_factory=list)
    kept_apart: list[KeptApart] = field(default_factory=list)
    # People with a picture in the file, and its address.
    photos: list[tuple[Person, str]] = field(default_factory=list)
    # E-mail addresses of people who have none here, by primary key.
    emails: dict[int, str] = field(default_factory=dict)

    @property
    def edition(self) -> Edition:
        return self.rows.edition


def compare(
    program: Program,
    rows: EditionRows,
    people: MatchedPeople,
    findings: Findings,
    *,
    rule: PublicationRule,
    protected: Concealed,
    progress: ProgressCallback,
) -> ImportPlan:
    """Compare every record with its row. Values taken from the file are set on the rows, in memory only."""
    rows.people = people.by_uid
    matched = {
        kind.name: list(rows.match(kind, records_of(program, kind), findings))
        for kind in (CONFERENCE, INSTITUTION, *EDITION_KINDS)
    }
    matched[EDITION.name] = [(rows.edition, record) for record in records_of(program, EDITION)]
    stated_values = StatedValues(program, people, rows, findings)
    successors = Successors(people.successors, rows.merged_slugs)
    plan = ImportPlan(rows, rule, kept_apart=people.kept_apart)
    others = OtherRows(rows.edition, findings)
    for kind in (CONFERENCE, INSTITUTION, PERSON, EDITION, *EDITION_KINDS):
        pairs = matched.get(kind.name, [])
        row_plans = (
            _person_plans(people, stated_values)
            if kind is PERSON
            else _row_plans(
                kind, [*others.without_their_parts(pairs)], rows, stated_values, successors, others
            )
        )
        for done, row_plan in enumerate(row_plans, start=1):
            if row_plan.row.pk in protected.get(kind.name, ()):
                _leave_unchanged(row_plan, findings)
            if kind in KINDS_WITH_STATUS and rule.keeps_draft(kind):
                row_plan.keep_draft()
            set_taken_values(row_plan, rows, findings)
            for outcome in row_plan.outcomes:
                plan.tallies[kind.name][outcome] += 1
            if row_plan.is_idle:
                plan.idle[kind.name].append(row_plan)
                row_plan.last_import = None
            else:
                plan.steps[kind.name].append(row_plan)
            if kind is not PERSON:
                progress(kind.plural or kind.name, done, len(pairs))
        new_rows = [row_plan.row for row_plan in plan.steps[kind.name] if row_plan.is_new]
        _assign_positions(kind, new_rows, rows)
        if kind in EDITION_KINDS:
            _note_absent(kind, {row.pk for row, _ in pairs if row.pk}, rows, findings)
    others.note()
    return plan


def _row_plans(
    kind: Kind,
    pairs: list[tuple[Content, Record]],
    rows: EditionRows,
    stated_values: StatedValues,
    successors: Successors,
    others: OtherRows,
) -> Iterator[RowPlan]:
    # For the slug of a merged institution, the last import of that institution applies.
    merged_keys = rows.merged_keys if kind is INSTITUTION else {}
    import_keys = [merged_keys.get(getattr(record, kind.key), row.pk or 0) for row, record in pairs]
    last_imports = load_last_imports(kind, filter(None, import_keys))
    lists = _current_lists(kind, [record for _, record in pairs], rows.edition)
    for (row, record), import_key in zip(pairs, import_keys, strict=True):
        theirs = stated_values.values(kind, record)
        if row.pk:
            ours = {
                name: lists[name].get(row.pk, []) if name in lists else field_value(row, kind, name)
                for name in theirs
            }
            last_import = last_imports.get(import_key)
            base = with_successors(last_import.values, kind, successors) if last_import else {}
            base = {**_unset_values(ours, rows.edition), **base} if kind is EDITION else base
            theirs = _with_inherited_times(kind, ours, theirs, rows)
            compared = {name: value for name, value in theirs.items() if name not in kind.only_on_create}
            is_another = others.contains(kind, row, record, ours, base, theirs)
            result = merge(ours, base, compared, is_another=is_another)
            old = {name: ours[name] for name in result.updates}
            plan = RowPlan(kind, row, record.where, result, last_import=last_import, old=old)
        else:
            plan = RowPlan(
                kind, row, record.where, Merge(updates=theirs, last_import=dict(theirs)), is_new=True
            )
        plan.is_broken = id(record) in stated_values.broken
        yield plan


def _unset_values(ours: Values, edition: Edition) -> Values:
    """Return the values of an edition that are its defaults: nobody set them, so they follow the file."""
    # The name that `create_edition` gives.
    defaults: Values = {"name": f"{edition.conference.name} {edition.year}"} if "name" in ours else {}
    defaults |= {
        name: to_json_value(EDITION.columns[name].get_default())
        for name in ours
        if name in EDITION.plain_fields and EDITION.columns[name].has_default()
    }
    return {name: default for name, default in defaults.items() if ours[name] == default}


def _with_inherited_times(kind: Kind, ours: Values, theirs: Values, rows: EditionRows) -> Values:
    """Return the values, with None for times that a presentation inherits from its session here.

    Files may repeat the times of the session. Sessions are compared first, so their times are already set.
    """
    session: Any = rows.row("session", theirs["session"]) if theirs.get("session") else None
    if kind is not PRESENTATION or session is None:
        return theirs
    inherited = {
        name: None
        for name in ("start", "end")
        if theirs.get(name) and ours[name] is None and theirs[name] == to_json_value(getattr(session, name))
    }
    return theirs | inherited


def _current_lists(kind: Kind, records: list[Record], edition: Edition) -> dict[str, dict[int, list[Values]]]:
    """Return the current lists that any record states, by name and owner. Makes a query for each list."""
    lists = {}
    for listing in kind.listings:
        if edition.pk and any(is_stated(getattr(record, listing.name)) for record in records):
            rows = listing.model._default_manager.filter(**{listing.model.edition_lookup: edition})
            lists[listing.name] = parts_by_owner(listing, rows, edition)
    return lists


def _leave_unchanged(plan: RowPlan, findings: Findings) -> None:
    """Discard and report the changes of a row that the account may not change."""
    if plan.merge.updates or plan.merge.conflicts:
        field_names = ", ".join([*plan.merge.updates, *plan.merge.conflicts])
        message = gettext("You don’t have permission to change %(row)s, so it stays unchanged: %(fields)s.")
        findings.note("warning", plan.where, message, row=plan.row, fields=field_names)
    plan.merge, plan.old = Merge(last_import=plan.last_import.values if plan.last_import else {}), {}
    plan.is_mentioned = True


def set_taken_values(plan: RowPlan, lookup: Lookup, findings: Findings) -> None:
    """Set the values taken from the file on the row, in memory, and build the rows of its lists."""
    kind, row = plan.kind, plan.row
    for name, value in plan.merge.updates.items():
        listing = kind.listing(name)
        if listing:
            plan.parts[name] = build_parts(listing, row, value, lookup)
        elif name in kind.references:
            setattr(row, name, lookup.row(kind.references[name], value) if value else None)
        elif name in kind.plain_fields:
            try:
                setattr(row, name, kind.columns[name].to_python(value))
            except ValidationError as error:
                findings.problem(plan.where, name, " ".join(error.messages))


def _note_absent(kind: Kind, present_keys: set[int], rows: EditionRows, findings: Findings) -> None:
    """Report how many rows of earlier imports are not in the file. An import never deletes rows."""
    if not present_keys:
        return
    absent_keys = imported_rows(kind, rows.edition) - present_keys
    absent_rows = [row for key, row in rows[kind.name].by_pk.items() if key in absent_keys]
    if absent_rows:
        shown_keys = ", ".join(str(getattr(row, kind.key)) for row in absent_rows[:ABSENT_SHOWN])
        more = ", …" if len(absent_rows) > ABSENT_SHOWN else ""
        noun = kind.plural if len(absent_rows) > 1 else kind.name
        message = gettext(
            "%(gone)s %(noun)s imported earlier, not in this file, left as they are: %(shown)s%(more)s."
        )
        findings.note(
            "warning", Where(), message, gone=len(absent_rows), noun=noun, shown=shown_keys, more=more
        )


def _assign_positions(kind: Kind, new_rows: list[Any], rows: EditionRows) -> None:
    """Place new rows without a position after their siblings, in the order of the file."""
    unnumbered = [row for row in new_rows if kind.siblings and not row.position]
    if not unnumbered:
        return

    def siblings_of(row: Content) -> tuple[int, ...]:
        return tuple(id(getattr(row, name)) for name in kind.siblings)

    last_positions: dict[tuple[int, ...], int] = defaultdict(int)
    existing_rows: list[Any] = list(rows[kind.name].rows.values())
    for row in existing_rows:
        last_positions[siblings_of(row)] = max(last_positions[siblings_of(row)], row.position)
    for row in unnumbered:
        last_positions[siblings_of(row)] += 1
        row.position = last_positions[siblings_of(row)]


# People: the values of their records, and the ids of references


def _person_plans(people: MatchedPeople, stated_values: StatedValues) -> Iterator[RowPlan]:
    entries_by_person: dict[int, list[FilePerson]] = defaultdict(list)
    for entry, person in people.rows.items():
        entries_by_person[id(person)].append(entry)
    pairs = [
        (_join_entries(entries, people), people.rows[entries[0]]) for entries in entries_by_person.values()
    ]
    known_people = _KnownPeople([pair for pair in pairs if pair[1].pk], people)
    for entry, person in pairs:
        theirs = stated_values.person_values(entry.record, person) if entry.record else {}
        yield known_people.plan(entry, person, theirs) if person.pk else _new_person(entry, person, theirs)


def _join_entries(entries: list[FilePerson], people: MatchedPeople) -> FilePerson:
    """Join the entries of one person, such as one with an id and one with the bare name."""
    if len(entries) == 1:
        return entries[0]
    # A file may contain both people of a merge: the record of the remaining one is used.
    entries_with_record = [entry for entry in entries if entry.record]
    entries_with_record.sort(key=lambda entry: entry.uid in people.successors)
    first = (entries_with_record or entries)[0]
    for other in [entry for entry in entries_with_record[1:] if entry.uid not in people.successors]:
        message = gettext("%(name)s and %(other)s are one person here. Keep one record.")
        people.findings.problem(other.where, "uid", message, name=other.name, other=first.name)
    ids = {pair for entry in entries for pair in entry.ids}
    orcid = next((entry.orcid for entry in entries if entry.orcid), "")
    return FilePerson(first.name, first.where, uid=first.uid, orcid=orcid, ids=ids, record=first.record)


def _new_person(entry: FilePerson, person: Person, theirs: Values) -> RowPlan:
    values = {"name": person.name, **theirs}
    if person.family:
        values = {"given": person.given, "family": person.family, **values}
    if entry.orcid:
        values["orcid"] = entry.orcid
    if entry.ids:
        values["ids"] = sorted(map(list, entry.ids))
    last_import = dict(values)
    if "family" not in values:
        parts = names.split(values["name"])
        last_import |= {"given": parts.given, "family": parts.family}
    return RowPlan(PERSON, person, entry.where, Merge(updates=values, last_import=last_import), is_new=True)


def split_changed_name(person: Person, theirs: Values, result: Merge) -> None:
    """Update the parts of a changed name if they were split automatically and are not stated."""
    parts = names.split(person.name)
    if (
        "name" in result.updates
        and "family" not in theirs
        and (person.given, person.family) == (parts.given, parts.family)
    ):
        parts = names.split(result.updates["name"])
        result.updates |= {"given": parts.given, "family": parts.family}
        result.last_import |= {"given": parts.given, "family": parts.family}


class _KnownPeople:
    """Identifiers, names and last imports of the existing people of a file, fetched together."""

    def __init__(self, pairs: list[tuple[FilePerson, Person]], people: MatchedPeople) -> None:
        self.people = people
        self.ids: dict[int, list[list[str]]] = defaultdict(list)
        self.other_names: dict[int, list[str]] = defaultdict(list)
        condition = AnyOf("person_id", (person.pk for entry, person in pairs if entry.ids))
        ids = PersonIdentifier.objects.filter(condition).order_by("scheme", "value")
        for key, *pair in ids.values_list("person_id", "scheme", "value"):
            self.ids[key].append(pair)
        condition = AnyOf("person_id", (person.pk for entry, person in pairs if entry.record))
        spellings = PersonName.objects.filter(condition).shown()
        for key, name in spellings.values_list("person_id", "name"):
            self.other_names[key].append(name)
        compared_pairs = [pair for pair in pairs if pair[0].record or self._has_new_ids(*pair)]
        self.last_imports = load_last_imports(
            PERSON, [self._last_import_key(*pair) for pair in compared_pairs]
        )

    def _last_import_key(self, entry: FilePerson, person: Person) -> int:
        """Return the key of the row whose last import applies: for a merged person, their own row."""
        return self.people.merged_keys.get(entry.uid, person.pk) if entry.record else person.pk

    def _has_new_ids(self, entry: FilePerson, person: Person) -> bool:
        has_new_ids = any(list(pair) not in self.ids[person.pk] for pair in entry.ids)
        return has_new_ids or bool(entry.orcid and entry.orcid != person.orcid)

    def plan(self, entry: FilePerson, person: Person, theirs: Values) -> RowPlan:
        if not entry.record and not self._has_new_ids(entry, person):
            return RowPlan(PERSON, person, entry.where, Merge(), is_mentioned=True)
        last_import = self.last_imports.get(self._last_import_key(entry, person))
        ours = {name: field_value(person, PERSON, name) for name in theirs if name not in PERSON_LISTS}
        ours |= {
            "other_names": sorted(self.other_names[person.pk]),
            "ids": self.ids[person.pk],
            "orcid": person.orcid,
        }
        if entry.orcid:
            theirs["orcid"] = entry.orcid
        result = merge(ours, last_import.values if last_import else {}, theirs)
        self._add_ids(entry, person, result)
        split_changed_name(person, theirs, result)
        ours |= {"given": person.given, "family": person.family}
        old = {name: ours[name] for name in result.updates}
        return RowPlan(PERSON, person, entry.where, result, last_import=last_import, old=old)

    def _add_ids(self, entry: FilePerson, person: Person, result: Merge) -> None:
        """Add new ids; an id that was removed here is not added again."""
        if not entry.ids:
            return
        current_ids = self.ids[person.pk]
        last_ids = result.last_import.get("ids", [])
        stated_ids = [list(pair) for pair in entry.ids if self.people.is_id_free(pair, person)]
        new_ids = [pair for pair in stated_ids if pair not in current_ids and pair not in last_ids]
        if new_ids:
            result.updates["ids"] = sorted([*current_ids, *new_ids])
        result.last_import["ids"] = sorted(
            [*last_ids, *(pair for pair in stated_ids if pair not in last_ids)]
        )
