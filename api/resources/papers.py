"""Papers with their authors, topics, materials and awards."""

from typing import cast

from django.db.models import F
from django.utils.translation import gettext_lazy as _

from api.filters import AwardFilter, MaterialFilter, PaperFilter, TopicFilter
from api.resources.conference import EDITION
from api.shapes import (
    Field,
    Resource,
    Row,
    Shape,
    ToMany,
    ToOne,
    column_field,
    column_fields,
    file_url,
    page_field,
    slug,
    text_fields,
    with_names,
)
from papers.models import Authorship, Award, AwardGrant, Material, Paper, Topic
from papers.querysets import TopicQuerySet


def paper_path(row: Row, prefix: str = "") -> str:
    """Return the path of a paper's page; `prefix` is the lookup of the paper."""
    edition, uid = row[f"{prefix}edition__slug"], row[f"{prefix}uid"]
    return f"/{edition}/papers/{uid}/{slug(row[f'{prefix}title'])}/"


AUTHORS = Shape(
    title="Author",
    model=Authorship,
    prepare=with_names,
    writable=("name", "affiliations", "corresponding", "presenting"),
    part_key=("person",),
    fields={
        **column_fields(Authorship, "position"),
        "name": column_field("shown_name", _("The name as printed on the paper.")),
        **column_fields(
            Authorship,
            *("affiliations", "corresponding", "presenting"),
            affiliations=_("The affiliations as printed."),
            corresponding=_("Whether this is the corresponding author."),
            presenting=_("Whether presenting the paper."),
        ),
    },
    to_one={"person": ToOne("people", "person", _("The person."))},
    to_many={
        "institutions": ToMany(
            "institutions", "authorships", _("The institutions of these affiliations."), ("name", "pk")
        )
    },
)

AWARDS_WON = Shape(
    title="PaperAward",
    model=AwardGrant,
    fields={
        "name": column_field("award__name", _("The name of the award.")),
        **text_fields("citation", _("The jury's words.")),
    },
    to_one={"award": ToOne("awards", "award", _("The award, which may be of a later edition."))},
)

PAPER_COLUMNS = (
    "title", "abstract", "lay_summary", "track", "keywords", "decision", "status", "doi", "pages",
    "license",
)  # fmt: skip

PAPERS = Resource(
    name="papers",
    help=_("Papers with their authors in order."),
    model=Paper,
    key="uid",
    edition="edition__slug",
    page=page_field(("uid", "title", "edition__slug"), paper_path),
    filters=PaperFilter,
    fields={
        **column_fields(
            Paper,
            *("title", "abstract", "lay_summary", "teaser", "track", "keywords", "decision", "doi", "pages"),
            "license",
            title=_("The title as printed."),
            lay_summary=_("A summary for readers from other fields."),
            keywords=_("Keywords."),
        ),
        "effective_license": Field(
            ("license", "edition__license"),
            lambda row: row["license"] or row["edition__license"],
            _("The license that holds: its own, else the edition's."),
        ),
        **column_fields(Paper, "status"),
    },
    to_one={"edition": EDITION, "topic": ToOne("topics", "topic", _("The topic it belongs to."))},
    to_many={
        "authors": ToMany(AUTHORS, "paper", _("The authors in order."), ("position",)),
        "awards": ToMany(AWARDS_WON, "paper", _("What it won."), ("award__position", "award", "position")),
        "presentations": ToMany(
            "presentations", "paper", _("Its appearances."), ("begins", "position", "pk")
        ),
        "materials": ToMany("materials", "paper", _("Its files and links."), ("position", "pk")),
    },
    lists={"presentations": "paper", "materials": "paper"},
    orders={"title": F("sort_title")},
    kind="paper",
    writable=PAPER_COLUMNS,
)


TOPICS = Resource(
    name="topics",
    help=_("The subject areas of an edition, a tree."),
    model=Topic,
    key="slug",
    edition="edition__slug",
    page=page_field(("slug", "edition__slug"), lambda row: f"/{row['edition__slug']}/topics/{row['slug']}/"),
    prepare=lambda rows, at: cast("TopicQuerySet", rows).with_counts(at),
    filters=TopicFilter,
    fields={
        **column_fields(Topic, "name", "position", "color"),
        "paper_count": column_field(
            "paper_count", _("How many published papers are in it and below it."), {"type": "integer"}
        ),
    },
    to_one={"edition": EDITION, "parent": ToOne("topics", "parent", _("The topic above it."))},
    lists={"papers": "topic", "topics": "parent"},
    orders={"name": F("name"), "position": F("position")},
    writable=("name", "position", "color"),
)

MATERIALS = Resource(
    name="materials",
    help=_("Files and links of papers."),
    model=Material,
    key="pk",
    edition="paper__edition__slug",
    page=page_field(
        ("paper__uid", "paper__title", "paper__edition__slug"), lambda row: paper_path(row, "paper__")
    ),
    filters=MaterialFilter,
    fields={
        **column_fields(Material, "kind", "label"),
        "href": Field(("url", "file"), lambda row: row["url"] or file_url(row["file"]), _("Where it is.")),
        **column_fields(Material, "license"),
        "effective_license": Field(
            ("license", "kind", "paper__license", "paper__edition__license"),
            lambda row: (
                row["license"]
                or (row["kind"] == "pdf" and (row["paper__license"] or row["paper__edition__license"]))
                or ""
            ),
            _("The license that holds: its own, of a PDF else the paper's."),
        ),
        **column_fields(
            Material,
            *("position", "visible"),
            visible=_("Whether everybody sees it; others are shown to staff alone."),
        ),
    },
    to_one={
        "edition": ToOne(
            "editions", "paper__edition", _("The edition it belongs to."), key="paper__edition__slug"
        ),
        "paper": ToOne("papers", "paper", _("The paper.")),
    },
    writable=("kind", "label", "url", "license", "position", "visible"),
    renamed={"url": "href"},
)

WINNERS = Shape(
    title="Winner",
    model=AwardGrant,
    writable=("citation",),
    part_key=("paper", "person"),
    fields=text_fields("citation", _("The jury's words.")),
    to_one={
        "paper": ToOne("papers", "paper", _("The paper that won, which may be an older one.")),
        "person": ToOne("people", "person", _("The person who won.")),
    },
)

AWARDS = Resource(
    name="awards",
    help=_("Awards of an edition with their winners."),
    model=Award,
    key="uid",
    edition="edition__slug",
    page=page_field(
        ("uid", "edition__slug"), lambda row: f"/{row['edition__slug']}/awards/#award-{row['uid']}"
    ),
    filters=AwardFilter,
    fields={
        **column_fields(Award, "name", "citation", "position", "status", citation=_("What it is given for.")),
    },
    to_one={"edition": EDITION},
    to_many={"winners": ToMany(WINNERS, "award", _("Who won it."), ("position", "pk"))},
    lists={"papers": "award"},
    orders={"name": F("name"), "position": F("position")},
    writable=("name", "citation", "position", "status"),
)
