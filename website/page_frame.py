"""What the head of a page holds that brings none of its own: the card of the edition, the feeds."""

from django.urls import reverse
from django.utils.translation import gettext as _

from conference.models import Edition
from conference.page_metadata import Card, Head, HeadLink, edition_head, open_graph
from content.preview_context import GATES
from content.querysets import public_parts

ATOM = "application/atom+xml"


def edition_card(edition: Edition) -> Card:
    """Return the card that stands for an edition, and for what has none of its own."""
    words = ", ".join(filter(None, (edition.name, edition.date_line, edition.place_line)))
    return Card(reverse("website:card", args=[edition.slug]), words)


def default_head(edition: Edition | None) -> Head:
    """Return the head of any page of an edition, or of the whole site."""
    return Head(tags=open_graph("website", "", edition_card(edition) if edition else None))


def home_head(edition: Edition) -> Head:
    """Return the head of an edition's home. No query."""
    has_schedule = public_parts(edition)[GATES.index("schedule_public_from")]
    schedule = reverse("schedule:index", args=[edition.slug]) if has_schedule else ""
    return edition_head(edition, edition_card(edition), (), schedule)


def feeds(edition: Edition | None) -> list[HeadLink]:
    """Return the feeds that readers are offered on every page."""
    if edition is None:
        return []
    offered = {
        "website:announcements_feed": _("%(name)s: announcements"),
        "schedule:changes_feed": _("%(name)s: changes of the program"),
        "website:papers_feed": _("%(name)s: papers"),
    }
    return [
        HeadLink("alternate", reverse(name, args=[edition.slug]), ATOM, words % {"name": edition.name})
        for name, words in offered.items()
    ]
