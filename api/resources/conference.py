"""Conferences, editions, and the content of their sites other than the program."""

from django.db.models import F
from django.utils.translation import gettext_lazy as _

from api.filters import AnnouncementFilter, EditionFilter, EditionPartFilter, PageFilter, SponsorFilter
from api.shapes import (
    Resource,
    Shape,
    ToMany,
    ToOne,
    column_field,
    column_fields,
    moment_field,
    page_field,
    timezone_field,
)
from conference.models import Announcement, Conference, Edition, KeyDate, Page, Sponsor
from people.models import CommitteeRole

EDITION = ToOne("editions", "edition", _("The edition it belongs to."))

CONFERENCES = Resource(
    name="conferences",
    help=_("Series of conferences, each with its editions."),
    model=Conference,
    key="slug",
    page=page_field((), lambda row: "/"),
    fields={
        **column_fields(Conference, "name", "full_name", "description", "website", "logo"),
    },
    lists={"editions": "conference"},
    orders={"name": F("name")},
)

# Resources with a filter by edition.
PARTS = (
    "papers", "topics", "awards", "sessions", "presentations", "rooms", "materials", "sponsors", "pages",
    "announcements", "key_dates", "releases", "people", "institutions",
)  # fmt: skip

COMMITTEE = Shape(
    title="CommitteeMember",
    model=CommitteeRole,
    fields={
        **column_fields(CommitteeRole, "role"),
        "name": column_field("person__name", _("The person's name.")),
        **column_fields(CommitteeRole, "affiliation"),
    },
    to_one={"person": ToOne("people", "person", _("The person."))},
)

EDITIONS = Resource(
    name="editions",
    help=_("The years of a conference."),
    model=Edition,
    key="slug",
    page=page_field(("slug",), lambda row: f"/{row['slug']}/"),
    filters=EditionFilter,
    fields={
        **column_fields(Edition, "year", "name", "start_date", "end_date"),
        "timezone": timezone_field("timezone"),
        **column_fields(
            Edition,
            *("second_timezone", "day_start_hour", "mode", "venue", "city", "country", "registration_url"),
            *("venue_address", "map_url", "venue_picture", "description", "hero", "hero_focus"),
            *("home_sections", "sponsor_tiers", "committee_offices", "accent", "logo"),
            *("proceedings_title", "proceedings_series", "proceedings_volume", "proceedings_editors"),
            *("publisher", "publisher_place", "isbn", "issn", "license", "data_license"),
            hero=_("The picture of the home page."),
            home_sections=_("The sections of the home page, in order; empty: the usual ones."),
            sponsor_tiers=_("The tiers of its sponsors, in order."),
            committee_offices=_("The roles of its committee, in order."),
            proceedings_editors=_("Their editors, in order."),
        ),
    },
    to_one={"conference": ToOne("conferences", "conference", _("The series it belongs to."))},
    to_many={"committee": ToMany(COMMITTEE, "edition", _("The committee, in order."), ("position", "pk"))},
    lists=dict.fromkeys(PARTS, "edition"),
    orders={"year": F("year"), "start_date": F("start_date")},
)

PAGES = Resource(
    name="pages",
    help=_("Pages of an edition or of the whole site."),
    model=Page,
    key="slug",
    edition="edition__slug",
    edition_optional=True,
    page=page_field(
        ("slug", "edition__slug"),
        lambda row: f"/{row['edition__slug'] + '/' if row['edition__slug'] else ''}pages/{row['slug']}/",
    ),
    filters=PageFilter,
    fields=column_fields(Page, "title", "body", "status"),
    to_one={"edition": EDITION},
    orders={"title": F("title")},
    kind="page",
    writable=("title", "body", "status"),
)

SPONSORS = Resource(
    name="sponsors",
    help=_("Sponsors of an edition, by tier."),
    model=Sponsor,
    key="slug",
    edition="edition__slug",
    page=page_field(("edition__slug",), lambda row: f"/{row['edition__slug']}/sponsors/"),
    filters=SponsorFilter,
    fields={
        **column_fields(Sponsor, "name", "tier", "position"),
        "website": column_field("url", _("Its own site.")),
        **column_fields(Sponsor, "logo", "description", "status"),
    },
    to_one={"edition": EDITION},
    orders={"name": F("name"), "position": F("position")},
    writable=("name", "tier", "url", "description", "position", "status"),
    renamed={"url": "website"},
)

ANNOUNCEMENTS = Resource(
    name="announcements",
    help=_("News of an edition."),
    model=Announcement,
    key="uid",
    edition="edition__slug",
    page=page_field(("edition__slug",), lambda row: f"/{row['edition__slug']}/"),
    filters=AnnouncementFilter,
    fields={
        **column_fields(Announcement, "title", "text"),
        "published_at": moment_field("published_at", "edition__timezone", _("Since when it is shown.")),
        "timezone": timezone_field("edition__timezone"),
        **column_fields(Announcement, "pinned", "status"),
        "banner_until": moment_field(
            "banner_until", "edition__timezone", _("Until when it is shown as a banner."), empty=True
        ),
        **column_fields(Announcement, "session_uid"),
    },
    to_one={"edition": EDITION},
    orders={"published_at": F("published_at")},
    writable=("title", "text", "published_at", "pinned", "status", "banner_until", "session_uid"),
)

KEY_DATES = Resource(
    name="key_dates",
    help=_("Important dates of an edition, such as deadlines."),
    model=KeyDate,
    key="uid",
    edition="edition__slug",
    page=page_field(("edition__slug",), lambda row: f"/{row['edition__slug']}/"),
    filters=EditionPartFilter,
    fields={
        **column_fields(KeyDate, "title", "day", day=_("The day; null if it has a time.")),
        "moment": moment_field(
            "moment", "edition__timezone", _("Day and time; null for a whole day."), empty=True
        ),
        "timezone": timezone_field("edition__timezone"),
        "link": column_field("url", _("Where to read more.")),
        **column_fields(KeyDate, "position", "status"),
    },
    to_one={"edition": EDITION},
    orders={"position": F("position")},
    writable=("title", "day", "moment", "url", "position", "status"),
    renamed={"url": "link"},
)
