"""The changes of a program as a feed: one entry per release."""

from datetime import datetime
from typing import Any

from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import pgettext_lazy

from conference.feeds import MAX_ENTRIES, EditionFeed, absolute, writable
from conference.models import Edition
from schedule.releases.release_view import ReleaseView, release_view


class ChangesFeed(EditionFeed):
    """What changed, newest release first."""

    name = pgettext_lazy("name of a feed", "changes of the program")

    def path(self, edition: Edition) -> str:
        return reverse("schedule:changes_feed", args=[edition.slug])

    def link(self, edition: Edition) -> str:
        return absolute(reverse("schedule:changes", args=[edition.slug]))

    def items(self, edition: Edition) -> list[ReleaseView]:
        releases = release_view(edition, timezone.now(), MAX_ENTRIES)
        for one in releases:
            one.release.edition = edition
        return releases

    def item_title(self, item: Any) -> str:
        return writable(str(item.release))

    def item_link(self, item: ReleaseView) -> str:
        return absolute(item.release.get_absolute_url())

    item_guid = item_link

    def item_description(self, item: Any) -> str:
        context = {"told": item, "edition": item.release.edition, "site": absolute("")}
        return writable(render_to_string("schedule/_release.html", context))

    def item_pubdate(self, item: ReleaseView) -> datetime:
        return item.release.published_at

    item_updateddate = item_pubdate
