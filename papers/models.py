"""What: papers with their authors in order, topics, material, awards. When they are shown: `schedule`."""

import re
from typing import ClassVar
from urllib.parse import quote

from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Q
from django.urls import reverse

from conference import text
from conference.bases import Content, Ordered, Status
from conference.fields import HttpURLField, LinesField, SlugKey, UidField
from conference.models import Edition
from papers.querysets import (
    TOPIC_LEVELS,
    AuthorshipQuerySet,
    AwardGrantQuerySet,
    AwardQuerySet,
    MaterialQuerySet,
    PaperQuerySet,
    TopicQuerySet,
)
from people.models import Institution, NamedAsPrinted, Person

PLAIN_DECISION = re.compile(r"accept(ed)?( \((poster|oral|regular|main)\))?", re.IGNORECASE)


class Topic(Ordered, Content):
    """A subject area of an edition; areas form a tree."""

    edition = models.ForeignKey(Edition, models.CASCADE, related_name="topics")
    parent = models.ForeignKey("self", models.CASCADE, null=True, blank=True, related_name="children")
    slug = SlugKey(max_length=120)
    name = models.CharField(max_length=150)

    objects = TopicQuerySet.as_manager()

    class Meta:
        ordering = ["position", "name", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["edition", "slug"], name="topic_slug_unique_in_edition")
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("papers:topic", args=[self.edition.slug, self.slug])

    @property
    def ancestors(self) -> list["Topic"]:
        """The topics above it, the highest first."""
        return [*self.parent.ancestors, self.parent] if self.parent else []

    def height(self) -> int:
        """Return how many levels there are from this topic down: 1 where nothing stands below it."""
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
            raise ValidationError({"parent": "The topic above belongs to another edition."})
        above = self.parent
        while above:
            if above.pk == self.pk and self.pk:
                raise ValidationError({"parent": "A topic cannot stand below itself."})
            above = above.parent
        if self.parent and len(self.ancestors) + self.height() > TOPIC_LEVELS:
            raise ValidationError({"parent": f"Topics nest {TOPIC_LEVELS} levels deep: choose a higher one."})


class Paper(Content):
    """A paper of an edition: one page, whatever its appearances."""

    derived_fields: ClassVar[tuple[str, ...]] = (
        "title_html",
        "sort_title",
        "abstract_html",
        "lay_summary_html",
    )

    class Status(models.TextChoices):
        DRAFT = "draft", "Draft"
        PUBLISHED = "published", "Published"
        WITHDRAWN = "withdrawn", "Withdrawn"

    edition = models.ForeignKey(Edition, models.CASCADE, related_name="papers")
    uid = UidField()
    title = models.CharField(max_length=500, help_text="As printed; TeX between dollar signs, *emphasis*.")
    title_html = models.TextField(editable=False)
    sort_title = models.CharField(max_length=500, editable=False)
    abstract = models.TextField(blank=True, help_text="Markdown; TeX between dollar signs.")
    abstract_html = models.TextField(blank=True, editable=False)
    lay_summary = models.TextField(blank=True, help_text="For readers from other fields.")
    lay_summary_html = models.TextField(blank=True, editable=False)
    track = models.CharField(
        max_length=100, blank=True, help_text="Such as Position papers; empty for the main one."
    )
    topic = models.ForeignKey(Topic, models.SET_NULL, null=True, blank=True, related_name="papers")
    keywords = LinesField(help_text="One a line.")
    decision = models.CharField(max_length=100, blank=True, help_text="As the review system says it.")
    status = models.CharField(max_length=12, choices=Status, default=Status.DRAFT)
    doi = models.CharField("DOI", max_length=200, blank=True, help_text="Such as 10.48550/arXiv.2011.03641.")
    pages = models.CharField(max_length=30, blank=True, help_text="In the proceedings, such as 12-25.")
    # When a release first showed it: from then on its address stays, even if it is withdrawn.
    announced_at = models.DateTimeField(null=True, editable=False)

    objects = PaperQuerySet.as_manager()

    # What the `with_…()` methods of the queryset fetch, public rows only.
    shown_authors: list["Authorship"]
    shown_grants: list["AwardGrant"]
    shown_materials: list["Material"]

    class Meta:
        ordering = ["sort_title", "uid"]
        constraints = [models.UniqueConstraint(fields=["edition", "uid"], name="paper_uid_unique_in_edition")]
        indexes = [
            # The browse page: an edition's public papers by title.
            models.Index(fields=["edition", "status", "sort_title", "uid"], name="paper_by_title"),
            models.Index(fields=["edition", "track"], name="paper_by_track"),
        ]

    def __str__(self) -> str:
        return text.plain(self.title)

    def get_absolute_url(self) -> str:
        return reverse("papers:detail", args=[self.edition.slug, self.uid, text.slug(self.title)])

    @property
    def doi_url(self) -> str:
        """Where the DOI resolves."""
        return f"https://doi.org/{quote(self.doi, safe='/:;().-_')}"

    @property
    def telling_decision(self) -> str:
        """The decision, unless it says no more than that the paper is in the program."""
        return "" if PLAIN_DECISION.fullmatch(self.decision) else self.decision

    def clean(self) -> None:
        if self.topic and self.topic.edition_id != self.edition_id:
            raise ValidationError({"topic": "The topic belongs to another edition."})

    def derive(self) -> None:
        self.title_html = text.inline(self.title)
        self.sort_title = text.fold(text.plain(self.title))[:500]
        self.abstract_html = text.block(self.abstract)
        self.lay_summary_html = text.block(self.lay_summary)


