"""The byline of a paper, and the metadata of its page: Google Scholar, Dublin Core, cards and linked data.

The functions are pure. The paper must be fetched `with_details()`, with public rows and shown names.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.conf import settings

from conference.page_metadata import (
    CANCELLED,
    DUBLIN_CORE,
    SCHEDULED,
    Card,
    Head,
    HeadLink,
    HeadTag,
    Thing,
    absolute,
    attendance,
    conference_event,
    json_ld,
    language_neutral_url,
    lead,
    license_thing,
    name_tags,
    open_graph,
    proceedings,
    publisher,
    venue_time,
)

if TYPE_CHECKING:
    from papers.models import Authorship, Material, Paper

# Papers have no field for their language. Assume English.
LANGUAGE = "en"
DASHES = re.compile(r"\s*[-\u2012-\u2015\u2212]+\s*")
PAGE_NUMBER = re.compile(r"[A-Za-z]{0,4}[:.]?\d+|[ivxlcdmIVXLCDM]+")


@dataclass(frozen=True, slots=True)
class Byline:
    """Authors with the marks of their affiliations ("1,2"), and the affiliations with their numbers."""

    authors: list[tuple["Authorship", str]]
    affiliations: list[tuple[int, str]]

    @property
    def marked(self) -> bool:
        """Whether the authors have different affiliations."""
        return any(marks for _, marks in self.authors)


def byline(authorships: Iterable["Authorship"]) -> Byline:
    """Number the affiliations by first appearance. Omit the marks if all authors share one affiliation."""
    authors = list(authorships)
    names = dict.fromkeys(name for author in authors for name in author.affiliations)
    numbers = {name: number for number, name in enumerate(names, start=1)}
    marks = [
        ",".join(str(numbers[name]) for name in dict.fromkeys(author.affiliations)) for author in authors
    ]
    if len(numbers) == 1 and all(marks):
        marks = [""] * len(marks)
    return Byline(
        list(zip(authors, marks, strict=True)), [(number, name) for name, number in numbers.items()]
    )


def paper_head(paper: "Paper", card: Card) -> Head:
    card_tags = open_graph("article", lead(paper.abstract), card)
    tags = [*citation_tags(paper), *dublin_core_tags(paper), *card_tags]
    links = [HeadLink("schema.DC", DUBLIN_CORE)]
    if paper.effective_license and paper.effective_license.url:
        links.append(HeadLink("license", paper.effective_license.url))
    return Head(str(paper), tags, links, [json_ld(article_data(paper, card))])


def card_text(paper: "Paper") -> str:
    return ". ".join(filter(None, (str(paper), byline_text(paper), paper.edition.name)))


def byline_text(paper: Any) -> str:
    return ", ".join(author.shown_name for author in paper.shown_authors)


def citation_tags(paper: Any) -> list[HeadTag]:
    """Return the tags for Google Scholar and Zotero. The affiliations of an author follow the author."""
    edition = paper.edition
    proceedings_title = edition.proceedings_title
    first, last = parse_pages(paper.pages)
    pairs = [("citation_title", str(paper))]
    for author in paper.shown_authors:
        pairs.append(("citation_author", author.shown_name))
        pairs += [("citation_author_institution", name) for name in author.affiliations]
        if author.person.orcid:
            pairs.append(("citation_author_orcid", f"https://orcid.org/{author.person.orcid}"))
    pairs += [
        ("citation_publication_date", f"{edition.start_date:%Y/%m/%d}"),
        ("citation_conference_title", proceedings_title or edition.conference.full_name or edition.name),
        # Zotero reads the title of the proceedings from this tag.
        ("citation_inbook_title", proceedings_title),
        ("citation_conference", edition.name),
        ("citation_series_title", edition.proceedings_series),
        ("citation_volume", edition.proceedings_volume),
        *(("citation_editor", name) for name in edition.proceedings_editors),
        ("citation_publisher", edition.publisher),
        ("citation_isbn", edition.isbn),
        ("citation_issn", edition.issn),
        ("citation_firstpage", first),
        ("citation_lastpage", last),
        ("citation_doi", paper.doi),
        ("citation_language", LANGUAGE),
        *(("citation_keywords", keyword) for keyword in paper.keywords),
        ("citation_abstract_html_url", language_neutral_url(paper.get_absolute_url())),
        ("citation_pdf_url", local_pdf(paper)),
    ]
    return name_tags(pairs)


def dublin_core_tags(paper: Any) -> list[HeadTag]:
    edition = paper.edition
    pairs = [
        ("DC.title", str(paper)),
        *(("DC.creator", author.shown_name) for author in paper.shown_authors),
        *(("DC.subject", keyword) for keyword in paper.keywords),
        ("DC.description", lead(paper.abstract)),
        ("DC.publisher", edition.publisher or edition.conference.full_name or edition.conference.name),
        ("DC.date", edition.start_date.isoformat()),
        ("DC.type", "Text"),
        ("DC.format", "text/html"),
        ("DC.identifier", language_neutral_url(paper.get_absolute_url())),
        ("DC.identifier", paper.doi and f"doi:{paper.doi}"),
        ("DC.source", edition.proceedings_title or edition.name),
        ("DC.language", LANGUAGE),
        ("DC.rights", paper.effective_license and paper.effective_license.name),
    ]
    return name_tags(pairs)


def parse_pages(pages: str) -> tuple[str, str]:
    """Return the first and last page of "12-25". Both are empty for other text, such as "to appear"."""
    first, _, last = DASHES.sub("-", pages.strip()).partition("-")
    if not PAGE_NUMBER.fullmatch(first) or (last and not PAGE_NUMBER.fullmatch(last)):
        return "", ""
    return first, last or first


def local_pdf(paper: "Paper") -> str:
    """Return the address of the paper's PDF if it is on this host. Google Scholar accepts no other."""
    for material in paper.shown_materials:
        for address in (material.file.url if material.file else "", material.url):
            if material.kind == "pdf" and absolute(address).startswith(f"{settings.SITE_URL}/"):
                return absolute(address)
    return ""


