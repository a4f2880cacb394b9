"""People as calendars and apps print them: roles, speakers, authors of given rows, without hidden names."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Any

from content.array_lookup import Among, Keys
from exchange.records import AuthorRecord, PersonRef, RoleRecord, SpeakerRecord
from papers.models import Authorship
from people.models import PersonName
from people.printed_names import HiddenNames
from schedule.models import SessionRole, Speaker

PERSON = ("person_id", "person__uid", "person__name", "name")
# Rows by the key of what they belong to; their last columns are those of `PERSON`.
type Rows = dict[int, list[Sequence[Any]]]


class PrintedNames:
    """Who stands beside sessions, presentations and papers, each in order. Four questions at most."""

    def __init__(
        self,
        at: datetime,
        *,
        sessions: Collection[int] = (),
        presentations: Collection[int] = (),
        papers: Collection[int] = (),
    ) -> None:
        """Read the roles in sessions, the speakers of presentations and the authors of papers."""
        self._roles = _by_owner(_roles, sessions, at)
        self._speakers = _by_owner(_speakers, presentations, at)
        self._authors = _by_owner(_authors, papers, at)
        groups = (self._roles, self._speakers, self._authors)
        rows = [row for group in groups for own in group.values() for row in own]
        self.keys = Keys({row[-len(PERSON)] for row in rows})
        self._hidden = HiddenNames(_hidden(self.keys))
        # Who stands beside many rows is one record.
        self._refs: dict[tuple[int, str], PersonRef] = {}

    def roles(self, session: int) -> tuple[RoleRecord, ...]:
        rows = self._roles.get(session, ())
        return tuple(RoleRecord(person=self._ref(person), role=role) for role, *person in rows)

    def speakers(self, presentation: int) -> tuple[SpeakerRecord, ...]:
        return tuple(SpeakerRecord(person=self._ref(row)) for row in self._speakers.get(presentation, ()))

    def authors(self, paper: int) -> tuple[AuthorRecord, ...]:
        rows = self._authors.get(paper, ())
        return tuple(
            AuthorRecord(person=self._ref(person), presenting=presenting) for presenting, *person in rows
        )

    def _ref(self, person: Iterable[Any]) -> PersonRef:
        """Return somebody under the printed name, unless that is hidden by now."""
        key, uid, known_as, name = person
        known = self._refs.get((key, name))
        if known is None:
            known = PersonRef(name=self._hidden.shown(key, name, known_as), uid=uid)
            self._refs[key, name] = known
        return known


def _by_owner(rows: Any, owners: Collection[int], at: datetime) -> Rows:
    found: Rows = defaultdict(list)
    for owner, *row in rows(Keys(owners), at):
        found[owner].append(row)
    return found


def _roles(sessions: Keys, at: datetime) -> Any:
    rows = SessionRole.objects.published(at).filter(Among("session_id", sessions))
    return rows.order_by("session_id", "position", "pk").values_list("session_id", "role", *PERSON)


def _speakers(presentations: Keys, at: datetime) -> Any:
    rows = Speaker.objects.published(at).filter(Among("presentation_id", presentations))
    return rows.order_by("presentation_id", "position", "pk").values_list("presentation_id", *PERSON)


def _authors(papers: Keys, at: datetime) -> Any:
    rows = Authorship.objects.published(at).filter(Among("paper_id", papers))
    return rows.order_by("paper_id", "position", "pk").values_list("paper_id", "presenting", *PERSON)


def _hidden(people: Keys) -> Any:
    return PersonName.objects.filter(Among("person_id", people), hidden=True).values_list("person_id", "name")
