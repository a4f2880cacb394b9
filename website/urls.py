"""The root URLconf. Addresses of editions come last, because their slug may be any other word."""

from collections.abc import Callable

from django.contrib import admin
from django.http import HttpResponse
from django.urls import URLPattern, URLResolver, include, path
from django.views.decorators.http import require_safe

from content import url_converters
from content.languages import in_each_language
from operations.monitoring import readiness
from website import colors, media, redirects, search_views, sitemaps, views
from website.feeds import AnnouncementsFeed, PapersFeed, SearchFeed

__all__ = ["handler400", "handler500", "url_converters", "urlpatterns"]

handler400 = "website.views.bad_request"
handler500 = "website.views.server_error"


def with_or_without_slash(route: str, view: Callable[..., HttpResponse], name: str) -> list[URLPattern]:
    """Return patterns with and without a final slash, so that old addresses need only one redirect."""
    return [path(route, view, name=name), path(f"{route}/", view, name=f"{name}-slash")]


old_addresses = [
    *with_or_without_slash("virtual/<year:year>", redirects.old_page, "old-home"),
    *with_or_without_slash("virtual/<year:year>/day/<int:month>/<int:day>", redirects.old_day, "old-day"),
    *with_or_without_slash("virtual/<year:year>/events/<str:kind>", redirects.old_events, "old-events"),
    *with_or_without_slash("virtual/<year:year>/<oldkind:kind>/<uid:uid>", redirects.old_event, "old-event"),
    path("virtual/<year:year>/<path:page>", redirects.old_page, name="old-page"),
    *with_or_without_slash("Conferences/<year:year>", redirects.old_page, "older-home"),
    *with_or_without_slash("Conferences/<year:year>/Schedule", redirects.old_schedule, "older-schedule"),
]

admin.autodiscover()

site_urlpatterns: list[URLPattern | URLResolver] = [
    path("healthz", readiness.healthz, name="healthz"),
    path("readyz", readiness.readyz, name="readyz"),
    path("metrics", readiness.metrics_page, name="metrics"),
    path("media/<path:name>", media.media_file, name="media"),
    path("opensearch.xml", search_views.opensearch, name="opensearch"),
    path("robots.txt", sitemaps.robots, name="robots"),
    path("llms.txt", sitemaps.llms, name="llms"),
    path("sitemap.xml", sitemaps.index, name="sitemaps"),
    path("sitemap-<str:section>-<int:page>.xml", sitemaps.sitemap, name="sitemap"),
    path("search/feed", require_safe(SearchFeed()), name="search_feed"),
    *old_addresses,
    path("<key:edition>/announcements.atom", require_safe(AnnouncementsFeed()), name="announcements_feed"),
    path("<key:edition>/papers.atom", require_safe(PapersFeed()), name="papers_feed"),
    path(
        "<key:edition>/sitemap-<str:section>-<int:page>.xml", sitemaps.edition_sitemap, name="edition_sitemap"
    ),
    path("<key:edition>/colors-<digest:digest>.css", colors.stylesheet, name="colors"),
    path("<key:edition>/card.png", views.edition_card, name="card"),
    in_each_language(
        path("", views.home, name="home"),
        path("search/", search_views.site_search, name="search"),
        path("search/suggest", search_views.site_suggestions, name="suggestions"),
        path("<key:edition>/search/", search_views.edition_search, name="edition_search"),
        path("<key:edition>/search/suggest", search_views.edition_suggestions, name="edition_suggestions"),
        path("<key:edition>/", views.edition_home, name="edition"),
    ),
]

urlpatterns = [
    path("admin/", admin.site.urls),
    path("api/", include("api.urls")),
    path("", include("conference.urls")),
    path("", include("people.urls")),
    path("", include("papers.urls")),
    path("", include("schedule.urls")),
    path("", include("exchange.urls")),
    path("", include((site_urlpatterns, "website"))),
]
