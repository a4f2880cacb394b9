"""Conferences, their editions, and the content of an edition's site other than the program."""

from datetime import UTC, date, datetime, time, timedelta
from typing import Any, ClassVar

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import MaxLengthValidator, MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import F, Q
from django.urls import reverse
from django.utils.timezone import now
from django.utils.translation import gettext_lazy as _

import markup
from conference import home_sections, menu_sections, pictures
from conference.edition_clock import EditionClock as EditionClock
from conference.edition_clock import EditionSummary as EditionSummary
from conference.querysets import (
    AnnouncementQuerySet,
    ConferenceQuerySet,
    EditionPartQuerySet,
    EditionQuerySet,
    MenuItemQuerySet,
)
from content import times
from content.changed.dated import CLOCK, LICENSE, Dated, in_edition, set_at
from content.fields import (
    HttpURLField,
    LicenseField,
    LinesField,
    MarkdownField,
    SlugKey,
    UidField,
    validate_accent,
    validate_edition_slug,
    validate_isbn,
    validate_issn,
    validate_slug,
    validate_timezone,
)
from content.history import recording
from content.models import Content, Ordered, Status, ends_before_start
from content.page_paths import page_path
from content.preview_context import GATES
from content.publicity.rules import SITE, PublicWhen
from content.publicity.watching import lock_gates

GIVE_ONE_DATE = _("Give either a day, or a day and time.")


class Conference(Dated, Content):
    """A series of conferences, such as MLSys."""

    identity: ClassVar[str] = "slug"
    public_when = PublicWhen(shown_by=("editions",))
    personal_fields: ClassVar[tuple[str, ...]] = ()
    is_container: ClassVar[bool] = True
    edition_lookup: ClassVar[str] = ""
    derived_fields: ClassVar[tuple[str, ...]] = ("description_html",)
    derived_from: ClassVar[tuple[str, ...]] = ("description",)

    slug = SlugKey(
        _("slug"), max_length=60, unique=True, help_text=_("Short name in addresses, such as mlsys.")
    )
    name = models.CharField(
        _("name"), max_length=100, help_text=_("The short name people use, such as MLSys.")
    )
    full_name = models.CharField(_("full name"), max_length=300, blank=True)
    description = MarkdownField(
        _("description"), blank=True, help_text=_("Markdown; TeX between dollar signs.")
    )
    description_html = models.TextField(blank=True, editable=False)
    website = HttpURLField(_("website"), blank=True)
    logo = pictures.SmallPictureField(_("logo"), upload_to="logos/", blank=True)

    objects = ConferenceQuerySet.as_manager()

    class Meta:
        ordering = ["name"]
        verbose_name = _("conference")
        verbose_name_plural = _("conferences")

    def __str__(self) -> str:
        return self.name

    def derive(self) -> None:
        self.description_html = markup.block(self.description)

    @classmethod
    def shown_by(cls) -> list[tuple[type[Any], str, str]]:
        return [(Edition, "conference", "pk")]


