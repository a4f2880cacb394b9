"""Papers with their authors, topics, materials and awards."""

from typing import cast

from django.db.models import F
from django.utils.translation import gettext_lazy as _

from api.changes import Source, in_edition, named_people
from api.filters import AwardFilter, MaterialFilter, PaperFilter, TopicFilter
from api.resources.conference import EDITION
from api.shapes import (
    Field,
    Many,
    One,
    Resource,
    Row,
    Shape,
    boolean,
    choice,
    file_url,
    number,
    page,
    slug,
    status,
    string,
    strings,
    texts,
    with_names,
)
from content.public_past import PAPERS as PAPER_GATES
from papers.models import Authorship, Award, AwardGrant, Material, Paper, Topic
from papers.querysets import TopicQuerySet


def paper_path(row: Row, prefix: str = "") -> str:
    """Return the address of a paper's page; `prefix` leads to the paper."""
    edition, uid = row[f"{prefix}edition__slug"], row[f"{prefix}uid"]
    return f"/{edition}/papers/{uid}/{slug(row[f'{prefix}title'])}/"


AUTHORS = Shape(
    title="Author",
    model=Authorship,
    prepare=with_names,
    writable=("name", "affiliations", "corresponding", "presenting"),
    part_key=("person",),
    fields={
        "position": number("position", _("The place among the authors, from 1.")),
        "name": string("shown_name", _("The name as printed on the paper.")),
        "affiliations": strings("affiliations", _("The affiliations as printed.")),
        "corresponding": boolean("corresponding", _("Whether to write to.")),
        "presenting": boolean("presenting", _("Whether presenting the paper.")),
    },
    ones={"person": One("people", "person", _("Who it is."))},
    manys={
        "institutions": Many(
            "institutions", "authorships", _("The institutions of these affiliations."), ("name", "pk")
        )
    },
)

AWARDS_WON = Shape(
    title="PaperAward",
    model=AwardGrant,
    fields={
        "name": string("award__name", _("The name of the award.")),
        **texts("citation", _("The jury's words.")),
    },
    ones={"award": One("awards", "award", _("The award, which may be of a later edition."))},
)

PAPER_COLUMNS = (
    "title", "abstract", "lay_summary", "track", "keywords", "decision", "status", "doi", "pages",
    "license",
)  # fmt: skip

PAPERS = Resource(
    name="papers",
    title="Paper",
    help=_("Papers with their authors in order."),
    model=Paper,
    key="uid",
    edition="edition__slug",
    page=page(("uid", "title", "edition__slug"), paper_path),
    filters=PaperFilter,
    fields={
        **texts("title", _("The title as printed.")),
        **texts("abstract", _("The abstract.")),
        **texts("lay_summary", _("A summary for readers from other fields.")),
        "track": string("track", _("Such as Position papers; empty for the main one.")),
        "keywords": strings("keywords", _("Keywords.")),
        "decision": string("decision", _("As the review system says it.")),
        "doi": string("doi", _("The DOI, such as 10.48550/arXiv.2011.03641.")),
        "pages": string("pages", _("In the proceedings, such as 12-25.")),
        "license": string("license", _("Its own: an SPDX identifier or an address.")),
        "effective_license": Field(
            ("license", "edition__license"),
            lambda row: row["license"] or row["edition__license"],
            _("The license that holds: its own, else the edition's."),
        ),
        "status": status(),
    },
    ones={"edition": EDITION, "topic": One("topics", "topic", _("The topic it belongs to."))},
    manys={
        "authors": Many(AUTHORS, "paper", _("The authors in order."), ("position",)),
        "awards": Many(AWARDS_WON, "paper", _("What it won."), ("award__position", "award", "position")),
        "presentations": Many("presentations", "paper", _("Its appearances."), ("begins", "position", "pk")),
        "materials": Many("materials", "paper", _("Its files and links."), ("position", "pk")),
    },
    lists={"presentations": "paper", "materials": "paper"},
    dated_parts=(Authorship,),
    follows=(
        named_people("authorships__person"),
        in_edition("edition", *PAPER_GATES, fields=("license",)),
    ),
    unshown=("announced_at",),
    orders={"title": F("sort_title")},
    kind="paper",
    writable=PAPER_COLUMNS,
)


