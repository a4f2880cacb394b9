"""Feeds: the news of an edition, its papers, and the papers that a search finds."""

from datetime import datetime
from urllib.parse import urlencode

from django.conf import settings
from django.contrib.syndication.views import Feed
from django.db.models import F
from django.db.models.functions import Coalesce, Greatest
from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext, pgettext_lazy

from conference.feeds import MAX_ENTRIES, AtomFeed, EditionFeed, writable
from conference.models import Announcement, Edition
from conference.page_metadata import absolute
from content.array_lookup import AnyOf
from content.revision import FIRST_REVISION
from papers.models import Paper
from papers.page_metadata import byline_text
from search.freshness import check_index
from search.hits import matching_keys
from search.query import MAX_QUERY_CHARS, parse_query


class AnnouncementsFeed(EditionFeed):
    """Feed of the announcements of an edition, newest first. Pinned ones do not come first."""

    view = "website:announcements_feed"
    name = pgettext_lazy("name of a feed", "announcements")

    def items(self, edition: Edition) -> list[Announcement]:
        rows = list(edition.announcements.published().order_by("-published_at", "uid")[:MAX_ENTRIES])
        for row in rows:
            row.edition = edition
        return rows

    def item_title(self, item: Announcement) -> str:
        return writable(item.title)

    def item_link(self, item: Announcement) -> str:
        return absolute(f"{item.edition.get_absolute_url()}#news-{item.uid}")

    item_guid = item_link

    def item_description(self, item: Announcement) -> str:
        return writable(item.text_html)

    def item_pubdate(self, item: Announcement) -> datetime:
        return item.published_at

    item_updateddate = item_pubdate


class PaperEntries:
    """Feed entries of papers fetched `with_authors()`. The date of an entry is when it became public."""

    def item_title(self, item: Paper) -> str:
        return writable(str(item))

    def item_link(self, item: Paper) -> str:
        return absolute(item.get_absolute_url())

    item_guid = item_link

    def item_description(self, item: Paper) -> str:
        return writable(item.abstract_html)

    def item_author_name(self, item: Paper) -> str:
        return writable(byline_text(item))

    def item_categories(self, item: Paper) -> list[str]:
        return [writable(item.topic.name)] if item.topic else []

    def item_pubdate(self, item: Paper) -> datetime:
        moments = [item.announced_at, item.edition.papers_public_from]
        return max(moment for moment in moments if moment)

    item_updateddate = item_pubdate


class PapersFeed(PaperEntries, EditionFeed):
    """Feed of the papers of an edition, newest first."""

    view = "website:papers_feed"

    def title(self, edition: Edition) -> str:
        return gettext("%(name)s: papers") % {"name": edition.name}

    def link(self, edition: Edition) -> str:
        return absolute(reverse("papers:list", args=[edition.slug]))

    def items(self, edition: Edition) -> list[Paper]:
        rows = edition.papers.published().select_related("topic").with_authors()
        newest = list(
            rows.order_by(F("announced_at").desc(nulls_last=True), "sort_title", "uid")[:MAX_ENTRIES]
        )
        for row in newest:
            row.edition = edition
        return newest


class SearchFeed(PaperEntries, Feed[Paper, str]):
    """Feed of the papers that a search in all years finds, newest first."""

    feed_type = AtomFeed

    def get_object(self, request: HttpRequest, *args: object, **kwargs: object) -> str:
        return writable(request.GET.get("q", "")[:MAX_QUERY_CHARS]).strip()

    def title(self, text: str) -> str:
        return f"{settings.SITE_NAME}: “{text}”"

    def author_name(self, text: str) -> str:
        return str(settings.SITE_NAME)

    def link(self, text: str) -> str:
        return absolute(f"{reverse('website:search')}?{urlencode({'q': text})}")

    def feed_url(self, text: str) -> str:
        return absolute(f"{reverse('website:search_feed')}?{urlencode({'q': text})}")

    def feed_extra_kwargs(self, text: str) -> dict[str, object]:
        return {"empty_since": FIRST_REVISION}

    def items(self, text: str) -> list[Paper]:
        check_index()
        keys = matching_keys(parse_query(text), None, "paper")
        papers = Paper.objects.published().filter(AnyOf("pk", keys))
        public_from = F("edition__papers_public_from")
        # As in `item_pubdate`.
        newest = Greatest(Coalesce("announced_at", public_from), public_from).desc()
        rows = papers.select_related("edition", "topic").with_authors()
        return list(rows.order_by(newest, "sort_title", "uid")[:MAX_ENTRIES])
