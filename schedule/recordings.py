"""What can be watched afterwards: sessions, presentations and papers' videos, each thing once, by day."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date, datetime

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from conference.models import Edition
from papers.models import Material, Paper
from schedule.models import Presentation, Session

# The words of the link to what was recorded of each kind of presentation.
WATCH = {
    "oral": _("Watch the oral"),
    "spotlight": _("Watch the spotlight"),
    "poster": _("Watch the poster"),
    "talk": _("Watch the talk"),
    "demo": _("Watch the demo"),
}


@dataclass(slots=True)
class Recording:
    """A thing that was recorded, and where to watch it: (label, address) pairs."""

    kind: str
    thing: Session | Presentation | Paper
    start: datetime | None
    watch: list[tuple[str, str]] = field(default_factory=list)

    @property
    def title_html(self) -> str:
        return self.thing.shown_title_html if isinstance(self.thing, Presentation) else self.thing.title_html

    @property
    def is_session(self) -> bool:
        return isinstance(self.thing, Session)

    @property
    def paper(self) -> Paper | None:
        if isinstance(self.thing, Presentation):
            return self.thing.paper
        return self.thing if isinstance(self.thing, Paper) else None

    def add(self, label: str, url: str) -> None:
        """Take an address, once: the recording of a talk and the paper's video are often the same."""
        if url and url not in {known for _, known in self.watch}:
            self.watch.append((label, url))


def recordings_by_day(edition: Edition, at: datetime) -> list[tuple[date | None, list[Recording]]]:
    """Return the recordings of each program day by time; what has no time comes last, under `None`."""
    found = [*_of_sessions(edition, at), *_of_papers_and_talks(edition, at)]
    groups: dict[date | None, list[Recording]] = {}
    for recording in sorted(found, key=lambda one: (one.start is None, one.start, not one.is_session)):
        day = edition.day_of(recording.start) if recording.start else None
        groups.setdefault(day, []).append(recording)
    return list(groups.items())


def _of_sessions(edition: Edition, at: datetime) -> Iterator[Recording]:
    for session in edition.sessions.published(at).recorded().for_timetable(at):
        watch = [(gettext("Watch"), session.recording_url)]
        yield Recording(session.get_kind_display(), session, session.start, watch)


def _of_papers_and_talks(edition: Edition, at: datetime) -> Iterable[Recording]:
    """A paper shown twice is listed once, at its first time, with all that there is to watch."""
    talks = edition.presentations.published(at).recorded(at).with_session().by_time()
    found: dict[tuple[str, int], Recording] = {}
    for talk in talks.with_credits(at):
        key = ("paper", talk.paper_id) if talk.paper_id else ("talk", talk.pk)
        recording = found.setdefault(key, Recording(talk.get_kind_display(), talk, talk.starts))
        recording.add(str(WATCH[talk.counts_as]), talk.recording_url)
    videos = Material.objects.published(at).filter(kind="video", paper__edition=edition)
    papers = edition.papers.published(at).filter(pk__in=videos.values("paper")).with_authors(at).by_title()
    by_paper = videos.order_by("position", "pk").grouped("paper_id")
    for paper in papers.prefetch_related("edition"):
        recording = found.setdefault(("paper", paper.pk), Recording(gettext("Paper"), paper, None))
        for video in by_paper.get(paper.pk, []):
            recording.add(video.label or gettext("Watch the video"), video.href)
    return found.values()
