"""Agendas kept here on a visitor's wish: found by their secret, merged with what a browser holds, deleted.

How an agenda is shown does not belong here.
"""

import secrets
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime

from django.db import transaction
from django.utils.crypto import constant_time_compare

from conference.models import Edition
from schedule.agenda.agenda_view import star_of
from schedule.agenda.stars import KINDS, MAX_STARS, Star, dated, later
from schedule.following import MINUTE, Agenda, AgendaStar

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
        return [row.star for row in self.agenda.stars.select_related("session", "presentation")]


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
    # It is put into a link and never stored.
    token = secrets.token_urlsafe(24)
    reading = Agenda.reading_token(token)
    moments = {"created_at": at, "changed_at": at, "writes_since": at}
    agenda = Agenda.objects.create(edition=edition, token_digest=Agenda.digest(reading), **moments)
    return SavedAgenda(agenda, token, reading)


@transaction.atomic
def merge(kept: SavedAgenda, stars: Iterable[Star], at: datetime) -> None:
    """Take the later word on each public thing; nothing is lost, whoever else writes."""
    agenda = Agenda.objects.select_for_update().get(pk=kept.agenda.pk)
    if not agenda.admits_writing(at):
        raise TooOftenError
    rows = {row.star.key: row for row in agenda.stars.select_related("session", "presentation")}
    sent = {star.key: dated(star, at) for star in stars}
    news = {key: star for key, star in sent.items() if key not in rows or later(star, rows[key].star)}
    # What has no row needs none to be removed.
    fresh = _rows(agenda, [star for key, star in news.items() if key not in rows and not star.removed])
    changed = [rows[key] for key in news if key in rows]
    for row in changed:
        row.take(news[row.star.key])
    if sum(row.removed_at is None for row in (*rows.values(), *fresh)) > MAX_STARS:
        raise TooManyError
    # Keys of rooms come from outside.
    seen = [row.seen_room_id for row in (*fresh, *changed)]
    rooms = {*agenda.edition.rooms.filter(pk__in=seen).values_list("pk", flat=True)}
    for row in (*fresh, *changed):
        if row.seen_room_id not in rooms:
            row.seen_room_id = None
    AgendaStar.objects.bulk_create(fresh)
    fields = ["starred_at", "removed_at", "seen_start", "seen_room"]
    AgendaStar.objects.bulk_update(changed, fields)
    if fresh or changed:
        agenda.changed_at = at
    agenda.save(update_fields=["changed_at", "writes", "writes_since"])


def _rows(agenda: Agenda, stars: list[Star]) -> list[AgendaStar]:
    """Return new rows for those of these stars whose things are public."""
    uids = {kind: [star.uid for star in stars if star.kind == kind] for kind in "sp"}
    sessions = agenda.edition.sessions.published().filter(uid__in=uids["s"])
    talks = agenda.edition.presentations.published().filter(uid__in=uids["p"]).select_related("session")
    by_key = {star_of(thing).key: thing for thing in (*sessions, *talks)}
    rows = []
    for star in stars:
        if thing := by_key.get(star.key):
            row = AgendaStar(agenda=agenda, **{KINDS[star.kind]: thing})
            row.take(replace(star, seen=star.seen or star_of(thing).seen))
            rows.append(row)
    return rows
