"""Compare a program with the existing rows to plan an import. Writes nothing."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.core.exceptions import ValidationError
from django.db.models import FilteredRelation, Q
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
    Listing,
    Values,
)
from exchange.imports.match_people import KeptApart, MatchedPeople
from exchange.imports.rows import (
    Concealed,
    EditionRows,
    Lookup,
    PartRow,
    build_parts,
    field_value,
    in_batches,
    parts_by_owner,
    records_of,
)
from exchange.imports.stated_values import StatedValues
from exchange.models import Conflict, Provenance
from exchange.problems import Findings, Where
from exchange.records import Program, Record, is_stated
from people import names
from people.models import Person, PersonIdentifier, PersonName
from schedule.models import SessionKind


@dataclass(frozen=True, slots=True)
class FieldConflict:
    """A field changed on both sides since the last import."""

    base: object
    ours: object
    theirs: object


@dataclass(slots=True)
class Merge:
    """Result of comparing one row with its record."""

    taken: Values = field(default_factory=dict)
    # Edited here, while the file is unchanged.
    kept: dict[str, FieldConflict] = field(default_factory=dict)
    clashes: dict[str, FieldConflict] = field(default_factory=dict)
    # Stated fields about which both sides agree now.
    agreed: list[str] = field(default_factory=list)
    # The values to store as last imported.
    last_import: Values = field(default_factory=dict)


def is_empty(value: object) -> bool:
    """Return whether a field is empty. False and 0 are values."""
    return value is None or value == "" or value == []


def merge(ours: Values, base: Values, theirs: Values) -> Merge:
    """Compare the stated fields one by one. A field that was never imported has no base."""
    found = Merge(last_import=dict(base))
    for name, new in theirs.items():
        mine = ours[name]
        is_untouched = mine == base[name] if name in base else is_empty(mine)
        if mine == new or is_untouched:
            found.agreed.append(name)
            found.last_import[name] = new
            if mine != new:
                found.taken[name] = new
        elif name in base and new == base[name]:
            found.kept[name] = FieldConflict(base[name], mine, new)
        else:
            found.clashes[name] = FieldConflict(base.get(name), mine, new)
    return found


@dataclass(slots=True)
class LastImport:
    """Last import of one row: the key of its `Provenance`, the values, and undecided conflicts by field."""

    key: int
    values: Values
    conflicts: dict[str, Conflict] = field(default_factory=dict)

    def has_conflict(self, name: str, clash: FieldConflict) -> bool:
        """Return whether the same conflict is already stored and undecided."""
        known = self.conflicts.get(name)
        return known is not None and FieldConflict(known.base, known.ours, known.theirs) == clash


def load_last_imports(kind: Kind, rows: Iterable[int]) -> dict[int, LastImport]:
    """Return the last imports of these rows, by primary key of the row."""
    found: dict[int, LastImport] = {}
    for batch in in_batches(rows):
        undecided = FilteredRelation("conflicts", condition=Q(conflicts__resolved_at__isnull=True))
        stored = Provenance.objects.filter(kind=kind.name, object_id__in=batch)
        columns = (f"undecided__{name}" for name in ("pk", *CONFLICT_COLUMNS))
        lines = stored.annotate(undecided=undecided).values_list("pk", "object_id", "values", *columns)
        for key, row, values, conflict, *said in lines.order_by():
            last_import = found.setdefault(row, LastImport(key, values))
            if conflict is not None:
                known = dict(zip(CONFLICT_COLUMNS, said, strict=True))
                last_import.conflicts[known["field"]] = Conflict(pk=conflict, provenance_id=key, **known)
    return found


def imported_rows(kind: Kind, edition: Edition) -> set[int]:
    """Return the primary keys of all rows of a kind that any import brought into an edition."""
    rows = Provenance.objects.filter(kind=kind.name, edition=edition)
    return set(rows.values_list("object_id", flat=True))


@dataclass(frozen=True, slots=True)
class Successors:
    """Merged people and institutions: the old key -> the key of the row that they were merged into."""

    people: Mapping[str, str]
    institutions: Mapping[str, str]


def with_successors(values: Values, kind: Kind, successors: Successors) -> Values:
    """Return last imported values with merged rows replaced by their targets, without duplicates."""
    if not (successors.people or successors.institutions):
        return values
    lists = {
        listing.name: _without_repeats(
            listing, [_replace_merged(part, successors) for part in values[listing.name]]
        )
        for listing in kind.listings
        if "person" in listing.columns and listing.name in values
    }
    return {**values, **lists}


def _replace_merged(part: Values, successors: Successors) -> Values:
    found = {**part, "person": successors.people.get(part["person"], part["person"])}
    if part.get("institutions"):
        slugs = (successors.institutions.get(slug, slug) for slug in part["institutions"])
        found["institutions"] = list(dict.fromkeys(slugs))
    return found


def _without_repeats(listing: Listing, parts: list[Values]) -> list[Values]:
    found: dict[tuple[object, ...], Values] = {}
    for part in parts:
        found.setdefault(tuple(part[name] for name in listing.identity), part)
    return list(found.values())


ABSENT_SHOWN = 10
# The columns that are read of a conflict.
CONFLICT_COLUMNS = ("field", "label", "base", "ours", "theirs")
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
    # The record has an unresolved reference, which has been reported.
    is_broken: bool = False
    last_import: LastImport | None = None
    # The values before the change, for reverting it.
    old: Values = field(default_factory=dict)
    parts: dict[str, list[PartRow]] = field(default_factory=dict)

    @property
    def changes_last_import(self) -> bool:
        """Return whether the values to store as last imported differ from the stored ones."""
        return self.last_import is None or self.last_import.values != self.merge.last_import

    @property
    def is_worth_recording(self) -> bool:
        """Return whether the plan writes more than conflicts that are already stored."""
        clashes, last_import = self.merge.clashes, self.last_import
        is_known = last_import is not None and all(last_import.has_conflict(*one) for one in clashes.items())
        return self.is_new or bool(self.merge.taken) or self.changes_last_import or not is_known

    @property
    def is_idle(self) -> bool:
        """Return whether nothing is to be written for this row."""
        if self.is_mentioned:
            return True
        return not (self.is_new or self.merge.taken or self.merge.clashes or self.changes_last_import)

    @property
    def outcomes(self) -> list[str]:
        """Return the `OUTCOMES` that apply: a row may be changed in one field and conflicting in another."""
        applies = (
            self.is_new,
            self.merge.taken and not self.is_new,
            self.merge.kept,
            self.merge.clashes,
        )
        return [word for word, is_so in zip(OUTCOMES, applies, strict=False) if is_so] or ["skipped"]


@dataclass(slots=True)
class ImportPlan:
    """Plan of an import, by kind: `steps` are rows to write, and `idle` rows need no writing."""

    rows: EditionRows
    steps: dict[str, list[RowPlan]] = field(default_factory=lambda: defaultdict(list))
    idle: dict[str, list[RowPlan]] = field(default_factory=lambda: defaultdict(list))
    # The number of rows by outcome.
    tallies: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    # Kinds of sessions that the file adds.
    new_kinds: list[SessionKind] = field(default_factory=list)
    kept_apart: list[KeptApart] = field(default_factory=list)
    # People with a picture in the file, and its address.
    photos: list[tuple[Person, str]] = field(default_factory=list)

    @property
    def edition(self) -> Edition:
        return self.rows.edition


def compare(
    program: Program,
    rows: EditionRows,
    people: MatchedPeople,
    findings: Findings,
    *,
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
    stated = StatedValues(program, people, rows, findings)
    successors = Successors(people.successors, rows.merged_slugs)
    plan = ImportPlan(rows, kept_apart=people.kept_apart)

    def add(found: Iterable[RowPlan], kind: Kind, total: int) -> None:
        for done, one in enumerate(found, start=1):
            if one.row.pk in protected.get(kind.name, ()):
                _leave_unchanged(one, findings)
            set_taken_values(one, rows, findings)
            plan.tallies[kind.name].update(one.outcomes)
            (plan.idle if one.is_idle else plan.steps)[kind.name].append(one)
            if one.is_idle:
                one.last_import = None
            if kind is not PERSON:
                progress(kind.plural or kind.name, done, total)

    for kind in (CONFERENCE, INSTITUTION, PERSON, EDITION, *EDITION_KINDS):
        if kind is PERSON:
            add(_person_plans(people, stated), kind, 0)
            continue
        pairs = matched[kind.name]
        add(_row_plans(kind, pairs, rows, stated, successors), kind, len(pairs))
        new_rows = [one.row for one in plan.steps[kind.name] if one.is_new]
        _assign_positions(kind, new_rows, rows)
        if kind in EDITION_KINDS:
            _note_absent(kind, {row.pk for row, _ in pairs if row.pk}, rows, findings)
    return plan


def _row_plans(
    kind: Kind,
    pairs: list[tuple[Content, Record]],
    rows: EditionRows,
    stated: StatedValues,
    successors: Successors,
) -> Iterator[RowPlan]:
    def remembered_as(row: Content, record: Record) -> int:
        """Return the key whose last import applies: of a merged institution if the record has its slug."""
        merged = rows.merged_keys if kind is INSTITUTION else {}
        key: int = merged.get(getattr(record, kind.key, ""), row.pk or 0)
        return key

    last_imports = load_last_imports(kind, [remembered_as(*pair) for pair in pairs if pair[0].pk])
    lists = _current_lists(kind, [record for _, record in pairs], rows.edition)
    for row, record in pairs:
        theirs = stated.values(kind, record)
        if row.pk:
            ours = {
                name: lists[name].get(row.pk, []) if name in lists else field_value(row, kind, name)
                for name in theirs
            }
            last_import = last_imports.get(remembered_as(row, record))
            base = with_successors(last_import.values, kind, successors) if last_import else {}
            theirs = _with_inherited_times(kind, ours, theirs, rows)
            found = merge(
                ours, base, {name: new for name, new in theirs.items() if name not in kind.only_on_create}
            )
            old = {name: ours[name] for name in found.taken}
            plan = RowPlan(kind, row, record.where, found, last_import=last_import, old=old)
        else:
            plan = RowPlan(
                kind, row, record.where, Merge(taken=theirs, last_import=dict(theirs)), is_new=True
            )
        plan.is_broken = id(record) in stated.broken
        yield plan


def _with_inherited_times(kind: Kind, ours: Values, theirs: Values, rows: EditionRows) -> Values:
    """Return the values, with None for times that a presentation inherits from its session here.

    Files may repeat the times of the session. Sessions are compared first, so their times are already set.
    """
    session: Any = rows.row("session", theirs["session"]) if theirs.get("session") else None
    if kind is not PRESENTATION or session is None:
        return theirs
    same = {
        name: None
        for name in ("start", "end")
        if theirs.get(name) and ours[name] is None and theirs[name] == to_json_value(getattr(session, name))
    }
    return theirs | same


def _current_lists(kind: Kind, records: list[Record], edition: Edition) -> dict[str, dict[int, list[Values]]]:
    """Return the current lists that any record states, by name and owner. Makes a query for each list."""
    found = {}
    for listing in kind.listings:
        if edition.pk and any(is_stated(getattr(record, listing.name)) for record in records):
            here = listing.model._default_manager.filter(**{listing.model.edition_lookup: edition})
            found[listing.name] = parts_by_owner(listing, here, edition)
    return found


def _leave_unchanged(plan: RowPlan, findings: Findings) -> None:
    """Discard and report the changes of a row that the account may not change."""
    if plan.merge.taken or plan.merge.clashes:
        stays = ", ".join([*plan.merge.taken, *plan.merge.clashes])
        message = gettext("You don’t have permission to change %(row)s, so it stays unchanged: %(fields)s.")
        findings.note("warning", plan.where, message, row=plan.row, fields=stays)
    plan.merge, plan.old = Merge(last_import=plan.last_import.values if plan.last_import else {}), {}
    plan.is_mentioned = True


def set_taken_values(plan: RowPlan, lookup: Lookup, findings: Findings) -> None:
    """Set the values taken from the file on the row, in memory, and build the rows of its lists."""
    kind, row = plan.kind, plan.row
    for name, value in plan.merge.taken.items():
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


def _note_absent(kind: Kind, present: set[int], rows: EditionRows, findings: Findings) -> None:
    """Report how many rows of earlier imports are not in the file. An import never deletes rows."""
    if not present:
        return
    absent = imported_rows(kind, rows.edition) - present
    gone = [row for key, row in rows[kind.name].by_pk.items() if key in absent]
    if gone:
        shown = ", ".join(str(getattr(row, kind.key)) for row in gone[:ABSENT_SHOWN])
        more = ", …" if len(gone) > ABSENT_SHOWN else ""
        noun = kind.plural if len(gone) > 1 else kind.name
        message = gettext(
            "%(gone)s %(noun)s imported earlier, not in this file, left as they are: %(shown)s%(more)s."
        )
        findings.note("warning", Where(), message, gone=len(gone), noun=noun, shown=shown, more=more)


def _assign_positions(kind: Kind, new_rows: list[Any], rows: EditionRows) -> None:
    """Place new rows without a position after their siblings, in the order of the file."""
    unnumbered = [row for row in new_rows if kind.siblings and not row.position]
    if not unnumbered:
        return

    def group(row: Content) -> tuple[int, ...]:
        return tuple(id(getattr(row, name)) for name in kind.siblings)

    last: dict[tuple[int, ...], int] = defaultdict(int)
    here: list[Any] = list(rows[kind.name].rows.values())
    for one in here:
        last[group(one)] = max(last[group(one)], one.position)
    for row in unnumbered:
        last[group(row)] += 1
        row.position = last[group(row)]


# People: the values of their records, and the ids of references


def _person_plans(people: MatchedPeople, stated: StatedValues) -> Iterator[RowPlan]:
    together: dict[int, list[FilePerson]] = defaultdict(list)
    for entry, person in people.rows.items():
        together[id(person)].append(entry)
    everybody = [(_join_entries(found, people), people.rows[found[0]]) for found in together.values()]
    here = _KnownPeople([pair for pair in everybody if pair[1].pk], people)
    for entry, person in everybody:
        theirs = stated.person_values(entry.record, person) if entry.record else {}
        yield here.plan(entry, person, theirs) if person.pk else _new_person(entry, person, theirs)


def _join_entries(found: list[FilePerson], people: MatchedPeople) -> FilePerson:
    """Join the entries of one person, such as one with an id and one with the bare name."""
    if len(found) == 1:
        return found[0]
    # A file may contain both people of a merge: the record of the remaining one is used.
    described = [one for one in found if one.record]
    described.sort(key=lambda one: one.uid in people.successors)
    first = (described or found)[0]
    for other in [one for one in described[1:] if one.uid not in people.successors]:
        message = gettext("%(name)s and %(other)s are one person here. Keep one record.")
        people.findings.problem(other.where, "uid", message, name=other.name, other=first.name)
    ids = {pair for one in found for pair in one.ids}
    orcid = next((one.orcid for one in found if one.orcid), "")
    return FilePerson(first.name, first.where, uid=first.uid, orcid=orcid, ids=ids, record=first.record)


def _new_person(entry: FilePerson, person: Person, theirs: Values) -> RowPlan:
    taken = {"name": person.name, **theirs}
    if entry.orcid:
        taken["orcid"] = entry.orcid
    if entry.ids:
        taken["ids"] = sorted(map(list, entry.ids))
    last_import = dict(taken)
    if "family" not in taken:
        parts = names.split(taken["name"])
        last_import |= {"given": parts.given, "family": parts.family}
    return RowPlan(PERSON, person, entry.where, Merge(taken=taken, last_import=last_import), is_new=True)


def split_changed_name(person: Person, theirs: Values, found: Merge) -> None:
    """Update the parts of a changed name if they were split automatically and are not stated."""
    parts = names.split(person.name)
    if (
        "name" in found.taken
        and "family" not in theirs
        and (person.given, person.family) == (parts.given, parts.family)
    ):
        parts = names.split(found.taken["name"])
        found.taken |= {"given": parts.given, "family": parts.family}
        found.last_import |= {"given": parts.given, "family": parts.family}


class _KnownPeople:
    """Identifiers, names and last imports of the existing people of a file, fetched together."""

    def __init__(self, pairs: list[tuple[FilePerson, Person]], people: MatchedPeople) -> None:
        self.people = people
        self.ids: dict[int, list[list[str]]] = defaultdict(list)
        self.other_names: dict[int, list[str]] = defaultdict(list)
        mine = AnyOf("person_id", (person.pk for entry, person in pairs if entry.ids))
        ids = PersonIdentifier.objects.filter(mine).order_by("scheme", "value")
        for key, *pair in ids.values_list("person_id", "scheme", "value"):
            self.ids[key].append(pair)
        mine = AnyOf("person_id", (person.pk for entry, person in pairs if entry.record))
        spellings = PersonName.objects.filter(mine, hidden=False)
        for key, name in spellings.values_list("person_id", "name"):
            self.other_names[key].append(name)
        compared = [pair for pair in pairs if pair[0].record or self._brings_more(*pair)]
        self.last_imports = load_last_imports(PERSON, [self._remembered_as(*pair) for pair in compared])

    def _remembered_as(self, entry: FilePerson, person: Person) -> int:
        """Return the key of the row whose last import applies: for a merged person, their own row."""
        return self.people.merged_keys.get(entry.uid, person.pk) if entry.record else person.pk

    def _brings_more(self, entry: FilePerson, person: Person) -> bool:
        has_new_ids = any(list(pair) not in self.ids[person.pk] for pair in entry.ids)
        return has_new_ids or bool(entry.orcid and entry.orcid != person.orcid)

    def plan(self, entry: FilePerson, person: Person, theirs: Values) -> RowPlan:
        if not entry.record and not self._brings_more(entry, person):
            return RowPlan(PERSON, person, entry.where, Merge(), is_mentioned=True)
        last_import = self.last_imports.get(self._remembered_as(entry, person))
        ours = {name: field_value(person, PERSON, name) for name in theirs if name not in PERSON_LISTS}
        ours |= {
            "other_names": sorted(self.other_names[person.pk]),
            "ids": self.ids[person.pk],
            "orcid": person.orcid,
        }
        if entry.orcid:
            theirs["orcid"] = entry.orcid
        found = merge(ours, last_import.values if last_import else {}, theirs)
        self._add_ids(entry, person, found)
        split_changed_name(person, theirs, found)
        ours |= {"given": person.given, "family": person.family}
        old = {name: ours[name] for name in found.taken}
        return RowPlan(PERSON, person, entry.where, found, last_import=last_import, old=old)

    def _add_ids(self, entry: FilePerson, person: Person, found: Merge) -> None:
        """Add new ids; an id that was removed here is not added again."""
        if not entry.ids:
            return
        known = self.ids[person.pk]
        base = found.last_import.get("ids", [])
        stated = [list(pair) for pair in entry.ids if self.people.is_id_free(pair, person)]
        fresh = [pair for pair in stated if pair not in known and pair not in base]
        if fresh:
            found.taken["ids"] = sorted([*known, *fresh])
        found.last_import["ids"] = sorted([*base, *(pair for pair in stated if pair not in base)])
