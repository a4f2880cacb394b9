"""Table of the kind of each URL of the site. A new URL needs an entry here.

page: shows public content, and drafts to users who preview the edition.
file: shows public content, the same to all users, also during a preview.
sent: accepts data of the site's pages, by POST alone.
secret: requires a secret link or token, whatever the role.
nothing: always responds with 404.
"""

from collections.abc import Iterator

from exchange.exports.downloads import url_name
from exchange.formats import citation_formats

CITATION_SCOPES = ("edition", "paper", "topic", "person")
NAMES_BY_KIND = {
    "page": """
        api:docs conference:site_page conference:page conference:sponsors conference:art
        people:list people:short people:detail people:institutions people:institution people:committee
        papers:all_awards papers:awards papers:list papers:short papers:detail papers:statistics
        papers:topic schedule:index schedule:day schedule:short schedule:session schedule:room
        schedule:talks schedule:posters schedule:recordings schedule:agenda schedule:changes
        exchange:downloads website:home website:search website:edition_search website:edition website:colors
        website:old-home-slash website:old-day-slash website:old-events-slash website:old-event-slash
        website:older-home-slash website:older-schedule-slash
    """,
    "file": """
        api:root api:schema papers:card schedule:card schedule:changes_feed exchange:program_file
        exchange:papers_csv exchange:papers_xlsx
        exchange:papers_calendar exchange:schedule_xml exchange:schedule_json exchange:schedule_xcal
        exchange:edition_calendar exchange:day_calendar exchange:session_calendar exchange:room_calendar
        exchange:topic_calendar exchange:paper_calendar exchange:presentation_calendar
        exchange:person_calendar exchange:agenda_file website:healthz website:readyz website:media
        website:opensearch website:robots website:llms website:sitemaps website:sitemap website:search_feed
        website:suggestions website:old-home website:old-day website:old-events website:old-event
        website:old-page website:older-home website:older-schedule website:edition_suggestions
        website:announcements_feed website:papers_feed website:edition_sitemap website:card
    """,
    "sent": "schedule:agenda_stars schedule:agenda_sync",
    "secret": """
        people:invitation schedule:invited schedule:agenda_link exchange:agenda_calendar website:metrics
    """,
    "nothing": "api:unknown",
}


def url_kinds() -> Iterator[tuple[str, str]]:
    for extension in citation_formats():
        yield from ((f"exchange:{scope}_{url_name(extension)}", "file") for scope in CITATION_SCOPES)
    for kind, names in NAMES_BY_KIND.items():
        yield from ((name, kind) for name in names.split())


URL_KINDS: dict[str, str] = dict(url_kinds())
