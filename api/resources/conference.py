"""Conferences, editions, and the content of their sites other than the program."""

from django.db.models import F
from django.utils.translation import gettext_lazy as _

from api.changes import in_edition, named_people
from api.filters import AnnouncementFilter, EditionFilter, PageFilter, SponsorFilter
from api.shapes import (
    Many,
    One,
    Resource,
    Shape,
    boolean,
    choice,
    date,
    file,
    moment,
    number,
    page,
    status,
    string,
    strings,
    texts,
    timezone,
)
from conference.models import Announcement, Conference, Edition, Page, Sponsor
from content.public_past import SITE
from people.models import CommitteeRole

# In its zone are the times of what belongs to it.
CLOCK = ("timezone", "day_start_hour")
EDITION = One("editions", "edition", _("The edition it belongs to."))

CONFERENCES = Resource(
    name="conferences",
    title="Conference",
    help=_("Series of conferences, each with its editions."),
    model=Conference,
    key="slug",
    page=page((), lambda row: "/"),
    fields={
        "name": string("name", _("As people say it, such as MLSys.")),
        "full_name": string("full_name", _("In full.")),
        **texts("description", _("What it is about.")),
        "website": string("website", _("Its own site.")),
        "logo": file("logo", _("Its logo.")),
    },
    lists={"editions": "conference"},
    orders={"name": F("name")},
)

# What belongs to an edition, or can be narrowed to it.
PARTS = (
    "papers", "topics", "awards", "sessions", "presentations", "rooms", "materials", "sponsors", "pages",
    "announcements", "releases", "people", "institutions",
)  # fmt: skip

COMMITTEE = Shape(
    title="CommitteeMember",
    model=CommitteeRole,
    fields={
        "role": string("role", _("The office, such as Program Chair.")),
        "name": string("person__name", _("The person's name.")),
        "affiliation": string("affiliation", _("As printed in this year's program.")),
    },
    ones={"person": One("people", "person", _("Who it is."))},
)

EDITIONS = Resource(
    name="editions",
    title="Edition",
    help=_("The years of a conference."),
    model=Edition,
    key="slug",
    page=page(("slug",), lambda row: f"/{row['slug']}/"),
    filters=EditionFilter,
    fields={
        "year": number("year", _("The year.")),
        "name": string("name", _("Such as MLSys 2021.")),
        "start_date": date("start_date", _("The first day.")),
        "end_date": date("end_date", _("The last day.")),
        "timezone": timezone("timezone"),
        "second_timezone": string(
            "second_timezone", _("Of those who take part from elsewhere; may be empty.")
        ),
        "day_start_hour": number(
            "day_start_hour", _("What starts before this hour belongs to the evening before.")
        ),
        "mode": choice("mode", Edition.Mode.choices, _("Whether there is a place to travel to.")),
        "venue": string("venue", _("The building.")),
        "city": string("city", _("The city.")),
        "country": string("country", _("The country.")),
        **texts("description", _("The welcome.")),
        "accent": string("accent", _("The color of its pages.")),
        "logo": file("logo", _("Its logo.")),
        "proceedings_title": string(
            "proceedings_title", _("The title of the proceedings; empty: citations name the conference.")
        ),
        "proceedings_series": string("proceedings_series", _("The series in which they appear.")),
        "proceedings_volume": string("proceedings_volume", _("Their volume.")),
        "proceedings_editors": strings("proceedings_editors", _("Their editors, in order.")),
        "publisher": string("publisher", _("Who publishes them.")),
        "publisher_place": string("publisher_place", _("The publisher's city.")),
        "isbn": string("isbn", _("Their ISBN.")),
        "issn": string("issn", _("The ISSN of the series.")),
        "license": string("license", _("Of papers that have none of their own: SPDX identifier or address.")),
        "data_license": string("data_license", _("Of these data: SPDX identifier or address.")),
    },
    ones={"conference": One("conferences", "conference", _("The series it belongs to."))},
    manys={"committee": Many(COMMITTEE, "edition", _("The committee, in order."), ("position", "pk"))},
    lists=dict.fromkeys(PARTS, "edition"),
    dated_parts=(CommitteeRole,),
    follows=(named_people("committee_roles__person"), in_edition("", *SITE)),
    unshown=("papers_public_from", "schedule_public_from"),
    orders={"year": F("year"), "start_date": F("start_date")},
)

PAGES = Resource(
    name="pages",
    title="Page",
    help=_("Free pages, of an edition or of the whole site."),
    model=Page,
    key="slug",
    edition="edition__slug",
    edition_optional=True,
    page=page(
        ("slug", "edition__slug"),
        lambda row: f"/{row['edition__slug'] + '/' if row['edition__slug'] else ''}pages/{row['slug']}/",
    ),
    filters=PageFilter,
    fields={"title": string("title", _("Its title.")), **texts("body", _("Its text.")), "status": status()},
    ones={"edition": EDITION},
    follows=(in_edition("edition", *SITE),),
    orders={"title": F("title")},
    kind="page",
    writable=("title", "body", "status"),
)

SPONSORS = Resource(
    name="sponsors",
    title="Sponsor",
    help=_("Sponsors of an edition, by tier."),
    model=Sponsor,
    key="slug",
    edition="edition__slug",
    page=page(("edition__slug",), lambda row: f"/{row['edition__slug']}/sponsors/"),
    filters=SponsorFilter,
    fields={
        "name": string("name", _("The name.")),
        "tier": string("tier", _("Such as Gold.")),
        "position": number("position", _("Its place among the sponsors of its edition.")),
        "website": string("url", _("Its own site.")),
        "logo": file("logo", _("Its logo.")),
        **texts("description", _("What it says of itself.")),
        "status": status(),
    },
    ones={"edition": EDITION},
    follows=(in_edition("edition", *SITE),),
    orders={"name": F("name"), "position": F("position")},
    writable=("name", "tier", "url", "description", "position", "status"),
    renamed={"url": "website"},
)

ANNOUNCEMENTS = Resource(
    name="announcements",
    title="Announcement",
    help=_("News of an edition."),
    model=Announcement,
    key="uid",
    edition="edition__slug",
    page=page(("edition__slug",), lambda row: f"/{row['edition__slug']}/"),
    filters=AnnouncementFilter,
    fields={
        "title": string("title", _("Its title.")),
        **texts("text", _("The news.")),
        "published_at": moment("published_at", "edition__timezone", _("Since when it is shown.")),
        "timezone": timezone("edition__timezone"),
        "pinned": boolean("pinned", _("Whether it stays above the others.")),
        "status": status(),
    },
    ones={"edition": EDITION},
    follows=(in_edition("edition", *SITE, fields=CLOCK),),
    orders={"published_at": F("published_at")},
    writable=("title", "text", "published_at", "pinned", "status"),
)