class Edition(EditionClock, Dated, Content):
    """One year of a conference: dates, place, time zone, and the moments at which its parts become public."""

    identity: ClassVar[str] = "slug"
    public_when = PublicWhen(SITE)
    personal_fields: ClassVar[tuple[str, ...]] = ("proceedings_editors",)
    impersonal_fields: ClassVar[tuple[str, ...]] = (
        "slug", "name", "timezone", "second_timezone", "venue", "city", "country", "description",
        "description_html", "accent", "logo", "proceedings_title", "proceedings_series", "proceedings_volume",
        "publisher", "publisher_place", "isbn", "issn", "license", "data_license", "hero", "hero_focus",
        "home_sections", "sponsor_tiers", "committee_offices", "registration_url", "venue_address", "map_url",
        "venue_picture",
    )  # fmt: skip
    is_container: ClassVar[bool] = True
    edition_lookup: ClassVar[str] = ""
    derived_fields: ClassVar[tuple[str, ...]] = ("description_html",)
    derived_from: ClassVar[tuple[str, ...]] = ("description",)
    unrecorded_fields: ClassVar[tuple[str, ...]] = ("revision", "changed_at")
    # `changed_at` is the time of its revision.
    changed_column = "edited_at"
    part_times: ClassVar[dict[str, tuple[str, ...]]] = {
        LICENSE: ("license",),
        CLOCK: ("timezone", "day_start_hour"),
        **{set_at(gate): (gate,) for gate in GATES},
    }
    unshown = ("papers_public_from", "schedule_public_from")
    opens = ("public_from",)

    class Mode(models.TextChoices):
        IN_PERSON = "in_person", _("In person")
        VIRTUAL = "virtual", _("Virtual")
        HYBRID = "hybrid", _("Hybrid")

    conference = models.ForeignKey(
        Conference, models.PROTECT, verbose_name=_("conference"), related_name="editions"
    )
    year = models.PositiveSmallIntegerField(
        _("year"), validators=[MinValueValidator(1900), MaxValueValidator(2200)]
    )
    slug = SlugKey(
        _("slug"),
        max_length=60,
        unique=True,
        validators=[validate_slug, validate_edition_slug],
        help_text=_("First part of every address, such as 2027 or mlsys-2027."),
    )
    name = models.CharField(_("name"), max_length=150, help_text=_("Such as MLSys 2027."))
    start_date = models.DateField(_("start date"))
    end_date = models.DateField(_("end date"))
    timezone = models.CharField(
        _("time zone"),
        max_length=64,
        validators=[validate_timezone],
        help_text=_("The venue’s time zone, such as Asia/Seoul. All times are entered and shown in it."),
    )
    second_timezone = models.CharField(
        _("second time zone"),
        max_length=64,
        blank=True,
        validators=[validate_timezone],
        help_text=_("For hybrid conferences: shown next to the venue’s time on schedule and session pages."),
    )
    venue = models.CharField(_("venue"), max_length=200, blank=True)
    city = models.CharField(_("city"), max_length=100, blank=True)
    country = models.CharField(_("country"), max_length=100, blank=True)
    venue_address = models.TextField(
        _("address of the venue"),
        max_length=500,
        blank=True,
        validators=[MaxLengthValidator(500)],
        help_text=_("Street, number, postal code: as on a letter, line by line."),
    )
    map_url = HttpURLField(_("map"), blank=True, help_text=_("Link to a map of the venue."))
    venue_picture = pictures.PictureField(_("picture of the venue"), upload_to="venues/", blank=True)
    registration_url = HttpURLField(
        _("registration"), blank=True, help_text=_("Where people register. Shown until the conference ends.")
    )
    mode = models.CharField(_("mode"), max_length=12, choices=Mode, default=Mode.IN_PERSON)
    day_start_hour = models.PositiveSmallIntegerField(
        _("hour at which a day starts"),
        default=4,
        validators=[MaxValueValidator(23)],
        help_text=_("Events that start before this hour belong to the previous day."),
    )
    description = MarkdownField(
        _("description"), blank=True, help_text=_("Welcome text of the home page, in Markdown.")
    )
    description_html = models.TextField(blank=True, editable=False)
    public_from = models.DateTimeField(
        _("site public from"),
        null=True,
        blank=True,
        help_text=_("Leave empty to show this edition to staff only."),
    )
    papers_public_from = models.DateTimeField(
        _("papers public from"),
        null=True,
        blank=True,
        help_text=_("Leave empty to keep it private. A future time sets an embargo."),
    )
    schedule_public_from = models.DateTimeField(
        _("schedule public from"),
        null=True,
        blank=True,
        help_text=_("Leave empty to keep it private. A future time sets an embargo."),
    )
    accent = models.CharField(
        _("accent color"),
        max_length=7,
        default="#0b6b62",
        validators=[validate_accent],
        help_text=_("Such as #0b6b62."),
    )
    logo = pictures.SmallPictureField(_("logo"), upload_to="logos/", blank=True)
    hero = pictures.PictureField(
        _("picture of the home page"),
        upload_to="heroes/",
        blank=True,
        help_text=_("Shown behind the name, darkened. Leave empty for a drawing in the accent color."),
    )
    hero_focus = models.CharField(
        _("focus of the picture"),
        max_length=12,
        choices=pictures.Focus,
        default=pictures.Focus.CENTER,
        help_text=_("Stays visible when the picture is cropped."),
    )
    home_sections = LinesField(
        _("sections of the home page"),
        validators=[home_sections.validate_home_sections],
        help_text=home_sections.HELP,
    )
    sponsor_tiers = LinesField(_("tiers of sponsors"), help_text=_("One per line, such as Gold."))
    committee_offices = LinesField(_("committee roles"), help_text=_("One per line, such as Chair."))
    proceedings_title = models.CharField(
        _("title of the proceedings"),
        max_length=300,
        blank=True,
        help_text=_(
            "Such as Proceedings of the 4th Conference on Machine Learning and Systems. "
            "Empty: citations name the conference."
        ),
    )
    proceedings_series = models.CharField(
        _("series"),
        max_length=200,
        blank=True,
        help_text=_("For example, Lecture Notes in Computer Science."),
    )
    proceedings_volume = models.CharField(_("volume"), max_length=50, blank=True)
    proceedings_editors = LinesField(_("editors"), help_text=_("One per line, in order, such as Mia Zed."))
    publisher = models.CharField(_("publisher"), max_length=200, blank=True)
    publisher_place = models.CharField(
        _("place of publication"), max_length=200, blank=True, help_text=_("The publisher’s city.")
    )
    isbn = models.CharField(_("ISBN"), max_length=20, blank=True, validators=[validate_isbn])
    issn = models.CharField(
        _("ISSN"), max_length=9, blank=True, validators=[validate_issn], help_text=_("Of the series.")
    )
    license = LicenseField(
        _("license of the papers"),
        help_text=_(
            "An SPDX identifier such as CC-BY-4.0, or the address of a license. It applies to papers "
            "without a license of their own."
        ),
    )
    data_license = LicenseField(
        _("license of the program's data"),
        help_text=_("For the files under Downloads and the API, such as CC0-1.0."),
    )
    revision = models.PositiveBigIntegerField(default=0, editable=False)
    changed_at = models.DateTimeField(default=now, editable=False)
    edited_at = models.DateTimeField(default=now, editable=False)
    license_set_at = models.DateTimeField(null=True, editable=False)
    clock_set_at = models.DateTimeField(null=True, editable=False)
    public_from_set_at = models.DateTimeField(null=True, editable=False)
    papers_public_from_set_at = models.DateTimeField(null=True, editable=False)
    schedule_public_from_set_at = models.DateTimeField(null=True, editable=False)

    objects = EditionQuerySet.as_manager()

    class Meta:
        ordering = ["-start_date", "slug"]
        verbose_name = _("edition")
        verbose_name_plural = _("editions")
        constraints = [
            models.CheckConstraint(
                condition=Q(end_date__gte=F("start_date")),
                name="edition_ends_after_start",
                violation_error_message=_("The end date is before the start date."),
            ),
            models.CheckConstraint(condition=Q(day_start_hour__lte=23), name="edition_day_start_is_an_hour"),
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return page_path(settings.EDITION_VIEW, self.slug)

    def get_preview_url(self, path: str = "") -> str:
        """Return the address that starts a preview and redirects to a page, by default the home page."""
        query = {"next": path} if path else None
        return reverse("admin:conference_edition_preview", args=[self.pk], query=query)

    def get_edition_key(self) -> int | None:
        # Other editions show this one in their year menu, so a change of it counts as one of the site.
        return None

    def save(self, *args: Any, **kwargs: Any) -> None:
        # Do not save the revision and times, which a stale instance would set back.
        if not self._state.adding and kwargs.get("update_fields") is None:
            columns = [field.name for field in self._meta.concrete_fields if not field.primary_key]
            names = {*columns} - self.get_deferred_fields()
            kwargs["update_fields"] = names - {*self.unrecorded_fields, *self.date_columns()}
        with recording.single_change_set():
            if not self._state.adding and self._opens_or_closes():
                lock_gates(self.pk)
            super().save(*args, **kwargs)

    def _opens_or_closes(self) -> bool:
        """Return whether a gate differs from the stored one. One query."""
        gates = type(self)._base_manager.filter(pk=self.pk).values_list(*GATES).first()
        return gates is not None and gates != tuple(getattr(self, gate) for gate in GATES)

    @property
    def summary(self) -> EditionSummary:
        """Return the values of the edition for rows of lists."""
        return EditionSummary(*(getattr(self, name) for name in EditionSummary._fields))

    @property
    def place_line(self) -> str:
        """Return venue, city and country in one line; "Virtual" if a virtual edition has none."""
        parts = [part for part in (self.venue, self.city, self.country) if part]
        if self.mode == self.Mode.VIRTUAL:
            parts = parts or [str(self.Mode.VIRTUAL.label)]
        return ", ".join(parts)

    @property
    def date_line(self) -> str:
        """Return the dates as text: 5 to 9 April 2021."""
        return times.date_range(self.start_date, self.end_date)

    @property
    def zone_label(self) -> str:
        """Return the zone as text: Los Angeles time (PDT)."""
        return times.zone_words(self.zone, self.start_date, self.end_date)

    @property
    def second_zone_label(self) -> str:
        """Return the second zone as text; empty if there is none."""
        zone = self.second_zone
        return times.zone_words(zone, self.start_date, self.end_date) if zone else ""

    def day_bounds(self, day: date) -> tuple[datetime, datetime]:
        """Return the first moments of a program day and of the next one, in UTC."""
        start_time = time(self.day_start_hour, tzinfo=self.zone)
        start = datetime.combine(day, start_time)
        end = datetime.combine(day + timedelta(days=1), start_time)
        return start.astimezone(UTC), end.astimezone(UTC)

    def clean(self) -> None:
        if ends_before_start(self.start_date, self.end_date):
            raise ValidationError({"end_date": _("The end date is before the start date.")})
        for name in ("start_date", "end_date"):
            if (day := getattr(self, name)) and day.year not in times.YEARS:
                raise ValidationError({name: times.BAD_YEAR})
        if self.second_timezone and self.second_timezone == self.timezone:
            raise ValidationError(
                {
                    "second_timezone": _(
                        "This is already the venue's time zone. Choose another one, or leave it empty."
                    )
                }
            )

    def derive(self) -> None:
        self.description_html = markup.block(self.description)


class Page(Dated, Content):
    """A page in Markdown, of an edition or, if that is null, of the whole site."""

    identity: ClassVar[str] = "slug"
    personal_fields: ClassVar[tuple[str, ...]] = ()
    derived_fields: ClassVar[tuple[str, ...]] = ("body_html",)
    derived_from: ClassVar[tuple[str, ...]] = ("body",)
    public_when = PublicWhen(SITE, {"status": ("published",)})
    opens = in_edition("edition", *SITE)

    edition = models.ForeignKey(
        Edition,
        models.CASCADE,
        verbose_name=_("edition"),
        related_name="pages",
        null=True,
        blank=True,
    )
    slug = SlugKey(_("slug"), max_length=80)
    title = models.CharField(_("title"), max_length=200)
    body = MarkdownField(_("body"), blank=True, help_text=_("Markdown; TeX between dollar signs."))
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
        self.body_html = markup.block(self.body)


class MenuItem(Ordered, Content):
    """An item of an edition's menu: a built-in section, a page or a URL. Menus have two levels."""

    personal_fields: ClassVar[tuple[str, ...]] = ()
    part_of: ClassVar[tuple[str, ...]] = ("edition",)

    edition = models.ForeignKey(Edition, models.CASCADE, verbose_name=_("edition"), related_name="menu_items")
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
                violation_error_message=_("Choose exactly one target: a section, a page, or an address."),
            ),
        ]

    def __str__(self) -> str:
        return self.label

    def clean(self) -> None:
        if [bool(self.section), self.page_id is not None, bool(self.url)].count(True) != 1:
            raise ValidationError(_("Choose exactly one target: a section, a page, or an address."))
        if self.parent and self.parent.parent_id:
            raise ValidationError({"parent": _("Menus have two levels: choose an item of the top level.")})
        if self.parent and self.pk and self.children.exists():
            raise ValidationError(
                {"parent": _("Menus have two levels, and this item already has items below it.")}
            )
        if self.parent and self.parent.edition_id != self.edition_id:
            raise ValidationError({"parent": _("The parent item belongs to another edition.")})
        if self.page and self.page.edition_id not in (None, self.edition_id):
            raise ValidationError({"page": _("The page belongs to another edition.")})


