"""Metadata of a person's page: cards, and linked data. Pure; takes a person `with_profile()`."""

from conference.page_metadata import Head, absolute, json_ld, lead, open_graph
from people.models import Person


def person_head(person: Person) -> Head:
    """Return the head of a person's page. Other spellings are those that `with_profile()` shows."""
    url = absolute(person.get_absolute_url())
    orcid = f"https://orcid.org/{person.orcid}" if person.orcid else ""
    thing = {
        "@type": "Person",
        "@id": url,
        "url": url,
        "name": person.name,
        "givenName": person.given,
        "familyName": person.family,
        "alternateName": [person.native_name, *(spelling.name for spelling in vars(person)["shown_names"])],
        "affiliation": person.affiliation and {"@type": "Organization", "name": person.affiliation},
        "description": lead(person.biography),
        "image": absolute(person.photo.url) if person.photo else "",
        "identifier": orcid and {"@type": "PropertyValue", "propertyID": "ORCID", "value": orcid},
        "sameAs": [address for address in (orcid, person.homepage) if address],
    }
    names = [("profile:first_name", person.given), ("profile:last_name", person.family)]
    description = ", ".join(filter(None, (person.name, person.affiliation)))
    return Head(person.name, open_graph("profile", description, None, names), (), [json_ld(thing)])