TOPICS = Resource(
    name="topics",
    title="Topic",
    help=_("The subject areas of an edition, a tree."),
    model=Topic,
    key="slug",
    edition="edition__slug",
    page=page(("slug", "edition__slug"), lambda row: f"/{row['edition__slug']}/topics/{row['slug']}/"),
    prepare=lambda rows, at: cast("TopicQuerySet", rows).with_counts(at),
    filters=TopicFilter,
    fields={
        "name": string("name", _("The name.")),
        "position": number("position", _("Its place among the topics of its edition.")),
        "paper_count": number("paper_count", _("How many published papers are in it and below it.")),
    },
    ones={"edition": EDITION, "parent": One("topics", "parent", _("The topic above it."))},
    lists={"papers": "topic", "topics": "parent"},
    follows=(in_edition("edition", *PAPER_GATES),),
    orders={"name": F("name"), "position": F("position")},
    writable=("name", "position"),
)

MATERIALS = Resource(
    name="materials",
    title="Material",
    help=_("Files and links of papers."),
    model=Material,
    key="pk",
    edition="paper__edition__slug",
    page=page(("paper__uid", "paper__title", "paper__edition__slug"), lambda row: paper_path(row, "paper__")),
    filters=MaterialFilter,
    fields={
        "kind": choice("kind", Material.Kind.choices, _("What it is.")),
        "label": string("label", _("What it is called; empty for the kind.")),
        "href": Field(("url", "file"), lambda row: row["url"] or file_url(row["file"]), _("Where it is.")),
        "license": string("license", _("Its own: an SPDX identifier or an address.")),
        "effective_license": Field(
            ("license", "kind", "paper__license", "paper__edition__license"),
            lambda row: (
                row["license"]
                or (row["kind"] == "pdf" and (row["paper__license"] or row["paper__edition__license"]))
                or ""
            ),
            _("The license that holds: its own, of a PDF else the paper's."),
        ),
        "position": number("position", _("Its place among the materials of its paper.")),
        "visible": boolean("visible", _("Whether everybody sees it; others are shown to staff alone.")),
    },
    ones={
        "edition": One(
            "editions", "paper__edition", _("The edition it belongs to."), key="paper__edition__slug"
        ),
        "paper": One("papers", "paper", _("The paper.")),
    },
    follows=(
        Source(Paper, "paper", ("title", "status", "license")),
        in_edition("paper__edition", *PAPER_GATES, fields=("license",)),
    ),
    writable=("kind", "label", "url", "license", "position", "visible"),
    renamed={"url": "href"},
)

WINNERS = Shape(
    title="Winner",
    model=AwardGrant,
    writable=("citation",),
    part_key=("paper", "person"),
    fields=texts("citation", _("The jury's words.")),
    ones={
        "paper": One("papers", "paper", _("The paper that won, which may be an older one.")),
        "person": One("people", "person", _("The person who won.")),
    },
)

AWARDS = Resource(
    name="awards",
    title="Award",
    help=_("Awards of an edition with their winners."),
    model=Award,
    key="uid",
    edition="edition__slug",
    page=page(("uid", "edition__slug"), lambda row: f"/{row['edition__slug']}/awards/#award-{row['uid']}"),
    filters=AwardFilter,
    fields={
        "name": string("name", _("The name.")),
        **texts("citation", _("What it is given for.")),
        "position": number("position", _("Its place among the awards of its edition.")),
        "status": status(),
    },
    ones={"edition": EDITION},
    manys={"winners": Many(WINNERS, "award", _("Who won it."), ("position", "pk"))},
    lists={"papers": "award"},
    follows=(in_edition("edition", *PAPER_GATES),),
    orders={"name": F("name"), "position": F("position")},
    writable=("name", "citation", "position", "status"),
)
