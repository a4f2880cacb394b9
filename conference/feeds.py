"""Base classes of the Atom feeds of an edition. Their output is the same until something changes."""

import re
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.contrib.syndication.views import Feed
from django.http import Http404, HttpRequest
from django.urls import reverse
from django.utils.feedgenerator import Atom1Feed
from django.utils.xmlutils import SimplerXMLGenerator

from conference.models import Edition
from conference.page_metadata import absolute
from conference.request_edition import addressed_edition

if TYPE_CHECKING:
    from django_stubs_ext import StrPromise

# Characters that XML does not allow.
UNWRITABLE = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# The number of rows in a feed, the newest first.
MAX_ENTRIES = 50


def writable(text: str) -> str:
    return UNWRITABLE.sub("", text)


class AtomFeed(Atom1Feed):
    """Atom feed with the date of its newest entry; if it has none, when its edition became public."""

    def latest_post_date(self) -> datetime:
        dates = [item["updateddate"] for item in self.items]
        latest: datetime = max(dates, default=self.feed["empty_since"])
        return latest

    def add_root_elements(self, handler: SimplerXMLGenerator) -> None:
        super().add_root_elements(handler)
        handler.addQuickElement("generator", "Plenary")


class EditionFeed(Feed[Any, Edition]):
    """A feed of an edition.

    Subclasses define `view` (a URL name), `name` or `title`, `items` and fields of entries.
    """

    feed_type = AtomFeed
    view: str
    name: "str | StrPromise" = ""

    def get_object(self, request: HttpRequest, *args: object, **kwargs: object) -> Edition:
        edition = addressed_edition(request)
        if edition is None or edition.slug != kwargs["edition"]:
            raise Http404("No such edition.")
        return edition

    def feed_url(self, edition: Edition) -> str:
        return absolute(reverse(self.view, args=[edition.slug]))

    def title(self, edition: Edition) -> str:
        return f"{edition.name}: {self.name}"

    def link(self, edition: Edition) -> str:
        return absolute(edition.get_absolute_url())

    def author_name(self, edition: Edition) -> str:
        return str(edition.name)

    def feed_extra_kwargs(self, edition: Edition) -> dict[str, object]:
        return {"empty_since": edition.public_from}
