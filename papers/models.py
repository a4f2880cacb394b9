"""Models of papers, authorships, topics, materials and awards. `schedule` has the presentations."""

import re
from collections.abc import Collection
from typing import Any, ClassVar, Self
from urllib.parse import quote

from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

import markup
from conference.models import Edition
from conference.pictures import validate_picture
from content.changed.dated import LICENSE, Dated, Follow, follow, in_edition
from content.fields import (
    HttpURLField,
    LicenseField,
    LinesField,
    MarkdownField,
    SlugKey,
    UidField,
    validate_accent,
)
from content.invalidation import paper_tag, title_tag
from content.licenses import License, find_license
from content.models import Content, Ordered, Status
from content.page_paths import page_path
from content.publicity.rules import PAPERS, PublicWhen
from content.unreleased.rows import Releasable
from papers.querysets import (
    TOPIC_LEVELS,
    AuthorshipQuerySet,
    AwardGrantQuerySet,
    AwardQuerySet,
    MaterialQuerySet,
    PaperQuerySet,
    TopicQuerySet,
)
from papers.rows import Thumbnail, thumbnail_of_name
from people.models import Institution, Person
from people.printed_names import NamedAsPrinted

# Lookups from a topic to itself and to the levels below it.
PATHS_DOWN = ["children__" * level for level in range(TOPIC_LEVELS)]

PLAIN_DECISION = re.compile(r"accept(ed)?( \((poster|oral|regular|main)\))?", re.IGNORECASE)