# Linked data


def article_data(paper: Any, card: Card) -> Thing:
    """Return the schema.org data of the paper, with its appearances as events."""
    edition, url = paper.edition, absolute(paper.get_absolute_url())
    first, last = parse_pages(paper.pages)
    pdf = local_pdf(paper)
    return {
        "@type": "ScholarlyArticle",
        "@id": language_neutral_url(paper.get_absolute_url()),
        "url": url,
        "mainEntityOfPage": url,
        "headline": str(paper),
        "name": str(paper),
        "author": [
            {
                "@type": "Person",
                "name": author.shown_name,
                "url": absolute(author.person.get_absolute_url()),
                "sameAs": author.person.orcid and f"https://orcid.org/{author.person.orcid}",
                "affiliation": [{"@type": "Organization", "name": name} for name in author.affiliations],
            }
            for author in paper.shown_authors
        ],
        "datePublished": edition.start_date.isoformat(),
        "inLanguage": LANGUAGE,
        "abstract": lead(paper.abstract, 5000),
        "keywords": list(paper.keywords),
        "about": paper.topic and {"@type": "Thing", "name": paper.topic.name},
        "award": [grant.award.name for grant in paper.shown_grants],
        "image": absolute(card.url),
        "pageStart": first,
        "pageEnd": last,
        "identifier": paper.doi and {"@type": "PropertyValue", "propertyID": "doi", "value": paper.doi},
        "sameAs": paper.doi and paper.doi_url,
        "isPartOf": proceedings(edition),
        "publisher": publisher(edition),
        "license": license_thing(paper.effective_license),
        "encoding": pdf and {"@type": "MediaObject", "encodingFormat": "application/pdf", "contentUrl": pdf},
        "hasPart": [material_data(material) for material in paper.shown_materials if material.license],
        "subjectOf": [event_data(appearance, paper) for appearance in paper.appearances if appearance.begins],
    }


def material_data(material: "Material") -> Thing:
    """Return the schema.org data of a material with its own license, such as code or a data set."""
    return {
        "@type": "CreativeWork",
        "name": str(material),
        "url": absolute(material.href),
        "license": license_thing(material.effective_license),
    }


def event_data(appearance: Any, paper: "Paper") -> Thing:
    edition, url = paper.edition, absolute(paper.get_absolute_url())
    mode, locations = attendance(edition, url, appearance.effective_room)
    return {
        "@type": "Event",
        "name": f"{appearance.get_kind_display()}: {paper}",
        "url": url,
        "startDate": venue_time(appearance.begins, edition),
        "endDate": appearance.ends and venue_time(appearance.ends, edition),
        "eventStatus": CANCELLED if appearance.called_off else SCHEDULED,
        "eventAttendanceMode": mode,
        "location": locations,
        "superEvent": conference_event(edition),
    }
