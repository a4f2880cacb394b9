"""Agendas kept here on a visitor's wish: found by their secret, merged with what a browser holds, deleted.

How an agenda is shown does not belong here.
"""

import secrets
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.crypto import constant_time_compare

from conference.models import Edition
from schedule.agenda.agenda_view import star_of
from schedule.agenda.stars import MAX_STARS, Star, dated, later
from schedule.following import MINUTE, Agenda, AgendaStar
from schedule.models import Room

NEW_A_MINUTE = 600


class TooOftenError(Exception):
    """More was asked for within a minute than anybody needs."""


class TooManyError(Exception):
    """With these stars the agenda would hold more than it may."""


@dataclass(frozen=True, slots=True)
class SavedAgenda:
    """An agenda that a secret opened: `token` lets change it, `reading_token` shows it and no more."""

    agenda: Agenda
    token: str
    reading_token: str

    @property
    def is_writable(self) -> bool:
        return bool(self.token)

    def stars(self) -> list[Star]:
        """Return what was starred, and what was taken away again. One query."""
        rows = self.agenda.stars.select_related("session", "presentation")
        return [row.star for row in rows]


def opened(edition: Edition, token: str) -> SavedAgenda | None:
    """Return the agenda that a secret opens, if there is one. One query."""
    reading = Agenda.reading_token(token)
    digests = Agenda.digest(token), Agenda.digest(reading)
    agenda = Agenda.objects.filter(edition=edition, token_digest__in=digests).first()
    if agenda is None:
        return None
    if constant_time_compare(agenda.token_digest, digests[1]):
        return SavedAgenda(agenda, token, reading)
    return SavedAgenda(agenda, "", token)


def keep(edition: Edition, at: datetime) -> SavedAgenda:
    """Make an agenda under a fresh secret."""
    recent = Agenda.objects.filter(created_at__gt=at - MINUTE).order_by()[:NEW_A_MINUTE]
    if recent.count() >= NEW_A_MINUTE:
        raise TooOftenError
    token = secrets.token_urlsafe(24)
    reading = Agenda.reading_token(token)
    fields = {"created_at": at, "changed_at": at, "writes_since": at}
    agenda = Agenda.objects.create(edition=edition, token_digest=Agenda.digest(reading), **fields)
    return SavedAgenda(agenda, token, reading)


@transaction.atomic
def merge(kept: SavedAgenda, stars: Iterable[Star], at: datetime) -> None:
    """Take the later word on each public thing; nothing is lost, whoever else writes."""
    agenda = Agenda.objects.select_for_update().get(pk=kept.agenda.pk)
    admitted = agenda.admits_writing(at)
    if not admitted:
        raise TooOftenError
    rows = {row.star.key: row for row in agenda.stars.select_related("session", "presentation")}
    told = {star.key: dated(star, at) for star in stars}
    news = {key: star for key, star in told.items() if key not in rows or later(star, rows[key].star)}
    fresh = [_row(agenda, *pair) for pair in _known(agenda.edition, news, rows.keys())]
    changed = [rows[key] for key in news if key in rows]
    for row in changed:
        row.take(news[row.star.key])
    if sum(row.removed_at is None for row in (*rows.values(), *fresh)) > MAX_STARS:
        raise TooManyError
    _mend_rooms(agenda.edition, [*fresh, *changed])
    AgendaStar.objects.bulk_create(fresh)
    if changed:
        fields = ["starred_at", "removed_at", "seen_start", "seen_room"]
        AgendaStar.objects.bulk_update(changed, fields)
    if fresh or changed:
        agenda.changed_at = at
    agenda.save(update_fields=["changed_at", "writes", "writes_since"])


def _known(edition: Edition, news: dict[str, Star], old: Iterable[str]) -> list[tuple[Star, object]]:
    """Return the new stars whose things are public, with these; what has no row needs none to be removed."""
    wanted = [star for key, star in news.items() if key not in set(old) and not star.removed]
    uids = {kind: [star.uid for star in wanted if star.kind == kind] for kind in "sp"}
    things = [
        *(edition.sessions.published().filter(uid__in=uids["s"]) if uids["s"] else ()),
        *(
            edition.presentations.published().filter(uid__in=uids["p"]).select_related("session")
            if uids["p"]
            else ()
        ),
    ]
    by_key = {star_of(thing).key: thing for thing in things}
    return [(star, by_key[star.key]) for star in wanted if star.key in by_key]


def _row(agenda: Agenda, star: Star, thing: Any) -> AgendaStar:
    now = star_of(thing)
    row = AgendaStar(agenda=agenda, **{"session" if star.kind == "s" else "presentation": thing})
    row.take(replace(star, seen=star.seen or now.seen))
    return row


def _mend_rooms(edition: Edition, rows: list[AgendaStar]) -> None:
    """Forget rooms that are none of the edition's: they came from outside."""
    seen = {row.seen_room_id for row in rows if row.seen_room_id}
    rooms = (
        set(Room.objects.filter(edition=edition, pk__in=seen).values_list("pk", flat=True)) if seen else set()
    )
    for row in rows:
        if row.seen_room_id not in rooms:
            row.seen_room_id = None