class Authorship(NamedAsPrinted, Ordered, Content):
    """One author of one paper: the place in the order, and name and affiliations as printed."""

    edition_lookup: ClassVar[str] = "paper__edition"
    siblings_of: ClassVar[str] = "paper"

    paper = models.ForeignKey(Paper, models.CASCADE, related_name="authorships")
    person = models.ForeignKey(Person, models.PROTECT, related_name="authorships")
    affiliations = LinesField("affiliations as printed", help_text="One a line.")
    institutions = models.ManyToManyField(Institution, blank=True, related_name="authorships")
    corresponding = models.BooleanField(default=False)
    presenting = models.BooleanField(default=False)

    objects = AuthorshipQuerySet.as_manager()

    class Meta:
        ordering = ["paper", "position"]
        constraints = [
            models.UniqueConstraint(fields=["paper", "position"], name="authorship_position_unique_in_paper"),
            models.UniqueConstraint(
                fields=["paper", "person"],
                name="authorship_person_unique_in_paper",
                violation_error_message="This person is an author of the paper already.",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Material(Ordered, Content):
    """A file or link that belongs to a paper."""

    edition_lookup: ClassVar[str] = "paper__edition"
    siblings_of: ClassVar[str] = "paper"

    class Kind(models.TextChoices):
        PDF = "pdf", "PDF"
        SLIDES = "slides", "Slides"
        POSTER = "poster", "Poster"
        VIDEO = "video", "Video"
        CODE = "code", "Code"
        DATA = "data", "Data"
        REVIEW = "review", "Reviews"
        PROJECT = "project", "Project page"
        OTHER = "other", "Other"

    paper = models.ForeignKey(Paper, models.CASCADE, related_name="materials")
    kind = models.CharField(max_length=12, choices=Kind)
    label = models.CharField(max_length=100, blank=True, help_text="Empty: the kind.")
    url = HttpURLField("address", blank=True, max_length=1000)
    file = models.FileField(upload_to="material/", blank=True)
    visible = models.BooleanField(default=True)

    objects = MaterialQuerySet.as_manager()

    class Meta:
        ordering = ["paper", "position", "pk"]
        constraints = [
            models.CheckConstraint(
                condition=~Q(url="", file=""),
                name="material_has_address_or_file",
                violation_error_message="Give an address or a file.",
            )
        ]

    def __str__(self) -> str:
        return self.label or self.get_kind_display()

    @property
    def href(self) -> str:
        """Where the material is."""
        return self.url or (self.file.url if self.file else "")


class Award(Ordered, Content):
    """An award of an edition, such as Outstanding Paper Award."""

    derived_fields: ClassVar[tuple[str, ...]] = ("citation_html",)

    edition = models.ForeignKey(Edition, models.CASCADE, related_name="awards")
    uid = UidField()
    name = models.CharField(max_length=150)
    citation = models.TextField(blank=True, help_text="What it is given for. Markdown.")
    citation_html = models.TextField(blank=True, editable=False)
    status = models.CharField(max_length=12, choices=Status, default=Status.DRAFT)

    objects = AwardQuerySet.as_manager()

    class Meta:
        ordering = ["position", "pk"]
        constraints = [models.UniqueConstraint(fields=["edition", "uid"], name="award_uid_unique_in_edition")]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return f"{reverse('papers:awards', args=[self.edition.slug])}#{self.anchor}"

    @property
    def anchor(self) -> str:
        """Where on the page of awards it stands."""
        return f"award-{self.uid}"

    def derive(self) -> None:
        self.citation_html = text.block(self.citation)


class AwardGrant(Ordered, Content):
    """An award going to a paper, which may be an older one (Test of Time), or to a person."""

    edition_lookup: ClassVar[str] = "award__edition"
    siblings_of: ClassVar[str] = "award"
    derived_fields: ClassVar[tuple[str, ...]] = ("citation_html",)

    award = models.ForeignKey(Award, models.CASCADE, related_name="grants")
    paper = models.ForeignKey(Paper, models.CASCADE, null=True, blank=True, related_name="grants")
    person = models.ForeignKey(Person, models.PROTECT, null=True, blank=True, related_name="grants")
    citation = models.TextField(blank=True, help_text="The jury's words. Markdown.")
    citation_html = models.TextField(blank=True, editable=False)

    objects = AwardGrantQuerySet.as_manager()

    class Meta:
        ordering = ["award", "position", "pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(paper__isnull=True, person__isnull=False)
                | Q(paper__isnull=False, person__isnull=True),
                name="award_grant_has_one_winner",
                violation_error_message="Give either a paper or a person.",
            ),
            models.UniqueConstraint(fields=["award", "paper"], name="award_grant_paper_unique"),
            models.UniqueConstraint(fields=["award", "person"], name="award_grant_person_unique"),
        ]

    def __str__(self) -> str:
        return f"{self.award}: {self.paper or self.person}"

    def derive(self) -> None:
        self.citation_html = text.block(self.citation)
