"""People across all years, and institutions. E-mail addresses and hidden names have no field."""

from django.db.models import F
from django.utils.translation import gettext_lazy as _

from api.filters import InstitutionFilter, PersonFilter
from api.shapes import Resource, Shape, ToMany, column_fields, page_field, slug
from people.models import Institution, Person, PersonIdentifier, PersonName

NAMES = Shape(
    title="OtherName",
    model=PersonName,
    fields=column_fields(PersonName, "name"),
    writable=("name", "hidden"),
    part_key=("name",),
)

IDENTIFIERS = Shape(
    title="Identifier",
    model=PersonIdentifier,
    writable=("scheme", "value"),
    part_key=("scheme", "value"),
    fields=column_fields(
        PersonIdentifier,
        *("scheme", "value"),
        scheme=_("The other system, such as dblp."),
        value=_("What it calls the person."),
    ),
)

PERSON_COLUMNS = (
    "name", "given", "family", "native_name", "affiliation", "orcid", "homepage", "biography", "email",
)  # fmt: skip

PEOPLE = Resource(
    name="people",
    help=_("Everyone who appears in published content, across all years."),
    model=Person,
    key="uid",
    page=page_field(("uid", "name"), lambda row: f"/people/{row['uid']}/{slug(row['name'])}/"),
    filters=PersonFilter,
    fields=column_fields(
        Person,
        *("name", "given", "family", "native_name", "affiliation", "orcid", "homepage", "photo", "biography"),
    ),
    to_many={
        "other_names": ToMany(NAMES, "person", _("Other spellings of the name."), ("name", "pk")),
        "identifiers": ToMany(
            IDENTIFIERS, "person", _("What other systems call the person."), ("scheme", "value")
        ),
        "papers": ToMany(
            "papers",
            "authorships__person",
            _("What the person wrote."),
            ("-edition__start_date", "sort_title", "pk"),
        ),
    },
    lists={"papers": "person", "sessions": "person", "presentations": "person", "awards": "person"},
    orders={"name": F("sort_key")},
    kind="person",
    writable=PERSON_COLUMNS,
)

INSTITUTIONS = Resource(
    name="institutions",
    help=_("Universities, laboratories and companies that published papers come from."),
    model=Institution,
    key="slug",
    page=page_field(("slug",), lambda row: f"/institutions/{row['slug']}/"),
    filters=InstitutionFilter,
    fields=column_fields(
        Institution, "name", "aliases", "ror", "country", aliases=_("Other names and short forms.")
    ),
    lists={"papers": "institution", "people": "institution"},
    orders={"name": F("folded")},
    writable=("name", "aliases", "ror", "country"),
)
