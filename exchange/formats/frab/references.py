"""What events say beside time and place, out of a program by its keys: people, links, track."""

from collections.abc import Iterator
from dataclasses import dataclass

from exchange.files import Context
from exchange.formats.frab import identity
from exchange.formats.frab.wording import MATERIALS, NO_ROOM, line, material_name
from exchange.records import PaperRecord, PersonRef, PresentationRecord, Program, SessionRecord, stated


@dataclass(frozen=True, slots=True)
class PersonElement:
    id: int
    guid: str
    name: str
    url: str


@dataclass(frozen=True, slots=True)
class LinkElement:
    """`type` is one of the words that the format allows."""

    title: str
    url: str
    type: str
    is_attachment: bool = False


class References:
    """A program by its keys."""

    def __init__(self, program: Program, context: Context) -> None:
        self.site = identity.site_of(context)
        self.host = identity.host_of(self.site)
        self.sessions = {session.uid: session for session in program.sessions}
        self.papers = {paper.uid: paper for paper in program.papers}
        self.topics = {topic.slug: line(stated(topic.name, "") or topic.slug) for topic in program.topics}
        self.rooms = {room.slug: line(stated(room.name, "")) or room.slug for room in program.rooms}
        self.ids = {person.ref.uid: person.ref.ids for person in program.people if person.ref.uid}
        self.inside: dict[str, list[PresentationRecord]] = {}
        for shown in program.presentations:
            self.inside.setdefault(stated(shown.session, None) or "", []).append(shown)

    def room(self, slug: str | None) -> str:
        return self.rooms.get(slug, line(slug)) if slug else NO_ROOM

    def person(self, ref: PersonRef) -> PersonElement:
        ids = dict(self.ids.get(ref.uid, ()) or ref.ids)
        guid = identity.made(f"{self.site}/people/{ref.uid or ref.name}")
        own = ids.get(self.host, "")
        number = int(own) if own.isascii() and own.isdecimal() and len(own) < 11 else 0
        url = f"{self.site}/people/{ref.uid}/" if ref.uid else ""
        return PersonElement(number or identity.number_of(guid), guid, line(ref.name), url)

    def title(self, shown: PresentationRecord) -> str:
        paper = self.paper(shown)
        return stated(shown.title, "") or (stated(paper.title, "") if paper else "")

    def abstract(self, shown: PresentationRecord, paper: PaperRecord | None) -> str:
        return stated(shown.abstract, "") or (stated(paper.abstract, "") if paper else "")

    def paper(self, shown: PresentationRecord) -> PaperRecord | None:
        return self.papers.get(stated(shown.paper, None) or "")

    def parent(self, session: SessionRecord) -> SessionRecord | None:
        return self.sessions.get(stated(session.parent, None) or "")

    def track(self, paper: PaperRecord | None) -> str:
        if paper is None:
            return ""
        return self.topics.get(stated(paper.topic, None) or "") or line(stated(paper.track, ""))

    def people(self, shown: PresentationRecord, paper: PaperRecord | None) -> list[PersonRef]:
        """Return who speaks: the speakers, else the authors that present it, else all authors."""
        speakers = [speaker.person for speaker in stated(shown.speakers, ())]
        authors = stated(paper.authors, ()) if paper else ()
        presenting = [author.person for author in authors if author.presenting]
        return speakers or presenting or [author.person for author in authors]

    def links(self, shown: PresentationRecord, paper: PaperRecord | None) -> list[LinkElement]:
        recording = stated(shown.recording_url, "")
        found = [LinkElement("Recording", recording, "media")] if identity.is_web(recording) else []
        for material in stated(paper.materials, ()) if paper else ():
            if material.visible and identity.is_web(material.url):
                spelled = MATERIALS.get(material.kind, MATERIALS["other"])
                found.append(LinkElement(material_name(material), line(material.url), *spelled))
        return found


def session_links(session: SessionRecord) -> Iterator[LinkElement]:
    for title, url, kind in (
        ("Stream", stated(session.stream_url, ""), "media"),
        ("Recording", stated(session.recording_url, ""), "media"),
        ("Chat", stated(session.chat_url, ""), "related"),
    ):
        if identity.is_web(url):
            yield LinkElement(title, line(url), kind)
