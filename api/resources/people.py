"""People across all years, and institutions. E-mail addresses and hidden names have no field."""

from django.db.models import F
from django.utils.translation import gettext_lazy as _

from api.changes import Follows, Source, opening
from api.filters import InstitutionFilter, PersonFilter
from api.shapes import Many, Resource, Shape, file, page, slug, string, strings, texts
from content.public_past import PAPERS, SCHEDULE, SITE
from papers.models import Authorship, Award, AwardGrant, Paper
from people.models import CommitteeRole, Institution, Person, PersonIdentifier, PersonName
from schedule.models import Presentation, Session, SessionRole, Speaker

NAMES = Shape(
    title="OtherName",
    model=PersonName,
    fields={"name": string("name", _("Another spelling."))},
    writable=("name", "hidden"),
    part_key=("name",),
)

IDENTIFIERS = Shape(
    title="Identifier",
    model=PersonIdentifier,
    writable=("scheme", "value"),
    part_key=("scheme", "value"),
    fields={
        "scheme": string("scheme", _("The other system, such as dblp.")),
        "value": string("value", _("What it calls the person.")),
    },
)

PERSON_COLUMNS = (
    "name", "given", "family", "native_name", "affiliation", "orcid", "homepage", "biography", "email",
)  # fmt: skip

# What makes authors and their institutions public.
WRITTEN = Follows(
    (
        Source(Authorship, "authorships", ("person", "paper", "institutions")),
        Source(Paper, "authorships__paper", ("status",)),
    ),
    opening("authorships__paper__edition", *PAPERS),
)
# What makes anybody public.
SHOWN = Follows(
    (
        *WRITTEN.sources,
        Source(AwardGrant, "grants", ("person", "award")),
        Source(Award, "grants__award", ("status",)),
        Source(CommitteeRole, "committee_roles", ("person", "edition")),
        Source(SessionRole, "session_roles", ("person", "session")),
        Source(Session, "session_roles__session", ("status", "parent")),
        Source(Session, "session_roles__session__parent", ("status",)),
        Source(Speaker, "talks", ("person", "presentation")),
        Source(Presentation, "talks__presentation", ("status", "session", "paper")),
        Source(Paper, "talks__presentation__paper", ("status",)),
        Source(Session, "talks__presentation__session", ("status", "parent")),
        Source(Session, "talks__presentation__session__parent", ("status",)),
    ),
    (
        *WRITTEN.moments,
        *opening("grants__award__edition", *PAPERS),
        *opening("committee_roles__edition", *SITE),
        *opening("session_roles__session__edition", *SCHEDULE),
        *opening("talks__presentation__edition", *SCHEDULE),
        *opening("talks__presentation__paper__edition", *PAPERS),
    ),
)

PEOPLE = Resource(
    name="people",
    title="Person",
    help=_("Everybody whom something published shows, across all years."),
    model=Person,
    key="uid",
    page=page(("uid", "name"), lambda row: f"/people/{row['uid']}/{slug(row['name'])}/"),
    filters=PersonFilter,
    fields={
        "name": string("name", _("The name as it is shown.")),
        "given": string("given", _("Given names.")),
        "family": string("family", _("The family name, by which lists are sorted.")),
        "native_name": string("native_name", _("The name in its own script.")),
        "affiliation": string("affiliation", _("Where the person is now.")),
        "orcid": string("orcid", _("The ORCID iD.")),
        "homepage": string("homepage", _("The person's own site.")),
        "photo": file("photo", _("A photo.")),
        **texts("biography", _("A biography.")),
    },
    manys={
        "other_names": Many(NAMES, "person", _("Other spellings of the name."), ("name", "pk")),
        "identifiers": Many(
            IDENTIFIERS, "person", _("What other systems call the person."), ("scheme", "value")
        ),
        "papers": Many(
            "papers",
            "authorships__person",
            _("What the person wrote."),
            ("-edition__start_date", "sort_title", "pk"),
        ),
    },
    lists={"papers": "person", "sessions": "person", "presentations": "person", "awards": "person"},
    follows=SHOWN,
    unshown=("email",),
    orders={"name": F("sort_key")},
    kind="person",
    writable=PERSON_COLUMNS,
)

INSTITUTIONS = Resource(
    name="institutions",
    title="Institution",
    help=_("Universities, laboratories and companies that published papers come from."),
    model=Institution,
    key="slug",
    page=page(("slug",), lambda row: f"/institutions/{row['slug']}/"),
    filters=InstitutionFilter,
    fields={
        "name": string("name", _("The name.")),
        "aliases": strings("aliases", _("Other names and short forms.")),
        "ror": string("ror", _("The ROR iD.")),
        "country": string("country", _("The country.")),
    },
    lists={"papers": "institution", "people": "institution"},
    follows=WRITTEN,
    orders={"name": F("folded")},
    writable=("name", "aliases", "ror", "country"),
)
