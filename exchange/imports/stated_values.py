"""Values that records state, for comparison with those of rows. Unresolved references are reported.

This module compares and writes nothing.
"""

from dataclasses import fields

from django.utils.translation import gettext

from conference.menu_sections import SECTIONS
from content.array_lookup import AnyOf
from content.row_values import to_json_value
from exchange.imports.file_people import Location, numbered_parts
from exchange.imports.kinds import GRANTS, KINDS, MENU, PERSON, Kind, Listing, Values
from exchange.imports.match_people import MatchedPeople
from exchange.imports.rows import EditionRows
from exchange.problems import Findings, Where, did_you_mean, short
from exchange.records import (
    UNSTATED,
    GrantRecord,
    MenuRecord,
    PersonRecord,
    PersonRef,
    Program,
    Record,
    is_stated,
    stated,
)
from papers.models import Paper
from people import names
from people.models import Person


class StatedValues:
    """The values that the records of one program state."""

    def __init__(
        self, program: Program, people: MatchedPeople, rows: EditionRows, findings: Findings
    ) -> None:
        self.people, self.rows, self.findings = people, rows, findings
        self._own_slug = rows.edition.slug
        # Records with an unresolved reference, by `id()`; the number of such references.
        self.broken: set[int] = set()
        self._broken_count = 0
        self._find_papers_elsewhere([grant for award in program.awards for grant in stated(award.grants, ())])

    def _find_papers_elsewhere(self, grants: list[GrantRecord]) -> None:
        paper_keys = {(grant.edition, grant.paper) for grant in grants if self._is_elsewhere(grant)}
        has_uid = AnyOf("uid", {uid for _, uid in paper_keys})
        papers = Paper.objects.filter(has_uid, edition__slug__in={slug for slug, _ in paper_keys})
        for paper in papers.select_related("edition").defer(*Paper.derived_fields):
            self.rows.papers_elsewhere[paper.edition.slug, paper.uid] = paper

    def _is_elsewhere(self, grant: GrantRecord) -> bool:
        return bool(grant.paper and grant.edition and grant.edition != self._own_slug)

    def values(self, kind: Kind, record: Record) -> Values:
        """Return the stated values of a record. Report and leave out fields with unresolved references."""
        count_before = self._broken_count
        values: Values = {}
        for name in kind.plain_fields:
            value = getattr(record, name)
            if is_stated(value) and not (name == "position" and value == 0):
                values[name] = to_json_value(value)
        for name, other in kind.references.items():
            value = getattr(record, name)
            if is_stated(value) and self.is_known(other, value or "", record.where, name):
                values[name] = self.key_here(other, value) if value else None
        for listing in kind.listings:
            parts, list_count_before = getattr(record, listing.name), self._broken_count
            if is_stated(parts):
                part_values = self._parts(kind, listing, parts, record)
                if self._broken_count == list_count_before:
                    values[listing.name] = part_values
        if self._broken_count > count_before:
            self.broken.add(id(record))
        return values

    def person_values(self, record: PersonRecord, person: Person) -> Values:
        """Return the stated values of a person, without hidden names. Given names require a family name."""
        values: Values = {"name": self.people.printed_name(person, record.ref.name)}
        for name in PERSON.plain_fields:
            # Name and ORCID are in `ref`.
            value = getattr(record, name, UNSTATED)
            if is_stated(value):
                values[name] = value
        if not values.get("family"):
            values.pop("family", None)
            values.pop("given", None)
        if is_stated(record.other_names):
            spellings = {names.normalize(name) for name in record.other_names}
            values["other_names"] = sorted(
                name for name in spellings if name and not self.people.is_hidden(person, name)
            )
        return values

    def key_here(self, kind: str, key: str) -> str:
        """Return the stored key of a row, which differs from the file's for a merged institution."""
        stored_key: str = getattr(self.rows[kind].rows[key], KINDS[kind].key)
        return stored_key

    def is_known(self, kind: str, key: str, where: Where, path: str) -> bool:
        if not key or key in self.rows[kind].rows:
            return True
        # Looking for similar names is slow, so skip it if further problems are only counted.
        hint = "" if self.findings.is_full else did_you_mean(key, self.rows[kind].rows)
        message = gettext(
            "There is no %(kind)s “%(key)s” in this file or in edition %(edition)s.%(hint)s "
            "Correct it, or add the %(kind)s."
        )
        self._report(where, path, message, kind=kind, key=short(key), edition=self._own_slug, hint=hint)
        return False

    def _report(self, where: Where, path: str, message: str, /, **values: object) -> None:
        self._broken_count += 1
        self.findings.problem(where, path, message, **values)

    def _parts(self, kind: Kind, listing: Listing, parts: tuple[Record, ...], record: Record) -> list[Values]:
        if listing is MENU:
            return [
                self._menu_line(line, record.where, f"menu[{index}]")
                for index, line in enumerate(parts)
                if isinstance(line, MenuRecord)
            ]
        part_values: list[Values] = []
        identities: set[tuple[object, ...]] = set()
        for index, (part, number) in enumerate(numbered_parts(listing, parts)):
            values = self._part(kind, listing, part, record, f"{listing.name}[{index}]", number)
            identity = tuple(values[name] for name in listing.identity)
            if identity in identities and not listing.may_repeat:
                self._note_repeat(listing, values, record)
                continue
            if number > 1:
                self._note_namesake(listing, values, record)
            identities.add(identity)
            part_values.append(values)
        return part_values

    def _note_namesake(self, listing: Listing, values: Values, record: Record) -> None:
        message = gettext(
            "%(who)s is listed twice in %(name)s, as two people of one name. "
            "If they are one person, delete one in the file, or merge them here."
        )
        self.findings.note("doubt", record.where, message, who=values["name"], name=listing.name)

    def _note_repeat(self, listing: Listing, values: Values, record: Record) -> None:
        who = values.get("name") or values.get("paper") or self.rows.people[values["person"]].name
        message = gettext("%(who)s is listed twice in %(name)s; taken once, at the first place.")
        self.findings.note("repeat", record.where, message, who=who, name=listing.name)

    def _part(
        self, kind: Kind, listing: Listing, part: Record, record: Record, path: str, number: int
    ) -> Values:
        values: Values = {}
        for field in fields(part):
            value = getattr(part, field.name)
            if field.name == "person":
                location = (kind.name, getattr(record, kind.key))
                values |= self._person_part(listing, value, location, number)
            elif field.name == "institutions":
                known_slugs = [
                    slug for slug in value if self.is_known("institution", slug, record.where, path)
                ]
                values["institutions"] = list(
                    dict.fromkeys(self.key_here("institution", slug) for slug in known_slugs)
                )
            elif field.name != "where":
                values[field.name] = to_json_value(value)
        if listing is GRANTS and isinstance(part, GrantRecord):
            self._check_grant(part, values, record, path)
        return values

    def _person_part(
        self, listing: Listing, ref: PersonRef | None, location: Location, number: int
    ) -> Values:
        if ref is None:
            return {"person": ""}
        person = self.people.find(ref, location, number)
        values = {"person": person.uid}
        if listing.has_printed_name:
            values["name"] = self.people.printed_name(person, ref.name)
        return values

    def _check_grant(self, grant: GrantRecord, values: Values, record: Record, path: str) -> None:
        if bool(grant.paper) == bool(grant.person):
            message = gettext("An award goes to a paper or a person: give one of them.")
            self._report(record.where, path, message)
        if self._is_elsewhere(grant):
            if (grant.edition, grant.paper) not in self.rows.papers_elsewhere:
                message = gettext(
                    "There is no paper “%(paper)s” in edition “%(edition)s”. Import that edition first."
                )
                placeholders = {"paper": short(grant.paper), "edition": short(grant.edition)}
                self._report(record.where, path, message, **placeholders)
        else:
            values["edition"] = ""
            self.is_known("paper", grant.paper, record.where, f"{path}.paper")

    def _menu_line(self, line: MenuRecord, where: Where, path: str) -> Values:
        children = [self._menu_line(child, where, f"{path}.children") for child in line.children]
        if any(child["children"] for child in children):
            self._report(where, path, gettext("The menu nests once: move the lines of the third level up."))
        if not line.target:
            message = gettext("The line “%(label)s” has no target. Add one.")
            self._report(where, path, message, label=short(line.label))
        elif line.kind == "section" and line.target not in SECTIONS:
            remedy = gettext("Use one of %(sections)s.") % {"sections": ", ".join(SECTIONS)}
            message = gettext("There is no section “%(name)s” of the site.") % {"name": short(line.target)}
            self._report(where, path, f"{message}{did_you_mean(line.target, SECTIONS) or f' {remedy}'}")
        elif line.kind == "page":
            self.is_known("page", line.target, where, path)
        elif line.kind not in ("section", "page", "url"):
            self._report(where, path, gettext("A line leads to a section, a page or a url."))
        return {"label": line.label, "kind": line.kind, "target": line.target, "children": children}
