"""People across all years, and institutions. E-mail addresses and hidden names have no field."""

from django.db.models import F
from django.utils.translation import gettext_lazy as _

from api.filters import InstitutionFilter, PersonFilter
from api.shapes import Many, Resource, Shape, file, page, slug, string, strings, texts
from people.models import Institution, Person, PersonIdentifier, PersonName

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
    dated_parts=(PersonName, PersonIdentifier),
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
    orders={"name": F("folded")},
    writable=("name", "aliases", "ror", "country"),
)
