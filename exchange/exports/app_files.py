"""The program as conference apps take it: of posters without a time of their own no more than titles."""

from collections import Counter
from dataclasses import replace

from django.db.models import Q
from django.utils import timezone

from conference.models import Edition
from content.array_lookup import Among
from exchange.exports.dump import dump
from exchange.records import PaperRecord, PresentationRecord, Program, is_stated

LISTED = ("paper", "session", "start", "title", "board", "status")
EVENT = (*LISTED, "kind", "abstract", "end", "room", "cancellation_reason", "recording_url", "speakers")
PAPER = ("title", "abstract", "track", "topic", "authors", "materials")


def app_program(edition: Edition) -> Program:
    """Return all that such a file says of an edition: what is listed, and in full what is an event."""
    at = timezone.now()
    listed = dump(
        edition,
        at=at,
        only=dict.fromkeys(("topic", "room", "paper", "presentation"), Q()),
        fields={"paper": ("title",), "presentation": LISTED},
        people=False,
    )
    events = _events(listed.presentations)
    whole = dump(
        edition,
        at=at,
        only={
            "session": Q(),
            "paper": Q(Among("uid", {one.paper for one in events if is_stated(one.paper) and one.paper})),
            "presentation": Q(Among("uid", [one.uid for one in events])),
        },
        fields={"paper": PAPER, "presentation": EVENT},
    )
    return replace(
        whole,
        topics=listed.topics,
        rooms=listed.rooms,
        papers=_replaced(listed.papers, whole.papers),
        presentations=_replaced(listed.presentations, whole.presentations),
    )


def _events(shown: tuple[PresentationRecord, ...]) -> list[PresentationRecord]:
    """Return what may be an event: presentations with a time of their own, or alone in their session."""
    sizes = Counter(one.session for one in shown)
    return [one for one in shown if one.start or (one.session and sizes[one.session] == 1)]


def _replaced[R: (PaperRecord, PresentationRecord)](
    rows: tuple[R, ...], others: tuple[R, ...]
) -> tuple[R, ...]:
    """Return rows in their order, each replaced by the one of the others that has its uid."""
    known = {one.uid: one for one in others}
    return tuple(known.get(one.uid, one) for one in rows)
