"""What an import is going to do: every row of a program compared with what stands here. Writes nothing."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from django.core.exceptions import ValidationError
from django.utils.translation import gettext

from conference.models import Edition
from content.models import Content
from exchange.imports.kinds import CONFERENCE, EDITION, INSTITUTION, PARTS, PERSON, SESSION, TOPIC, Kind
from exchange.imports.listings import Values
from exchange.imports.parts import build
from exchange.imports.people import People
from exchange.imports.people_steps import person_steps
from exchange.imports.provenance import (
    Memory,
    Merge,
    Successors,
    imported_rows,
    merge,
    remembered,
    with_successors,
)
from exchange.imports.rows import NOBODY, Concealed, Shelves, parts_by_owner
from exchange.imports.stated_values import Statements
from exchange.imports.steps import Step, Tally
from exchange.imports.validation import check_nesting, check_parts, check_row, check_unique, report_concealed
from exchange.problems import Where
from exchange.reading.findings import Findings, short
from exchange.records import Program, Record, is_stated, stated
from people import names
from people.merged_rows import final_rows
from people.models import Institution, Person

ABSENT_SHOWN = 10

type Progress = Callable[[str, int, int], None]


class Plan:
    """The steps of an import by kind, in the order in which they can be written."""

    def __init__(
        self,
        program: Program,
        edition: Edition,
        findings: Findings,
        progress: Progress | None = None,
        *,
        concealed: Concealed = NOBODY,
        protected: Concealed = NOBODY,
        is_locking: bool = True,
    ) -> None:
        self.program, self.edition, self.findings = program, edition, findings
        self._progress = progress or (lambda what, done, total: None)
        self._concealed, self._protected = concealed, protected
        self.steps: dict[str, list[Step]] = defaultdict(list)
        # Rows for which nothing is to be written.
        self.idle: dict[str, list[Step]] = defaultdict(list)
        self.tallies: dict[str, Tally] = defaultdict(Tally)
        self.people = People(program, edition, findings, concealed.get(PERSON.name, ()))
        whole = [kind.name for kind in (CONFERENCE, INSTITUTION, *PARTS) if self._records(kind)]
        self.shelves = Shelves(edition, whole, concealed, is_locking=is_locking)
        self.successors = Successors(self.people.successors, merged_institutions())
        gone = Institution.objects.filter(merged_into__isnull=False)
        self.merged_institutions = dict(gone.values_list("slug", "pk"))
        self.statements = Statements(self.people, self.shelves, findings)
        self._compare()

    # Where parts find what they point at

    def person(self, uid: str) -> Person:
        return self.people.by_uid[uid]

    def paper(self, edition: str, uid: str) -> Any:
        return self.statements.elsewhere.get((edition, uid)) if edition else self.row("paper", uid)

    def row(self, kind: str, key: str) -> Any:
        return self.shelves[kind].rows.get(key)

    # Rows for records

    def _records(self, kind: Kind) -> tuple[Record, ...]:
        if kind.many:
            records: tuple[Record, ...] = getattr(self.program, kind.many)
            return records
        record = getattr(self.program, kind.name)
        return (record,) if record else ()

    def _compare(self) -> None:
        if self.edition.conference._state.adding:
            self.shelves["conference"].put(self.edition.conference)
        rows = {kind.name: list(self._rows(kind)) for kind in (CONFERENCE, INSTITUTION, *PARTS)}
        rows["edition"] = [(self.edition, record) for record in self._records(EDITION)]
        self.statements.find_elsewhere(
            [grant for award in self.program.awards for grant in stated(award.grants, ())]
        )
        for kind in (CONFERENCE, INSTITUTION):
            self._compare_kind(kind, rows[kind.name])
        for step in person_steps(self.people, self.statements):
            self._take(step)
        for kind in (EDITION, *PARTS):
            self._compare_kind(kind, rows[kind.name])
        for kind, field in ((INSTITUTION, "ror"), (PERSON, "orcid")):
            hidden = self._concealed.get(kind.name, frozenset())
            check_unique(self.steps[kind.name], kind, field, self.findings, hidden)
        for kind in (TOPIC, SESSION):
            if steps := self.steps[kind.name]:
                check_nesting(steps, self.shelves[kind.name].rows.values(), self.findings)

    def _rows(self, kind: Kind) -> Iterator[tuple[Content, Record]]:
        """Find or make the row of each record. New rows are put on the shelf, for references."""
        records = self._records(kind)
        if not records:
            return
        shelf = self.shelves[kind.name]
        seen: dict[int, Where] = {}
        namesakes = self._institutions_by_name() if kind is INSTITUTION else {}
        merged = self.successors.institutions if kind is INSTITUTION else {}
        # A file may still tell of both that a chair merged: the one that stays speaks.
        for record in sorted(records, key=lambda one: getattr(one, kind.key) in merged):
            key: str = getattr(record, kind.key)
            if key in shelf.concealed:
                report_concealed(record.where, kind.key, key, self.findings)
                continue
            row = shelf.rows.get(key) or namesakes.get(names.normal(stated(getattr(record, "name", ""), "")))
            if row is None:
                row = self._new_row(kind, key)
            shelf.rows[key] = row
            if id(row) in seen and key in merged:
                continue
            if id(row) in seen:
                message = gettext("Another %(name)s is the same: %(row)s. Keep one of them.") % {
                    "name": kind.name,
                    "row": seen[id(row)],
                }
                self.findings.problem(record.where, kind.key, f"“{short(key)}”: {message}")
                continue
            seen[id(row)] = record.where
            yield row, record

    def _new_row(self, kind: Kind, key: str) -> Content:
        owner = {"edition": self.edition} if kind.is_in_edition else {}
        return kind.model(**{kind.key: key}, **owner)

    def _institutions_by_name(self) -> dict[str, Institution]:
        """Return the institutions here by name and alias; a name that two have stands for neither."""
        found: dict[str, list[Institution]] = defaultdict(list)
        rows: Any = {id(row): row for row in self.shelves["institution"].rows.values()}
        for row in rows.values():
            for name in {row.name, *row.aliases}:
                found[names.normal(name)].append(row)
        return {name: owners[0] for name, owners in found.items() if name and len(owners) == 1}

    # Comparing

    def _compare_kind(self, kind: Kind, rows: list[tuple[Content, Record]]) -> None:
        memories = remembered(kind, [self._remembered_as(kind, *one) for one in rows if one[0].pk])
        lists = {
            listing.name: parts_by_owner(
                listing, listing.model._default_manager.filter(**self._own(listing.owner)), self.edition
            )
            for listing in kind.listings
            if self.edition.pk and any(is_stated(getattr(record, listing.name)) for _, record in rows)
        }
        for index, (row, record) in enumerate(rows):
            theirs = self.statements.of(kind, record)
            ours = self._ours(kind, row, theirs, lists) if row.pk else {}
            step = self._step(
                kind, row, record.where, ours, theirs, memories.get(self._remembered_as(kind, row, record))
            )
            step.is_broken = id(record) in self.statements.broken
            self._take(step)
            self._progress(kind.many or kind.name, index + 1, len(rows))
        self._number(kind)
        if kind.is_in_edition and kind is not EDITION:
            self._note_absent(kind, {row.pk for row, _ in rows if row.pk})

    def _remembered_as(self, kind: Kind, row: Content, record: Record) -> int:
        """Return whose memory a record is compared with: that of what was merged, if it came in as such."""
        merged: dict[str, int] = self.merged_institutions if kind is INSTITUTION else {}
        return merged.get(getattr(record, kind.key, ""), row.pk or 0)

    def _note_absent(self, kind: Kind, present: set[int]) -> None:
        """Say how many rows came in earlier and are not in the file. They stay: an import deletes nothing."""
        if not present:
            return
        absent = imported_rows(kind, self.edition) - present
        gone = [row for key, row in self.shelves[kind.name].by_pk.items() if key in absent]
        if gone:
            shown = ", ".join(str(getattr(row, kind.key)) for row in gone[:ABSENT_SHOWN])
            more = ", …" if len(gone) > ABSENT_SHOWN else ""
            noun = kind.many if len(gone) > 1 else kind.name
            message = gettext(
                "%(gone)s %(noun)s imported earlier, not in this file, left as they are: %(shown)s%(more)s."
            ) % {"gone": len(gone), "noun": noun, "shown": shown, "more": more}
            self.findings.note("warning", Where(), message)

    def _own(self, owner: str) -> dict[str, Edition]:
        return {"edition": self.edition} if owner == "edition" else {f"{owner}__edition": self.edition}

    def _ours(
        self, kind: Kind, row: Content, theirs: Values, lists: dict[str, dict[int, list[Values]]]
    ) -> Values:
        return {
            name: lists.get(name, {}).get(row.pk, [])
            if kind.listing(name)
            else self.shelves.value(row, kind, name)
            for name in theirs
        }

    def _step(
        self, kind: Kind, row: Content, where: Where, ours: Values, theirs: Values, memory: Memory | None
    ) -> Step:
        if not row.pk:
            return Step(kind, row, where, Merge(taken=theirs, memory=dict(theirs)), is_new=True)
        base = with_successors(memory.values, kind, self.successors) if memory else {}
        found = merge(ours, base, {name: new for name, new in theirs.items() if name not in kind.once})
        return Step(kind, row, where, found, memory=memory, old={name: ours[name] for name in found.taken})

    def _take(self, step: Step) -> None:
        """Bring what is taken into the row, in memory, and judge it."""
        if step.row.pk in self._protected.get(step.kind.name, ()):
            self._leave(step)
        self.tallies[step.kind.name].add(step)
        if step.is_idle:
            step.memory = None
            self.idle[step.kind.name].append(step)
            return
        self.steps[step.kind.name].append(step)
        if not (step.is_new or step.merge.taken):
            return
        for name, value in step.merge.taken.items():
            self._assign(step, name, value)
        check_row(step, self.findings)

    def _leave(self, step: Step) -> None:
        """Take nothing from the file for a row that the account may not change, and say so."""
        if step.merge.taken or step.merge.clashes:
            fields = ", ".join([*step.merge.taken, *step.merge.clashes])
            message = gettext("%(row)s is not yours to change and stays as it is here: %(fields)s.")
            said = message % {"row": step.row, "fields": fields}
            self.findings.note("warning", step.where, said)
        step.merge, step.old = Merge(memory=step.memory.values if step.memory else {}), {}
        step.is_mentioned = True

    def _assign(self, step: Step, name: str, value: Any) -> None:
        listing = step.kind.listing(name)
        if listing:
            step.parts[name] = build(listing, step.row, value, self)
            check_parts(listing, step.parts[name], step.where, self.findings)
        elif name in step.kind.references:
            setattr(step.row, name, self.row(step.kind.references[name], value) if value else None)
        elif name in step.kind.plain:
            field: Any = step.kind.model._meta.get_field(name)
            try:
                setattr(step.row, name, field.to_python(value))
            except ValidationError as error:
                self.findings.problem(step.where, name, " ".join(error.messages))

    def _number(self, kind: Kind) -> None:
        """Give new rows without a position the last places among their siblings, in the order of the file."""
        added: list[Any] = [step.row for step in self.steps[kind.name] if step.is_new]
        unnumbered = [row for row in added if kind.siblings and not row.position]
        if not unnumbered:
            return
        last: dict[tuple[int, ...], int] = defaultdict(int)
        rows: Iterable[Any] = self.shelves[kind.name].rows.values()
        for one in rows:
            group = _group(one, kind)
            last[group] = max(last[group], one.position)
        for row in unnumbered:
            group = _group(row, kind)
            last[group] += 1
            row.position = last[group]


def _group(row: Content, kind: Kind) -> tuple[int, ...]:
    return tuple(id(getattr(row, name)) for name in kind.siblings)


def merged_institutions() -> dict[str, str]:
    """Return the slugs of institutions that were merged, each with that of the one that stays."""
    rows = Institution.objects.filter(merged_into__isnull=False).values_list("slug", "merged_into__slug")
    links: dict[str, str] = dict(rows)
    return final_rows(links)
