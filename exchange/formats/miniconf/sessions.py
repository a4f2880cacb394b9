"""Sessions of papers, plenaries with their speakers, calendars: who appears when."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from django.utils.translation import gettext

from exchange.formats.miniconf.papers import PaperReader
from exchange.formats.miniconf.words import SHOWING, kind_of, names_in, presentation_kind, without_tags
from exchange.problems import Where
from exchange.reading.fields import UnfitError, moment
from exchange.reading.findings import Findings
from exchange.reading.gathering import listed, tidy, uid_of
from exchange.reading.slugs import slug
from exchange.reading.textfiles import scalar
from exchange.records import (
    PersonRecord,
    PersonRef,
    PresentationRecord,
    RoleRecord,
    SessionRecord,
    SpeakerRecord,
    is_stated,
)

STARTS, ENDS = ("start_time", "start", "begin"), ("end_time", "end", "finish")
OFFSET = re.compile(r"([T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?) ?(Z|[+-]\d\d:?(\d\d)?)\Z")


@dataclass
class SessionReader:
    """Takes the YAML files of a site; calendars come last, as they repeat what other files tell better."""

    zone: ZoneInfo
    findings: Findings
    papers: PaperReader
    sessions: dict[str, SessionRecord] = field(default_factory=dict)
    presentations: dict[str, PresentationRecord] = field(default_factory=dict)
    people: dict[str, PersonRecord] = field(default_factory=dict)
    unknown: list[str] = field(default_factory=list)
    _calendar: list[tuple[dict[str, Any], Where]] = field(default_factory=list)
    _assumed: dict[str, int] = field(default_factory=dict)

    def add(self, part: object, file: str) -> bool:
        """Take one file, told by its shape; say whether it is one."""
        if isinstance(part, dict):
            rows = {key: row for key, row in part.items() if isinstance(row, dict)}
            if not rows or not any(_time(row, STARTS) for row in rows.values()):
                return False
            for key, row in rows.items():
                self._add_papers(str(key), row, Where(file, str(key)[:60]))
            return True
        rows_ = [row for row in part if isinstance(row, dict)] if isinstance(part, list) else []
        if rows_ and all("UID" in row and "title" in row for row in rows_):
            for index, row in enumerate(rows_):
                self._add_event(row, Where(file, f"[{index}] ({scalar(row['UID'])[:40]})"), file)
            return True
        if rows_ and all("title" in row and _time(row, STARTS) for row in rows_):
            self._calendar += [(row, Where(file, f"[{index}]")) for index, row in enumerate(rows_)]
            return True
        return False

    # Sessions of papers

    def _add_papers(self, key: str, row: dict[str, Any], where: Where) -> None:
        name = tidy(
            scalar(row.get("long_name")) or scalar(row.get("name")) or scalar(row.get("title")) or key
        )
        session = self._session(
            uid_of(key),
            name,
            row,
            where,
            kind_of(f"{scalar(row.get('name'))} {key} {where.file}", "oral", SHOWING),
        )
        papers = row.get("papers")
        listed_ = [scalar(one) for one in papers] if isinstance(papers, list) else []
        for paper in dict.fromkeys(
            map(uid_of, filter(None, [*listed_, *self.papers.of_session.get(key, ())]))
        ):
            if self.papers.has_table and paper not in self.papers.papers:
                self.unknown.append(paper)
            elif session:
                self._put(
                    PresentationRecord(
                        where=where,
                        uid=slug_of(session.uid, paper),
                        kind=presentation_kind(str(session.kind)),
                        paper=paper,
                        session=session.uid,
                        status="published",
                    )
                )

    # Plenaries, tutorials, workshops, speakers

    def _add_event(self, row: dict[str, Any], where: Where, file: str) -> None:
        title = without_tags(scalar(row["title"]))
        uid, people = uid_of(scalar(row["UID"])), self._people(row, where)
        kind = kind_of(f"{title} {file}", "invited_talk" if people else "other")
        own_times = row.get("sessions")
        candidates = own_times if isinstance(own_times, list) else [row]
        times = [one for one in candidates if isinstance(one, dict) and _time(one, STARTS)]
        if not times:
            self._put(
                PresentationRecord(
                    where=where,
                    uid=uid,
                    kind="talk",
                    title=title,
                    abstract=scalar(row.get("abstract")),
                    status="published",
                    speakers=tuple(
                        SpeakerRecord(where=where, person=one, affiliation=self._affiliation(row))
                        for one in people
                    ),
                )
            )
        role = (
            "panelist" if kind == "panel" else "organizer" if kind in ("tutorial", "workshop") else "speaker"
        )
        roles = tuple(
            RoleRecord(where=where, person=one, role=role, affiliation=self._affiliation(row))
            for one in people
        )
        for number, time in enumerate(times, start=1):
            own = uid if number == 1 else slug_of(uid, str(number))
            self._session(own, title, time, where, kind, roles=roles, abstract=scalar(row.get("abstract")))

    def _people(self, row: dict[str, Any], where: Where) -> list[PersonRef]:
        names = next(
            (
                row[name]
                for name in ("presenter", "speaker", "speakers", "organizers", "authors")
                if row.get(name)
            ),
            "",
        )
        found = [PersonRef(where=where, name=name) for name in names_in(names)]
        biography = scalar(row.get("bio")).strip()
        if biography and len(found) == 1:
            record = PersonRecord(where=where, ref=found[0], biography=biography)
            self.people.setdefault(found[0].name, record)
        return found

    def _affiliation(self, row: dict[str, Any]) -> str:
        return tidy(scalar(row.get("institution")) or scalar(row.get("affiliation")))

    # All of them

    def _session(
        self, uid: str, title: str, row: dict[str, Any], where: Where, kind: str, **more: Any
    ) -> SessionRecord | None:
        start, end = self._moment(row, STARTS, where), self._moment(row, ENDS, where)
        if start is None or end is None:
            return None
        session = SessionRecord(
            where=where, uid=uid, kind=kind, title=title, start=start, end=end, status="published", **more
        )
        key = uid if uid not in self.sessions else f"{uid} {where}"
        self.sessions[key] = session
        return session

    def _moment(self, row: dict[str, Any], names: Iterable[str], where: Where) -> datetime | None:
        text = _time(row, names)
        found = OFFSET.search(text)
        if found and found[2] != "Z":
            sign = found[2].replace(":", "")
            text = f"{text[: found.start()]}{found[1]}{sign[:3]}:{sign[3:] or '00'}"
        elif text and not found:
            self._assumed[where.file] = self._assumed.get(where.file, 0) + 1
        try:
            return moment(text, self.zone)
        except UnfitError as error:
            self.findings.problem(where, next(iter(names)), str(error))
            return None

    def _put(self, presentation: PresentationRecord) -> None:
        key = presentation.uid
        self.presentations[key if key not in self.presentations else f"{key} {presentation.where}"] = (
            presentation
        )

    def finish(self) -> None:
        """Take of the calendars what no other file told, and say what had to be assumed or left out."""
        starts = {(slug(str(one.title)), one.start) for one in self.sessions.values()}
        has_days = any(scalar(row.get("view")) == "day" for row, _ in self._calendar)
        for row, where in self._calendar:
            title, link = without_tags(scalar(row["title"])), scalar(row.get("link"))
            is_told = any(is_stated(one.title) and one.uid in link for one in self.sessions.values())
            if is_told or (has_days and scalar(row.get("view")) == "week"):
                continue
            start = self._moment(row, STARTS, where)
            if start is None or (slug(title), start) in starts:
                continue
            starts.add((slug(title), start))
            uid = slug(f"{title} {start:%Y-%m-%d %H%M}")
            self._session(uid, title, row, where, kind_of(f"{title} {scalar(row.get('type'))}", "other"))
        for file, count in self._assumed.items():
            message = gettext("%(count)s times name no zone; they were taken as times in %(zone)s.")
            self.findings.note("doubt", Where(file), message % {"count": count, "zone": self.zone.key})
        if self.unknown:
            message = gettext("Left out because no table holds the paper: %(count)s appearances (%(keys)s).")
            told = {"count": len(self.unknown), "keys": listed(self.unknown)}
            self.findings.note("warning", Where(), message % told)


def _time(row: dict[str, Any], names: Iterable[str]) -> str:
    return next((scalar(row.get(name)).strip() for name in names if scalar(row.get(name))), "")


def slug_of(first: str, second: str) -> str:
    """Return a uid made of two, as they are where they can be one together."""
    return uid_of(f"{first}.{second}")
