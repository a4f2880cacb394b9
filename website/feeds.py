"""The news of an edition as a feed."""

from datetime import datetime
from typing import Any

from django.urls import reverse
from django.utils.translation import pgettext_lazy

from conference.feeds import NEWEST, EditionFeed, absolute, writable
from conference.models import Announcement, Edition


class AnnouncementsFeed(EditionFeed):
    """Announcements, newest first, whether pinned or not."""

    name = pgettext_lazy("name of a feed", "announcements")

    def path(self, edition: Edition) -> str:
        return reverse("website:announcements_feed", args=[edition.slug])

    def items(self, edition: Edition) -> list[Announcement]:
        rows = list(edition.announcements.published().order_by("-published_at", "uid")[:NEWEST])
        for row in rows:
            row.edition = edition
        return rows

    def item_title(self, item: Any) -> str:
        return writable(item.title)

    def item_link(self, item: Announcement) -> str:
        return absolute(f"{item.edition.get_absolute_url()}#news-{item.uid}")

    item_guid = item_link

    def item_description(self, item: Any) -> str:
        return writable(item.text_html)

    def item_pubdate(self, item: Announcement) -> datetime:
        return item.published_at

    item_updateddate = item_pubdate