class Sponsor(Dated, Ordered, Content):
    """A sponsor, shown in the given order and grouped by tier."""

    identity: ClassVar[str] = "slug"
    personal_fields: ClassVar[tuple[str, ...]] = ()
    derived_fields: ClassVar[tuple[str, ...]] = ("description_html",)
    derived_from: ClassVar[tuple[str, ...]] = ("description",)
    public_when = PublicWhen(SITE, {"status": ("published",)})
    opens = in_edition("edition", *SITE)

    edition = models.ForeignKey(Edition, models.CASCADE, verbose_name=_("edition"), related_name="sponsors")
    slug = SlugKey(_("slug"), max_length=80)
    name = models.CharField(_("name"), max_length=150)
    tier = models.CharField(
        _("tier"), max_length=60, blank=True, help_text=_("For example, Gold. Sponsors are grouped by tier.")
    )
    url = HttpURLField(_("website"), blank=True)
    logo = pictures.SmallPictureField(_("logo"), upload_to="sponsors/", blank=True)
    description = MarkdownField(_("description"), blank=True, help_text=_("Markdown."))
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
        self.description_html = markup.block(self.description)


class Announcement(Dated, Content):
    """News of an edition, shown from `published_at` on."""

    identity: ClassVar[str] = "uid"
    personal_fields: ClassVar[tuple[str, ...]] = ()
    derived_fields: ClassVar[tuple[str, ...]] = ("text_html",)
    derived_from: ClassVar[tuple[str, ...]] = ("text",)
    public_when = PublicWhen(SITE, {"status": ("published",)}, since="published_at")
    opens = ("published_at", *in_edition("edition", *SITE, also=[CLOCK]))

    edition = models.ForeignKey(
        Edition, models.CASCADE, verbose_name=_("edition"), related_name="announcements"
    )
    uid = UidField()
    title = models.CharField(_("title"), max_length=200)
    text = MarkdownField(_("text"), blank=True, help_text=_("Markdown."))
    text_html = models.TextField(blank=True, editable=False)
    published_at = models.DateTimeField(_("shown from"), default=now)
    pinned = models.BooleanField(_("pinned"), default=False, help_text=_("Keep it above the others."))
    status = models.CharField(_("status"), max_length=12, choices=Status, default=Status.DRAFT)
    banner_until = models.DateTimeField(_("banner until"), null=True, blank=True)
    session_uid = models.CharField(_("identifier of the session"), max_length=64, blank=True)

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
        self.text_html = markup.block(self.text)


