"""Content of an edition's site other than the program: free pages, the menu, sponsors, announcements."""

from typing import ClassVar

from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

import markup as text
from conference import menu_sections
from conference.querysets import AnnouncementQuerySet, EditionPartQuerySet, MenuItemQuerySet
from content.fields import HttpURLField, SlugKey, UidField
from content.models import Content, Ordered, Status


class Page(Content):
    """A free page in Markdown, of one edition or, without one, of the whole site."""

    personal_fields: ClassVar[tuple[str, ...]] = ()
    derived_fields: ClassVar[tuple[str, ...]] = ("body_html",)
    derived_from: ClassVar[tuple[str, ...]] = ("body",)

    edition = models.ForeignKey(
        "conference.Edition",
        models.CASCADE,
        verbose_name=_("edition"),
        related_name="pages",
        null=True,
        blank=True,
    )
    slug = SlugKey(_("slug"), max_length=80)
    title = models.CharField(_("title"), max_length=200)
    body = models.TextField(_("body"), blank=True, help_text=_("Markdown; TeX between dollar signs."))
    body_html = models.TextField(blank=True, editable=False)
    status = models.CharField(_("status"), max_length=12, choices=Status, default=Status.DRAFT)

    objects = EditionPartQuerySet["Page"].as_manager()

    class Meta:
        ordering = ["edition", "slug"]
        verbose_name = _("page")
        verbose_name_plural = _("pages")
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

    personal_fields: ClassVar[tuple[str, ...]] = ()
    part_of: ClassVar[tuple[str, ...]] = ("edition",)

    edition = models.ForeignKey(
        "conference.Edition", models.CASCADE, verbose_name=_("edition"), related_name="menu_items"
    )
    parent = models.ForeignKey(
        "self", models.CASCADE, verbose_name=_("parent"), related_name="children", null=True, blank=True
    )
    label = models.CharField(_("label"), max_length=60)
    section = models.CharField(_("section"), max_length=12, choices=menu_sections.choices, blank=True)
    page = models.ForeignKey(
        Page, models.CASCADE, verbose_name=_("page"), null=True, blank=True, related_name="menu_items"
    )
    url = HttpURLField(_("address"), blank=True)

    objects = MenuItemQuerySet.as_manager()

    class Meta:
        ordering = ["position", "pk"]
        verbose_name = _("menu item")
        verbose_name_plural = _("menu items")
        constraints = [
            models.CheckConstraint(
                condition=(
                    (~Q(section="") & Q(page__isnull=True, url=""))
                    | Q(section="", page__isnull=False, url="")
                    | (Q(section="", page__isnull=True) & ~Q(url=""))
                ),
                name="menu_item_has_one_target",
                violation_error_message=_("Give one target: a section, a page or an address."),
            ),
        ]

    def __str__(self) -> str:
        return self.label

    def clean(self) -> None:
        if [bool(self.section), self.page_id is not None, bool(self.url)].count(True) != 1:
            raise ValidationError(_("Give one target: a section, a page or an address."))
        if self.parent and self.parent.parent_id:
            raise ValidationError({"parent": _("The menu nests once: choose a line of the first level.")})
        if self.parent and self.pk and self.children.exists():
            raise ValidationError({"parent": _("The menu nests once: this line has lines below it.")})
        if self.parent and self.parent.edition_id != self.edition_id:
            raise ValidationError({"parent": _("The line above belongs to another edition.")})
        if self.page and self.page.edition_id not in (None, self.edition_id):
            raise ValidationError({"page": _("The page belongs to another edition.")})


class Sponsor(Ordered, Content):
    """A sponsor, shown in the given order and grouped by tier."""

    personal_fields: ClassVar[tuple[str, ...]] = ()
    derived_fields: ClassVar[tuple[str, ...]] = ("description_html",)
    derived_from: ClassVar[tuple[str, ...]] = ("description",)

    edition = models.ForeignKey(
        "conference.Edition", models.CASCADE, verbose_name=_("edition"), related_name="sponsors"
    )
    slug = SlugKey(_("slug"), max_length=80)
    name = models.CharField(_("name"), max_length=150)
    tier = models.CharField(
        _("tier"),
        max_length=60,
        blank=True,
        help_text=_("Such as Gold. Sponsors of one tier stand together."),
    )
    url = HttpURLField(_("website"), blank=True)
    logo = models.ImageField(_("logo"), upload_to="sponsors/", blank=True)
    description = models.TextField(_("description"), blank=True, help_text=_("Markdown."))
    description_html = models.TextField(blank=True, editable=False)
    status = models.CharField(_("status"), max_length=12, choices=Status, default=Status.DRAFT)

    objects = EditionPartQuerySet["Sponsor"].as_manager()

    class Meta:
        ordering = ["position", "pk"]
        verbose_name = _("sponsor")
        verbose_name_plural = _("sponsors")
        constraints = [
            models.UniqueConstraint(fields=["edition", "slug"], name="sponsor_slug_unique_in_edition")
        ]

    def __str__(self) -> str:
        return self.name

    def derive(self) -> None:
        self.description_html = text.block(self.description)


class Announcement(Content):
    """News of an edition, shown from a moment on."""

    personal_fields: ClassVar[tuple[str, ...]] = ()
    derived_fields: ClassVar[tuple[str, ...]] = ("text_html",)
    derived_from: ClassVar[tuple[str, ...]] = ("text",)

    edition = models.ForeignKey(
        "conference.Edition", models.CASCADE, verbose_name=_("edition"), related_name="announcements"
    )
    uid = UidField()
    title = models.CharField(_("title"), max_length=200)
    text = models.TextField(_("text"), blank=True, help_text=_("Markdown."))
    text_html = models.TextField(blank=True, editable=False)
    published_at = models.DateTimeField(_("shown from"), default=timezone.now)
    pinned = models.BooleanField(_("pinned"), default=False, help_text=_("Stays above the others."))
    status = models.CharField(_("status"), max_length=12, choices=Status, default=Status.DRAFT)

    objects = AnnouncementQuerySet.as_manager()

    class Meta:
        ordering = ["-pinned", "-published_at", "pk"]
        verbose_name = _("announcement")
        verbose_name_plural = _("announcements")
        constraints = [
            models.UniqueConstraint(fields=["edition", "uid"], name="announcement_uid_unique_in_edition")
        ]

    def __str__(self) -> str:
        return self.title

    def derive(self) -> None:
        self.text_html = text.block(self.text)