class Topic(Dated, Ordered, Content):
    """A subject area of an edition. Topics form a tree."""

    identity: ClassVar[str] = "slug"
    public_when = PublicWhen(PAPERS, shown_by=("papers", "children__papers", "children__children__papers"))
    personal_fields: ClassVar[tuple[str, ...]] = ()
    # The number of papers in it and below it is shown.
    changes_with = (
        Follow(tuple(f"{path}papers" for path in PATHS_DOWN), ("topic", "status"), published=True),
        Follow(tuple(f"{path}children" for path in PATHS_DOWN[:-1]), ("parent",), published=True),
    )
    opens = in_edition("edition", *PAPERS)

    edition = models.ForeignKey(Edition, models.CASCADE, verbose_name=_("edition"), related_name="topics")
    parent = models.ForeignKey(
        "self", models.CASCADE, verbose_name=_("parent"), null=True, blank=True, related_name="children"
    )
    slug = SlugKey(_("slug"), max_length=120)
    name = models.CharField(_("name"), max_length=150)
    color = models.CharField(
        _("color"),
        max_length=7,
        blank=True,
        validators=[validate_accent],
        help_text=_("Such as #0b6b62. Leave empty to use the parent topic’s color, or one from the palette."),
    )

    objects = TopicQuerySet.as_manager()

    class Meta:
        ordering = ["position", "name", "pk"]
        verbose_name = _("topic")
        verbose_name_plural = _("topics")
        constraints = [
            models.UniqueConstraint(fields=["edition", "slug"], name="topic_slug_unique_in_edition")
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return page_path("papers:topic", self.edition.slug, self.slug)

    @property
    def ancestors(self) -> list["Topic"]:
        """The topics above this one, from the top level down."""
        return [*self.parent.ancestors, self.parent] if self.parent else []

    def height(self) -> int:
        """Return the number of levels from this topic down: 1 if it has no subtopics."""
        levels = 1
        while (
            self.pk
            and levels <= TOPIC_LEVELS
            and Topic.objects.filter(**{"__".join(["parent"] * levels): self}).exists()
        ):
            levels += 1
        return levels

    def clean(self) -> None:
        if self.parent and self.parent.edition_id != self.edition_id:
            raise ValidationError({"parent": _("The parent topic belongs to another edition.")})
        ancestor = self.parent
        while ancestor:
            if ancestor.pk == self.pk and self.pk:
                raise ValidationError({"parent": _("A topic can’t be its own parent.")})
            ancestor = ancestor.parent
        if self.parent and len(self.ancestors) + self.height() > TOPIC_LEVELS:
            message = _("Topics have at most %(levels)d levels. Choose a higher parent.")
            raise ValidationError({"parent": message % {"levels": TOPIC_LEVELS}})


class Paper(Dated, Releasable, Content):
    """A paper of an edition. It may have several presentations, but has only one page."""

    identity: ClassVar[str] = "uid"
    personal_fields: ClassVar[tuple[str, ...]] = ()
    derived_fields: ClassVar[tuple[str, ...]] = (
        "title_html",
        "sort_title",
        "abstract_html",
        "lay_summary_html",
    )
    derived_from: ClassVar[tuple[str, ...]] = ("title", "abstract", "lay_summary")
    unrecorded_fields: ClassVar[tuple[str, ...]] = ("thumbnail", "on_release")
    public_when = PublicWhen(PAPERS, {"status": ("published",)})
    changes_with = (
        follow("authorships"),
        follow("authorships__person", "name"),
        follow("authorships__person__names"),
        follow("grants", published=True),
        follow("grants__award", "name", "status", published=True),
    )
    unshown = ("announced_at",)
    opens = in_edition("edition", *PAPERS, also=[LICENSE])
    # A deleted paper is gone at once, with its presentations.
    removal_waits: ClassVar[bool] = False
    descriptive_fields: ClassVar[tuple[str, ...]] = ("title", "abstract", "lay_summary", "doi", "pages")

    class Status(models.TextChoices):
        DRAFT = "draft", _("Draft")
        PUBLISHED = "published", _("Published")
        WITHDRAWN = "withdrawn", _("Withdrawn")

    edition = models.ForeignKey(Edition, models.CASCADE, verbose_name=_("edition"), related_name="papers")
    uid = UidField()
    title = models.CharField(
        _("title"), max_length=500, help_text=_("As printed; TeX between dollar signs, *emphasis*.")
    )
    title_html = models.TextField(editable=False)
    sort_title = models.CharField(max_length=500, editable=False)
    abstract = MarkdownField(_("abstract"), blank=True, help_text=_("Markdown; TeX between dollar signs."))
    abstract_html = models.TextField(blank=True, editable=False)
    lay_summary = MarkdownField(_("lay summary"), blank=True, help_text=_("For readers from other fields."))
    lay_summary_html = models.TextField(blank=True, editable=False)
    teaser = models.ImageField(
        _("teaser"),
        upload_to="teasers/",
        blank=True,
        validators=[validate_picture],
        help_text=_("A picture that represents the paper in lists."),
    )
    # Generated by `papers.thumbnails`. Its name contains its size.
    thumbnail = models.ImageField(upload_to="thumbnails/", blank=True, editable=False)
    track = models.CharField(
        _("track"),
        max_length=100,
        blank=True,
        help_text=_("Such as Position papers; empty for the main one."),
    )
    topic = models.ForeignKey(
        Topic, models.SET_NULL, verbose_name=_("topic"), null=True, blank=True, related_name="papers"
    )
    keywords = LinesField(_("keywords"), help_text=_("One per line."))
    decision = models.CharField(
        _("decision"), max_length=100, blank=True, help_text=_("As named in the review system.")
    )
    status = models.CharField(_("status"), max_length=12, choices=Status, default=Status.DRAFT)
    doi = models.CharField(
        _("DOI"), max_length=200, blank=True, help_text=_("Such as 10.48550/arXiv.2011.03641.")
    )
    pages = models.CharField(
        _("pages"), max_length=30, blank=True, help_text=_("In the proceedings, such as 12-25.")
    )
    license = LicenseField(
        _("license"), help_text=_("An SPDX identifier such as CC-BY-4.0. Leave empty to use the edition’s.")
    )
    # The time of the release that first showed the paper.
    announced_at = models.DateTimeField(null=True, editable=False)

    objects = PaperQuerySet.as_manager()

    # Set by the `with_…()` methods of the queryset, which fetch only public rows.
    shown_authors: list["Authorship"]
    shown_grants: list["AwardGrant"]
    shown_materials: list["Material"]

    class Meta:
        ordering = ["sort_title", "uid"]
        verbose_name = _("paper")
        verbose_name_plural = _("papers")
        constraints = [models.UniqueConstraint(fields=["edition", "uid"], name="paper_uid_unique_in_edition")]
        indexes = [
            # For the list of the public papers of an edition by title.
            models.Index(fields=["edition", "status", "sort_title", "uid"], name="paper_by_title"),
            models.Index(fields=["edition", "track"], name="paper_by_track"),
        ]

    def __str__(self) -> str:
        return markup.plain(self.title)

    def get_absolute_url(self) -> str:
        return page_path("papers:detail", self.edition.slug, self.uid, markup.slug(self.title))

    def cache_tags(self, changed: Collection[str]) -> set[str]:
        tag = paper_tag(self.uid)
        return {tag, title_tag(self.uid)} if "title" in changed else {tag}

    @classmethod
    def shown_by(cls) -> list[tuple[type[Any], str, str]]:
        return [(AwardGrant, "paper", "award__edition")]

    @property
    def doi_url(self) -> str:
        return f"https://doi.org/{quote(self.doi, safe='/:;().-_')}"

    @property
    def effective_license(self) -> License | None:
        """The paper's license. The default is the edition's."""
        return find_license(self.license or self.edition.license)

    @property
    def picture(self) -> Thumbnail | None:
        """The thumbnail with its size, or `None`."""
        return thumbnail_of_name(str(self.thumbnail))

    @property
    def informative_decision(self) -> str:
        """The decision, unless it only says that the paper was accepted."""
        return "" if PLAIN_DECISION.fullmatch(self.decision) else self.decision

    def clean(self) -> None:
        if self.topic and self.topic.edition_id != self.edition_id:
            raise ValidationError({"topic": _("The topic belongs to another edition.")})

    def derive(self) -> None:
        self.title_html = markup.inline(self.title)
        self.sort_title = markup.fold(markup.plain(self.title))[:500]
        self.abstract_html = markup.block(self.abstract)
        self.lay_summary_html = markup.block(self.lay_summary)


class Authorship(Dated, NamedAsPrinted, Ordered, Content):
    """An author of a paper: the position, and the name and affiliations as printed."""

    public_when = PublicWhen(PAPERS, within=("paper",))
    personal_fields: ClassVar[tuple[str, ...]] = ("name", "affiliations")
    edition_lookup: ClassVar[str] = "paper__edition"
    siblings_of: ClassVar[str] = "paper"
    # Others were added or removed.
    unshown: ClassVar[tuple[str, ...]] = ("position",)

    paper = models.ForeignKey(Paper, models.CASCADE, verbose_name=_("paper"), related_name="authorships")
    person = models.ForeignKey(Person, models.PROTECT, verbose_name=_("person"), related_name="authorships")
    affiliations = LinesField(_("affiliations as printed"), help_text=_("One per line."))
    institutions = models.ManyToManyField(
        Institution, verbose_name=_("institutions"), blank=True, related_name="authorships"
    )
    corresponding = models.BooleanField(_("corresponding"), default=False)
    presenting = models.BooleanField(_("presenting"), default=False)

    objects = AuthorshipQuerySet.as_manager()

    # Set by `with_shown_names()`.
    shown_name: str

    class Meta:
        ordering = ["paper", "position"]
        verbose_name = _("authorship")
        verbose_name_plural = _("authorships")
        constraints = [
            models.UniqueConstraint(fields=["paper", "position"], name="authorship_position_unique_in_paper"),
            models.UniqueConstraint(
                fields=["paper", "person"],
                name="authorship_person_unique_in_paper",
                violation_error_message=_("This person is already an author of the paper."),
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Material(Dated, Ordered, Content):
    """A file or link that belongs to a paper."""

    identity: ClassVar[str] = "pk"
    personal_fields: ClassVar[tuple[str, ...]] = ()
    edition_lookup: ClassVar[str] = "paper__edition"
    siblings_of: ClassVar[str] = "paper"
    public_when = PublicWhen(PAPERS, {"visible": (True,)}, within=("paper",))
    changes_with = (follow("paper", "title", "status", "license"),)
    opens = in_edition("paper__edition", *PAPERS, also=[LICENSE])

    class Kind(models.TextChoices):
        PDF = "pdf", _("PDF")
        SLIDES = "slides", _("Slides")
        POSTER = "poster", _("Poster")
        VIDEO = "video", _("Video")
        CODE = "code", _("Code")
        DATA = "data", _("Data")
        REVIEW = "review", _("Reviews")
        PROJECT = "project", _("Project page")
        OTHER = "other", _("Other")

    paper = models.ForeignKey(Paper, models.CASCADE, verbose_name=_("paper"), related_name="materials")
    kind = models.CharField(_("kind"), max_length=12, choices=Kind)
    label = models.CharField(
        _("label"), max_length=300, blank=True, help_text=_("Leave empty to use the kind.")
    )
    url = HttpURLField(_("address"), blank=True, max_length=1000)
    file = models.FileField(_("file"), upload_to="material/", blank=True)
    visible = models.BooleanField(_("visible"), default=True)
    license = LicenseField(
        _("license"),
        help_text=_(
            "An SPDX identifier such as MIT. Leave empty to use the paper’s license for a PDF, and "
            "none for other files."
        ),
    )

    objects = MaterialQuerySet.as_manager()

    # The key of the paper in the database when the row was fetched. Its thumbnail may show the file.
    stored_paper_id: int | None = None

    class Meta:
        ordering = ["paper", "position", "pk"]
        verbose_name = _("material")
        verbose_name_plural = _("materials")
        constraints = [
            models.CheckConstraint(
                condition=~Q(url="", file=""),
                name="material_has_address_or_file",
                violation_error_message=_("Enter an address or choose a file."),
            )
        ]

    def __str__(self) -> str:
        return self.label or self.get_kind_display()

    @classmethod
    def from_db(
        cls, db: str | None, field_names: Collection[str], values: Collection[Any], **kwargs: Any
    ) -> Self:
        row = super().from_db(db, field_names, values, **kwargs)
        row.stored_paper_id = vars(row).get("paper_id")
        return row

    @property
    def effective_license(self) -> License | None:
        """The material's license. The default for a PDF is the paper's, and for other kinds none."""
        own_license = find_license(self.license)
        return own_license or (self.paper.effective_license if self.kind == self.Kind.PDF else None)

    @property
    def href(self) -> str:
        return self.url or (self.file.url if self.file else "")


class Award(Dated, Ordered, Content):
    """An award of an edition, such as Outstanding Paper Award."""

    identity: ClassVar[str] = "uid"
    personal_fields: ClassVar[tuple[str, ...]] = ()
    derived_fields: ClassVar[tuple[str, ...]] = ("citation_html",)
    derived_from: ClassVar[tuple[str, ...]] = ("citation",)
    public_when = PublicWhen(PAPERS, {"status": ("published",)})
    changes_with = (follow("grants", published=True), follow("grants__paper", "status", published=True))
    opens = in_edition("edition", *PAPERS)

    edition = models.ForeignKey(Edition, models.CASCADE, verbose_name=_("edition"), related_name="awards")
    uid = UidField()
    name = models.CharField(_("name"), max_length=150)
    citation = MarkdownField(_("citation"), blank=True, help_text=_("What it is given for. Markdown."))
    citation_html = models.TextField(blank=True, editable=False)
    status = models.CharField(_("status"), max_length=12, choices=Status, default=Status.DRAFT)

    objects = AwardQuerySet.as_manager()

    class Meta:
        ordering = ["position", "pk"]
        verbose_name = _("award")
        verbose_name_plural = _("awards")
        constraints = [models.UniqueConstraint(fields=["edition", "uid"], name="award_uid_unique_in_edition")]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return f"{reverse('papers:awards', args=[self.edition.slug])}#{self.anchor}"

    @classmethod
    def shown_by(cls) -> list[tuple[type[Any], str, str]]:
        return [(AwardGrant, "award", "paper__edition")]

    @property
    def anchor(self) -> str:
        return f"award-{self.uid}"

    def derive(self) -> None:
        self.citation_html = markup.block(self.citation)


class AwardGrant(Ordered, Content):
    """An award of a person or a paper. The paper may be of an older edition (Test of Time)."""

    public_when = PublicWhen(PAPERS, within=("award", "paper"))
    personal_fields: ClassVar[tuple[str, ...]] = ("citation", "citation_html")
    part_of: ClassVar[tuple[str, ...]] = ("award", "paper")
    edition_lookup: ClassVar[str] = "award__edition"
    other_edition_lookup: ClassVar[str] = "paper__edition"
    siblings_of: ClassVar[str] = "award"
    derived_fields: ClassVar[tuple[str, ...]] = ("citation_html",)
    derived_from: ClassVar[tuple[str, ...]] = ("citation",)

    award = models.ForeignKey(Award, models.CASCADE, verbose_name=_("award"), related_name="grants")
    paper = models.ForeignKey(
        Paper, models.CASCADE, verbose_name=_("paper"), null=True, blank=True, related_name="grants"
    )
    person = models.ForeignKey(
        Person, models.PROTECT, verbose_name=_("person"), null=True, blank=True, related_name="grants"
    )
    citation = MarkdownField(_("citation"), blank=True, help_text=_("The jury’s words. Markdown."))
    citation_html = models.TextField(blank=True, editable=False)

    objects = AwardGrantQuerySet.as_manager()

    class Meta:
        ordering = ["award", "position", "pk"]
        verbose_name = _("award grant")
        verbose_name_plural = _("award grants")
        constraints = [
            models.CheckConstraint(
                condition=Q(paper__isnull=True, person__isnull=False)
                | Q(paper__isnull=False, person__isnull=True),
                name="award_grant_has_one_winner",
                violation_error_message=_("Choose either a paper or a person, not both."),
            ),
            models.UniqueConstraint(fields=["award", "paper"], name="award_grant_paper_unique"),
            models.UniqueConstraint(fields=["award", "person"], name="award_grant_person_unique"),
        ]

    def __str__(self) -> str:
        return f"{self.award}: {self.paper or self.person}"

    def derive(self) -> None:
        self.citation_html = markup.block(self.citation)
