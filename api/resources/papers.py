"""Papers with their authors, topics, materials and awards."""

from django.core.files.storage import default_storage
from django.db.models import F
from rest_framework import serializers

from api.fields import choice, full, number, page, slug, state, string, strings, texts, yes_or_no
from api.resources.conference import EDITION
from api.shapes import Field, Many, One, Resource, Row, Shape
from papers.models import Authorship, Award, AwardGrant, Material, Paper, Topic
from people.querysets import with_shown_names


def paper_path(row: Row, prefix: str = "") -> str:
    """Return the address of a paper's page; `prefix` leads to the paper."""
    edition, uid = row[f"{prefix}edition__slug"], row[f"{prefix}uid"]
    return f"/{edition}/papers/{uid}/{slug(row[f'{prefix}title'])}/"


def href(row: Row) -> str:
    """Return where a material is."""
    return row["url"] or (full(default_storage.url(row["file"])) if row["file"] else "")


AUTHORS = Shape(
    title="Author",
    model=Authorship,
    prepare=with_shown_names,
    fields={
        "position": number("position", "The place among the authors, from 1."),
        "name": string("shown_name", "The name as printed on the paper."),
        "affiliations": strings("affiliations", "The affiliations as printed."),
        "corresponding": yes_or_no("corresponding", "Whether to write to."),
        "presenting": yes_or_no("presenting", "Whether presenting the paper."),
    },
    ones={"person": One("people", "person", "Who it is.")},
    manys={
        "institutions": Many(
            "institutions", "authorships", "The institutions of these affiliations.", ("name", "pk")
        )
    },
)

HONOURS = Shape(
    title="PaperAward",
    model=AwardGrant,
    fields={
        "name": string("award__name", "The name of the award."),
        **texts("citation", "The jury's words."),
    },
    ones={"award": One("awards", "award", "The award, which may be of a later edition.")},
)

PAPERS = Resource(
    name="papers",
    title="Paper",
    help="Papers with their authors in order.",
    model=Paper,
    key="uid",
    edition="edition__slug",
    page=page(("uid", "title", "edition__slug"), paper_path),
    fields={
        **texts("title", "The title as printed."),
        **texts("abstract", "The abstract."),
        **texts("lay_summary", "A summary for readers from other fields."),
        "track": string("track", "Such as Position papers; empty for the main one."),
        "keywords": strings("keywords", "Keywords."),
        "decision": string("decision", "As the review system says it."),
        "doi": string("doi", "The DOI, such as 10.48550/arXiv.2011.03641."),
        "pages": string("pages", "In the proceedings, such as 12-25."),
        "status": state(),
    },
    ones={"edition": EDITION, "topic": One("topics", "topic", "The topic it stands under.")},
    manys={
        "authors": Many(AUTHORS, "paper", "The authors in order.", ("position",)),
        "awards": Many(HONOURS, "paper", "What it won.", ("award__position", "award", "position")),
        "presentations": Many("presentations", "paper", "Its appearances.", ("begins", "position", "pk")),
        "materials": Many("materials", "paper", "Its files and links.", ("position", "pk")),
    },
    lists={"presentations": "paper", "materials": "paper"},
    orders={"title": F("sort_title")},
    kind="paper",
)

TOPICS = Resource(
    name="topics",
    title="Topic",
    help="The subject areas of an edition, a tree.",
    model=Topic,
    key="slug",
    edition="edition__slug",
    page=page(("slug", "edition__slug"), lambda row: f"/{row['edition__slug']}/topics/{row['slug']}/"),
    prepare=lambda rows: rows.with_counts(),
    fields={
        "name": string("name", "The name."),
        "position": number("position", "Its place among the topics of its edition."),
        "paper_count": number("paper_count", "How many published papers stand in it and below it."),
    },
    ones={"edition": EDITION, "parent": One("topics", "parent", "The topic above it.")},
    lists={"papers": "topic", "topics": "parent"},
    orders={"name": F("name"), "position": F("position")},
)

MATERIALS = Resource(
    name="materials",
    title="Material",
    help="Files and links of papers.",
    model=Material,
    key="pk",
    edition="paper__edition__slug",
    page=page(("paper__uid", "paper__title", "paper__edition__slug"), lambda row: paper_path(row, "paper__")),
    fields={
        "kind": choice("kind", Material.Kind.choices, "What it is."),
        "label": string("label", "What it is called; empty for the kind."),
        "href": Field(("url", "file"), href, serializers.CharField(help_text="Where it is.")),
        "position": number("position", "Its place among the materials of its paper."),
        "visible": yes_or_no("visible", "Whether everybody sees it; others are shown to staff alone."),
    },
    ones={
        "edition": One(
            "editions", "paper__edition", "The edition it belongs to.", key="paper__edition__slug"
        ),
        "paper": One("papers", "paper", "The paper."),
    },
)

WINNERS = Shape(
    title="Winner",
    model=AwardGrant,
    fields=texts("citation", "The jury's words."),
    ones={
        "paper": One("papers", "paper", "The paper that won, which may be an older one."),
        "person": One("people", "person", "The person who won."),
    },
)

AWARDS = Resource(
    name="awards",
    title="Award",
    help="Awards of an edition with their winners.",
    model=Award,
    key="uid",
    edition="edition__slug",
    page=page(("uid", "edition__slug"), lambda row: f"/{row['edition__slug']}/awards/#award-{row['uid']}"),
    fields={
        "name": string("name", "The name."),
        **texts("citation", "What it is given for."),
        "position": number("position", "Its place among the awards of its edition."),
        "status": state(),
    },
    ones={"edition": EDITION},
    manys={"winners": Many(WINNERS, "award", "Who won it.", ("position", "pk"))},
    lists={"papers": "award"},
    orders={"name": F("name"), "position": F("position")},
)
