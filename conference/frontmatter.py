"""What stands on an edition's site apart from the program: free pages, the menu, sponsors, announcements."""

from typing import ClassVar

from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone

from conference import text
from conference.bases import Content, Ordered, Status
from conference.fields import HttpURLField, SlugKey, UidField
from conference.querysets import AnnouncementQuerySet, EditionPartQuerySet, MenuItemQuerySet


class Page(Content):
    """A free page in Markdown, of one edition or, without one, of the whole site."""

    derived_fields: ClassVar[tuple[str, ...]] = ("body_html",)

    edition = models.ForeignKey(
        "conference.Edition", models.CASCADE, related_name="pages", null=True, blank=True
    )
    slug = SlugKey(max_length=80)
    title = models.CharField(max_length=200)
    body = models.TextField(blank=True, help_text="Markdown; TeX between dollar signs.")
    body_html = models.TextField(blank=True, editable=False)
    status = models.CharField(max_length=12, choices=Status, default=Status.DRAFT)

    objects = EditionPartQuerySet["Page"].as_manager()

    class Meta:
        ordering = ["edition", "slug"]
        constraints = [
            models.UniqueConstraint(fields=["edition", "slug"], name="page_slug_unique_in_edition"),
            models.UniqueConstraint(
                fields=["slug"], condition=Q(edition__isnull=True), name="page_slug_unique_in_site"
            ),
        ]

    def __str__(self) -> str:
        return self.title

    def get_absolute_url(self) -> str:
        if self.edition is None:
            return reverse("conference:site_page", args=[self.slug])
        return reverse("conference:page", args=[self.edition.slug, self.slug])

    def derive(self) -> None:
        self.body_html = text.block(self.body)


class MenuItem(Ordered, Content):
    """One line of an edition's menu: a built-in section, a free page or an address; nested once."""

    class Section(models.TextChoices):
        HOME = "home", "Home"
        SCHEDULE = "schedule", "Schedule"
        PAPERS = "papers", "Papers"
        TALKS = "talks", "Invited talks"
        POSTERS = "posters", "Posters"
        AWARDS = "awards", "Awards"
        PEOPLE = "people", "People"
        RECORDINGS = "recordings", "Recordings"
        SPONSORS = "sponsors", "Sponsors"
        COMMITTEE = "committee", "Committee"
        CHANGES = "changes", "Changes"
        STATISTICS = "statistics", "In numbers"
        DOWNLOADS = "downloads", "Downloads"

    edition = models.ForeignKey("conference.Edition", models.CASCADE, related_name="menu_items")
    parent = models.ForeignKey("self", models.CASCADE, related_name="children", null=True, blank=True)
    label = models.CharField(max_length=60)
    section = models.CharField(max_length=12, choices=Section, blank=True)
    page = models.ForeignKey(Page, models.CASCADE, null=True, blank=True, related_name="menu_items")
    url = HttpURLField("address", blank=True)

    objects = MenuItemQuerySet.as_manager()

    class Meta:
        ordering = ["position", "pk"]
        constraints = [
            models.CheckConstraint(
                condition=(
                    (~Q(section="") & Q(page__isnull=True, url=""))
                    | Q(section="", page__isnull=False, url="")
                    | (Q(section="", page__isnull=True) & ~Q(url=""))
                ),
                name="menu_item_has_one_target",
                violation_error_message="Give one target: a section, a page or an address.",
            ),
        ]

    def __str__(self) -> str:
        return self.label

    def clean(self) -> None:
        if [bool(self.section), self.page_id is not None, bool(self.url)].count(True) != 1:
            raise ValidationError("Give one target: a section, a page or an address.")
        if self.parent and self.parent.parent_id:
            raise ValidationError({"parent": "The menu nests once: choose a line of the first level."})
        if self.parent and self.pk and self.children.exists():
            raise ValidationError({"parent": "The menu nests once: this line has lines below it."})
        if self.parent and self.parent.edition_id != self.edition_id:
            raise ValidationError({"parent": "The line above belongs to another edition."})
        if self.page and self.page.edition_id not in (None, self.edition_id):
            raise ValidationError({"page": "The page belongs to another edition."})


class Sponsor(Ordered, Content):
    """A sponsor, shown in the given order and grouped by tier."""

    derived_fields: ClassVar[tuple[str, ...]] = ("description_html",)

    edition = models.ForeignKey("conference.Edition", models.CASCADE, related_name="sponsors")
    slug = SlugKey(max_length=80)
    name = models.CharField(max_length=150)
    tier = models.CharField(
        max_length=60, blank=True, help_text="Such as Gold. Sponsors of one tier stand together."
    )
    url = HttpURLField("website", blank=True)
    logo = models.ImageField(upload_to="sponsors/", blank=True)
    description = models.TextField(blank=True, help_text="Markdown.")
    description_html = models.TextField(blank=True, editable=False)
    status = models.CharField(max_length=12, choices=Status, default=Status.DRAFT)

    objects = EditionPartQuerySet["Sponsor"].as_manager()

    class Meta:
        ordering = ["position", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["edition", "slug"], name="sponsor_slug_unique_in_edition")
        ]

    def __str__(self) -> str:
        return self.name

    def derive(self) -> None:
        self.description_html = text.block(self.description)


class Announcement(Content):
    """News of an edition, shown from a moment on."""

    derived_fields: ClassVar[tuple[str, ...]] = ("text_html",)

    edition = models.ForeignKey("conference.Edition", models.CASCADE, related_name="announcements")
    uid = UidField()
    title = models.CharField(max_length=200)
    text = models.TextField(blank=True, help_text="Markdown.")
    text_html = models.TextField(blank=True, editable=False)
    published_at = models.DateTimeField("shown from", default=timezone.now)
    pinned = models.BooleanField(default=False, help_text="Stays above the others.")
    status = models.CharField(max_length=12, choices=Status, default=Status.DRAFT)

    objects = AnnouncementQuerySet.as_manager()

    class Meta:
        ordering = ["-pinned", "-published_at", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["edition", "uid"], name="announcement_uid_unique_in_edition")
        ]

    def __str__(self) -> str:
        return self.title

    def derive(self) -> None:
        self.text_html = text.block(self.text)
