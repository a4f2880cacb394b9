"""The records of a program by their keys, and what an appearance takes from its paper and its sessions."""

from exchange.records import PaperRecord, PresentationRecord, Program, SessionRecord, stated

CANCELLED = "cancelled"
type Appearance = SessionRecord | PresentationRecord | None


class Lookup:
    """Answers by key; what has no record is None or empty."""

    def __init__(self, program: Program) -> None:
        self.sessions = {session.uid: session for session in program.sessions}
        self.papers = {paper.uid: paper for paper in program.papers}
        self.rooms = {room.slug: room for room in program.rooms}

    def paper(self, shown: PresentationRecord | None) -> PaperRecord | None:
        return self.papers.get(stated(shown.paper, None) or "") if shown else None

    def session(self, shown: PresentationRecord) -> SessionRecord | None:
        return self.sessions.get(stated(shown.session, None) or "")

    def parent(self, session: SessionRecord | None) -> SessionRecord | None:
        return self.sessions.get(stated(session.parent, None) or "") if session else None

    def title(self, shown: PresentationRecord) -> str:
        paper = self.paper(shown)
        return stated(shown.title, "") or (stated(paper.title, "") if paper else "")

    def abstract(self, shown: PresentationRecord) -> str:
        paper = self.paper(shown)
        return stated(shown.abstract, "") or (stated(paper.abstract, "") if paper else "")


def is_cancelled(*rows: Appearance) -> bool:
    return any(row.status == CANCELLED for row in rows if row)


def reason_of(*rows: Appearance) -> str:
    """Return the words of the smallest part that was called off and says why."""
    said = (stated(row.cancellation_reason, "") for row in rows if row and row.status == CANCELLED)
    return next(filter(None, said), "")
