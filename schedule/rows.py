"""The talks of sessions as plain values: what their lines show. Why plain values: see `papers.rows`.

`schedule.talkrows` reads them.
"""

from datetime import datetime
from typing import NamedTuple

import markup
from conference.summaries import EditionSummary
from content.page_paths import path_of
from papers.rows import Appearing, PaperRow
from people.rows import PersonLink
from schedule.cancellation import Status
from schedule.presentation import Presentation


class TalkRoom(NamedTuple):
    """A room of a talk's own."""

    pk: int
    slug: str
    name: str


class ParentSession(NamedTuple):
    """The session of a talk, as far as the talk's row depends on it."""

    uid: str
    title: str
    edition: EditionSummary
    kind: str
    start: datetime
    room_id: int | None
    cancelled: bool

    def get_absolute_url(self) -> str:
        return path_of("schedule:session", self.edition.slug, self.uid, markup.slug(self.title))


class _Talk(NamedTuple):
    uid: str
    kind: str
    title: str
    title_html: str
    start: datetime | None
    end: datetime | None
    board: str
    position: int
    status: str
    cancellation_reason: str
    recording_url: str
    room: TalkRoom | None
    session: ParentSession
    moved_from: datetime | None
    abstract_html: str
    paper: PaperRow | None
    shown_speakers: tuple[PersonLink, ...]


class TalkRow(Appearing, _Talk):
    """A presentation as a line shows it. `moved_from` is when it was announced before the current release.

    Its abstract is empty unless it was fetched.
    """

    __slots__ = ()

    def get_absolute_url(self) -> str:
        return (self.paper or self.session).get_absolute_url()

    @property
    def get_kind_display(self) -> str:
        """The kind in words."""
        return str(Presentation.Kind(self.kind).label)

    @property
    def cancelled(self) -> bool:
        """Whether it, or its session, stays in the program only to say that it does not happen."""
        return self.status == Status.CANCELLED or self.session.cancelled

    @property
    def starts(self) -> datetime:
        """Its own start, else its session's."""
        return self.start or self.session.start

    @property
    def room_id(self) -> int | None:
        """The key of its own room."""
        return self.room.pk if self.room else None
