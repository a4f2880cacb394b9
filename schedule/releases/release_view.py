"""Releases as their page and feed show them: each change with the thing as it is public now."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

import markup
from conference.feeds import MAX_ENTRIES, EditionFeed, writable
from conference.models import Edition
from conference.page_metadata import absolute
from schedule.models import Release, Session
from schedule.releases.changes import ProgramChange

# Kinds of things that are gone, or have no kind of their own.
WHAT = {"session": _("Session"), "presentation": _("Presentation"), "paper": _("Paper")}
# What a line of a change never shows of a thing.
UNSHOWN = ("abstract", "abstract_html")


@dataclass(frozen=True, slots=True)
class ReleaseLine:
    """One change; `thing` is None for what is gone."""

    change: ProgramChange
    thing: Any

    @property
    def title_html(self) -> str:
        if self.thing is None:
            return markup.inline(self.change.title)
        return str(getattr(self.thing, "shown_title_html", self.thing.title_html))

    @property
    def url(self) -> str:
        return self.thing.get_absolute_url() if self.thing else ""

    @property
    def what(self) -> str:
        """The kind of thing in words, as far as it is known."""
        kind = self.change.key.partition(":")[0]
        display = getattr(self.thing, "get_kind_display", None)
        return display() if display else str(WHAT[kind])

    @property
    def note_html(self) -> str:
        return markup.inline(self.change.note)

    @property
    def reason(self) -> str:
        """Why it is cancelled, while it is."""
        return self.thing.why_cancelled if self.thing and self.change.kind == "cancelled" else ""


def release_view(edition: Edition, at: datetime, newest: int | None = None) -> list[Release]:
    """Return the published releases with their `shown_lines`, newest first. Four queries.

    A change of a thing that is no longer public is shown only if a release said so: a withdrawn paper may be
    named, one that went back to being a draft may not.
    """
    releases = list(edition.releases.published(at).newest_first())
    changes = {release.pk: [ProgramChange.read(row) for row in release.changes] for release in releases}
    last = {change.key: change.kind for one in reversed(releases) for change in changes[one.pk]}
    gone = {key for key, kind in last.items() if kind == "withdrawn"}
    shown = releases[:newest]
    things = _public_things({change.key for release in shown for change in changes[release.pk]}, edition, at)
    for release in shown:
        release.shown_lines = [
            ReleaseLine(change, things.get(change.key))
            for change in changes[release.pk]
            if change.key in things or change.key in gone
        ]
    return shown


def _public_things(keys: set[str], edition: Edition, at: datetime) -> dict[str, Any]:
    """Return the things that are public, by key. Three queries."""
    rows: dict[str, Any] = {
        "session": edition.sessions.select_related("parent").defer(*UNSHOWN),
        "paper": edition.papers.defer(*UNSHOWN),
        "presentation": edition.presentations.with_session()
        .select_related("paper__edition")
        .defer(*UNSHOWN, *(f"paper__{name}" for name in UNSHOWN)),
    }
    found: dict[str, Any] = {}
    for kind, things in rows.items():
        uids = [key.partition(":")[2] for key in keys if key.startswith(f"{kind}:")]
        found |= {f"{kind}:{thing.uid}": thing for thing in things.published(at).filter(uid__in=uids)}
    return found


def moved_times(edition: Edition, at: datetime) -> dict[str, datetime]:
    """Return when what the current release moved was announced before, by key. One query."""
    release = edition.releases.published(at).newest_first().first()
    changes = [ProgramChange.read(row) for row in release.changes] if release else []
    return {
        change.key: change.before.start
        for change in changes
        if change.kind == "moved" and change.before and change.before.start
    }


def mark_moved(sessions: Iterable[Session], moves: Mapping[str, datetime], at: datetime) -> list[Session]:
    """Return the sessions with what pages mark: whether they go on, when they were announced for before."""
    rows = list(sessions)
    for session in rows:
        session.on_now = session.start <= at < session.end
        session.moved_from = moves.get(f"session:{session.uid}")
    return rows


class ChangesFeed(EditionFeed):
    name = pgettext_lazy("name of a feed", "changes of the program")

    def path(self, edition: Edition) -> str:
        return reverse("schedule:changes_feed", args=[edition.slug])

    def link(self, edition: Edition) -> str:
        return absolute(reverse("schedule:changes", args=[edition.slug]))

    def items(self, edition: Edition) -> list[Release]:
        return release_view(edition, timezone.now(), MAX_ENTRIES)

    def item_title(self, item: Any) -> str:
        return writable(str(item))

    def item_link(self, item: Release) -> str:
        return absolute(item.get_absolute_url())

    item_guid = item_link

    def item_description(self, item: Any) -> str:
        context = {"release": item, "edition": item.edition, "site": absolute("")}
        return writable(render_to_string("schedule/_release.html", context))

    def item_pubdate(self, item: Release) -> datetime:
        return item.published_at

    item_updateddate = item_pubdate