class KeyDate(Dated, Ordered, Content):
    """A day or a moment that matters to participants, such as a deadline."""

    identity: ClassVar[str] = "uid"
    personal_fields: ClassVar[tuple[str, ...]] = ()
    public_when = PublicWhen(SITE, {"status": ("published",)})
    opens = in_edition("edition", *SITE, also=[CLOCK])

    edition = models.ForeignKey(Edition, models.CASCADE, verbose_name=_("edition"), related_name="key_dates")
    uid = UidField()
    title = models.CharField(_("title"), max_length=200, help_text=_("Such as Registration opens."))
    day = models.DateField(_("day"), null=True, blank=True)
    moment = models.DateTimeField(
        _("day and time"), null=True, blank=True, help_text=_("Instead of a day, if the time matters.")
    )
    url = HttpURLField(_("link"), blank=True, help_text=_("Where to read more."))
    status = models.CharField(_("status"), max_length=12, choices=Status, default=Status.DRAFT)

    objects = EditionPartQuerySet["KeyDate"].as_manager()

    class Meta:
        ordering = ["position", "pk"]
        verbose_name = _("key date")
        verbose_name_plural = _("key dates")
        constraints = [
            models.UniqueConstraint(fields=["edition", "uid"], name="key_date_uid_unique_in_edition"),
            models.CheckConstraint(
                condition=Q(day__isnull=True, moment__isnull=False)
                | Q(day__isnull=False, moment__isnull=True),
                name="key_date_is_day_or_moment",
                violation_error_message=GIVE_ONE_DATE,
            ),
        ]

    def __str__(self) -> str:
        return self.title

    def is_past(self, at: datetime) -> bool:
        """Return whether the moment is over, or the program day at the venue."""
        return self.moment < at if self.moment else bool(self.day and self.day < self.edition.day_of(at))

    def clean(self) -> None:
        if (self.day is None) == (self.moment is None):
            raise ValidationError(GIVE_ONE_DATE)
