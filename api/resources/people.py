"""People across all years, and institutions. E-mail addresses and hidden names have no field."""

from django.db.models import F

from api.fields import address, file, page, slug, string, strings, texts
from api.shapes import Many, Resource, Shape
from people.models import Institution, Person, PersonIdentifier, PersonName

NAMES = Shape(title="OtherName", model=PersonName, fields={"name": string("name", "Another spelling.")})

IDENTIFIERS = Shape(
    title="Identifier",
    model=PersonIdentifier,
    fields={
        "scheme": string("scheme", "The other system, such as dblp."),
        "value": string("value", "What it calls the person."),
    },
)

PEOPLE = Resource(
    name="people",
    title="Person",
    help="Everybody whom something published shows, across all years.",
    model=Person,
    key="uid",
    page=page(("uid", "name"), lambda row: f"/people/{row['uid']}/{slug(row['name'])}/"),
    fields={
        "name": string("name", "The name as it is shown."),
        "given": string("given", "Given names."),
        "family": string("family", "The family name, by which lists are sorted."),
        "native_name": string("native_name", "The name in its own script."),
        "affiliation": string("affiliation", "Where the person is now."),
        "orcid": string("orcid", "The ORCID iD."),
        "homepage": address("homepage", "The person's own site."),
        "photo": file("photo", "A photo."),
        **texts("biography", "A biography."),
    },
    manys={
        "other_names": Many(NAMES, "person", "Other spellings of the name.", ("name", "pk")),
        "identifiers": Many(
            IDENTIFIERS, "person", "What other systems call the person.", ("scheme", "value")
        ),
        "papers": Many(
            "papers",
            "authorships__person",
            "What the person wrote.",
            ("-edition__start_date", "sort_title", "pk"),
        ),
    },
    lists={"papers": "person", "sessions": "person", "presentations": "person", "awards": "person"},
    orders={"name": F("sort_key")},
    kind="person",
)

INSTITUTIONS = Resource(
    name="institutions",
    title="Institution",
    help="Universities, laboratories and companies that published papers come from.",
    model=Institution,
    key="slug",
    page=page(("slug",), lambda row: f"/institutions/{row['slug']}/"),
    fields={
        "name": string("name", "The name."),
        "aliases": strings("aliases", "Other names and short forms."),
        "ror": address("ror", "The ROR iD."),
        "country": string("country", "The country."),
    },
    lists={"papers": "institution", "people": "institution"},
    orders={"name": F("folded")},
)
