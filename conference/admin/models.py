"""Admin of conferences, editions, and the content of their sites other than the program."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext_lazy
from django.utils.translation import gettext_lazy as _

from conference.admin.home_sections import HomeSectionsField
from conference.admin.new_edition import may_add_after, new_edition_address, new_edition_view
from conference.admin.publish import as_public_view, preview_view, publish_view
from conference.front_matter_copy import tiers_of
from conference.models import Announcement, Conference, Edition, KeyDate, MenuItem, Page, Sponsor
from conference.publishing import PUBLISHED_ROWS, SITE, PublishedRows
from content import times
from content.fields import validate_timezone
from editorial.access import access_for
from editorial.actions import publish, unpublish
from editorial.current_edition import format_moment, requested_edition
from editorial.desk import ADD_LINKS, SWITCHES, AddLink
from editorial.desk_search import SEARCHED, SearchedRows
from editorial.first_steps import FIRST_STEPS, FirstStep
from editorial.forms import ContentForm
from editorial.lists import count_column, with_count
from editorial.model_admin import ContentAdmin, OrderedAdmin, OrderedInline
from editorial.sections import DeskSection
from editorial.zones import parse_zone

PUBLISHED_ROWS += [
    PublishedRows(Announcement, SITE, ngettext_lazy("announcement", "announcements", "count"), position=50),
    PublishedRows(KeyDate, SITE, ngettext_lazy("key date", "key dates", "count"), position=53),
    PublishedRows(Page, SITE, ngettext_lazy("page", "pages", "count"), position=51),
    PublishedRows(Sponsor, SITE, ngettext_lazy("sponsor", "sponsors", "count"), position=52),
]


FIRST_STEPS.append(
    FirstStep(
        _("Publish"),
        _("when it is ready. Everything starts as a draft."),
        lambda access, edition: (
            reverse("admin:conference_edition_publish", args=[edition.pk])
            if access.may("change", Edition, edition)
            else ""
        ),
        lambda edition, _counts: edition.public_from is not None,
        position=50,
    )
)
SEARCHED.append(SearchedRows(Page, "page", _("Pages"), related=("edition",), position=40))
ADD_LINKS += [
    AddLink(Announcement, _("Add news"), "admin:conference_announcement_add", position=30),
    AddLink(
        Edition,
        _("New edition from this one"),
        "admin:conference_edition_new",
        position=90,
        may=may_add_after,
    ),
]


@admin.register(Conference)
class ConferenceAdmin(ContentAdmin[Conference]):
    desk_section = DeskSection.EDITIONS
    desk_order = 20
    list_display = ["name", "full_name", "website", "edition_count"]
    search_fields = ["name", "full_name", "slug"]
    prepopulated_fields = {"slug": ["name"]}
    fieldsets = [
        (None, {"fields": ["name", "full_name", "slug"]}),
        (_("Shown on its pages"), {"fields": ["description", "website", "logo"]}),
    ]

    def for_list(self, rows: QuerySet[Conference]) -> QuerySet[Conference]:
        return rows.annotate(edition_rows=with_count(self.model, "editions"))

    edition_count = count_column("edition_rows", _("editions"))


class MenuInline(OrderedInline[MenuItem, Edition]):
    model = MenuItem
    fk_name = "edition"
    verbose_name_plural = _("menu (empty: all built-in sections)")
    fields = ["position", "label", "section", "page", "url", "parent"]
    autocomplete_fields = ["page", "parent"]
    list_select_related = ("page",)


class EditionForm(ContentForm):
    home_sections = HomeSectionsField(
        label=_("Sections of the home page"), help_text=_("A section appears once it has content.")
    )


@admin.register(Edition)
class EditionAdmin(ContentAdmin[Edition]):
    form = EditionForm
    desk_section = DeskSection.EDITIONS
    desk_order = 10
    list_display = ["name", "dates", "place", "timezone", "public", "paper_count", "session_count"]
    list_filter = ["conference", "mode"]
    search_fields = ["name", "slug", "city", "country"]
    autocomplete_fields = ["conference"]
    prepopulated_fields = {"slug": ["year"]}
    inlines = [MenuInline]
    fieldsets = [
        (None, {"fields": ["conference", ("name", "year"), "slug"]}),
        (
            _("When and where"),
            {
                "fields": [
                    ("start_date", "end_date"),
                    ("timezone", "second_timezone"),
                    "day_start_hour",
                    "mode",
                    "venue",
                    ("city", "country"),
                ]
            },
        ),
        (
            _("For people who come"),
            {
                "fields": ["registration_url", "venue_address", "map_url", "venue_picture"],
                "classes": ["collapse"],
            },
        ),
        (
            _("What visitors see"),
            {
                "fields": ["public_from", "papers_public_from", "schedule_public_from"],
                "description": _(
                    "Each part appears at its time, in this edition’s time zone. Papers and schedule never "
                    "appear before the site itself."
                ),
            },
        ),
        (_("Look"), {"fields": ["description", "accent", "logo"]}),
        (
            _("Home page"),
            {"fields": ["hero", "hero_focus", "home_sections"], "classes": ["collapse"]},
        ),
        (
            _("Proceedings"),
            {
                "fields": [
                    "proceedings_title",
                    ("proceedings_series", "proceedings_volume"),
                    "proceedings_editors",
                    ("publisher", "publisher_place"),
                    ("isbn", "issn"),
                ],
                "description": _("Used in citations of the papers."),
                "classes": ["collapse"],
            },
        ),
        (
            _("Offered in forms"),
            {
                "fields": ["sponsor_tiers", "committee_offices"],
                "description": _("Offered on the forms of sponsors and of committee roles."),
                "classes": ["collapse"],
            },
        ),
        (_("Licenses"), {"fields": ["license", "data_license"], "classes": ["collapse"]}),
    ]
    pages = [
        ("new/", "new", new_edition_view),
        ("<int:key>/publish/", "publish", publish_view),
        ("<int:key>/preview/", "preview", preview_view),
        ("<int:key>/as-public/", "as_public", as_public_view),
    ]

    def render_change_form(
        self, request: HttpRequest, context: dict[str, object], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        obj: Edition | None = kwargs["obj"]
        if obj is not None:
            context["new_edition"] = new_edition_tools(request, obj)
        return super().render_change_form(request, context, *args, **kwargs)

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, object] | None = None
    ) -> HttpResponse:
        edition = requested_edition(request)
        own_context = {"tools": new_edition_tools(request, edition) if edition else []}
        return super().changelist_view(request, {**own_context, **(extra_context or {})})

    def get_prepopulated_fields(
        self, request: HttpRequest, obj: Edition | None = None
    ) -> dict[str, Sequence[str]]:
        """Propose the year as slug, or on a site of several conferences the name, which has theirs."""
        fields = super().get_prepopulated_fields(request, obj)
        has_several = bool(fields) and Conference.objects.count() > 1
        return {"slug": ["name"]} if has_several else fields

    def edition_for_form(self, request: HttpRequest, object_id: str | None) -> Edition | None:
        """Return the edition for times in the form, with the zone that was entered, else the stored one."""
        stored = super().edition_for_form(request, object_id) if object_id else None
        edition = stored or Edition(timezone="UTC")
        if request.method == "POST":
            # Ignore an invalid zone here, because the form reports it.
            with suppress(ValidationError):
                zone = parse_zone(request.POST.get("timezone", ""))
                validate_timezone(zone)
                edition.timezone = zone
        return edition

    def for_list(self, rows: QuerySet[Edition]) -> QuerySet[Edition]:
        counts = {f"{name}_rows": with_count(self.model, name) for name in ("papers", "sessions")}
        return rows.annotate(**counts)

    def save_model(
        self, request: HttpRequest, obj: Edition, form: forms.ModelForm[Edition], change: bool
    ) -> None:
        super().save_model(request, obj, form, change)
        if change and "timezone" in form.changed_data and obj.sessions.exists():
            warning = gettext(
                "The time zone changed. Sessions still start at the same moment, so their local times are "
                "different now. Check the schedule."
            )
            self.message_user(request, warning, messages.WARNING)

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """Refuse editions with a program, and list counts instead of possibly ten thousand rows."""
        program_counts = [count for edition in objs for count in program_of(edition)]
        if program_counts:
            return [], {}, set(), program_counts
        return super().get_deleted_objects(objs, request)

    @admin.display(description=_("dates"), ordering="start_date")
    def dates(self, edition: Edition) -> str:
        return str(edition.date_line)

    @admin.display(description=_("place"), ordering="city")
    def place(self, edition: Edition) -> str:
        return str(edition.place_line)

    @admin.display(description=_("public"))
    def public(self, edition: Edition) -> SafeString:
        moments = ((label, format_moment(getattr(edition, gate), edition)) for _name, label, gate in SWITCHES)
        return format_html_join("", '<span class="switch"><b>{}</b> {}</span>', moments)

    paper_count = count_column("papers_rows", _("papers"))
    session_count = count_column("sessions_rows", _("sessions"))


def new_edition_tools(request: HttpRequest, edition: Edition) -> list[dict[str, str]]:
    """Return the link to create an edition from this one, if the user may."""
    if not may_add_after(access_for(request), edition):
        return []
    label = gettext("New edition from %(edition)s") % {"edition": edition}
    return [{"label": label, "address": new_edition_address(edition)}]


def program_of(edition: Edition) -> list[str]:
    """Return lines with counts of an edition's program, such as "MLSys 2027: 6,628 papers"."""
    managers: list[Any] = [
        getattr(edition, name) for name in ("papers", "sessions", "committee_roles", "awards")
    ]
    counts = [(manager.count(), manager.model._meta) for manager in managers]
    return [
        gettext("%(edition)s: %(count)s %(name)s")
        % {
            "edition": edition,
            "count": f"{count:,}",
            "name": meta.verbose_name if count == 1 else meta.verbose_name_plural,
        }
        for count, meta in counts
        if count
    ]


@admin.register(Announcement)
class AnnouncementAdmin(ContentAdmin[Announcement]):
    desk_section = DeskSection.PAGES
    desk_order = 30
    list_display = ["title", "edition", "shown_from", "pinned", "status"]
    list_filter = ["edition", "status", "pinned"]
    list_select_related = ["edition"]
    search_fields = ["title", "text"]
    autocomplete_fields = ["edition"]
    actions = [publish, unpublish]
    fieldsets = [
        (None, {"fields": ["edition", "title", "text"]}),
        (_("Publication"), {"fields": ["status", "published_at", "pinned"]}),
        (
            _("Banner"),
            {
                "fields": ["banner_until", "session_uid"],
                "classes": ["collapse"],
                "description": _(
                    "Until its time it is also a banner on the home page, and at the session if one is named."
                ),
            },
        ),
        (_("Identifier"), {"fields": ["uid"], "classes": ["collapse"]}),
    ]

    @admin.display(description=_("shown from"), ordering="published_at")
    def shown_from(self, announcement: Announcement) -> str:
        return format_moment(announcement.published_at, announcement.edition)


@admin.register(Page)
class PageAdmin(ContentAdmin[Page]):
    desk_section = DeskSection.PAGES
    desk_order = 40
    list_display = ["title", "edition_or_site", "slug", "status"]
    list_filter = ["edition", "status"]
    list_select_related = ["edition"]
    search_fields = ["title", "slug", "body"]
    autocomplete_fields = ["edition"]
    prepopulated_fields = {"slug": ["title"]}
    actions = [publish, unpublish]
    choice_related = ("edition",)
    fieldsets = [
        (None, {"fields": ["edition", "title", "slug"]}),
        (_("Text"), {"fields": ["body", "status"]}),
    ]

    def choice_label(self, row: Page) -> str:
        return f"{row.title} ({row.edition.slug if row.edition else gettext('whole site')})"

    @admin.display(description=_("edition"), ordering="edition__start_date")
    def edition_or_site(self, page: Page) -> str:
        return str(page.edition or gettext("Whole site"))


@admin.register(MenuItem)
class MenuItemAdmin(OrderedAdmin[MenuItem]):
    desk_section = DeskSection.PAGES
    desk_order = 50
    list_display = ["label", "edition", "position", "parent", "target"]
    list_editable = ["position"]
    list_filter = ["edition"]
    list_select_related = ["edition", "parent", "page"]
    search_fields = ["label"]
    autocomplete_fields = ["edition", "parent", "page"]
    fieldsets = [
        (None, {"fields": ["edition", "label"]}),
        (
            _("Target"),
            {"fields": ["section", "page", "url"], "description": _("Fill in exactly one of the three.")},
        ),
        (_("Position in the menu"), {"fields": ["parent", "position"]}),
    ]

    @admin.display(description=_("leads to"))
    def target(self, item: MenuItem) -> str:
        return str(item.page or item.url or item.get_section_display())


@admin.register(Sponsor)
class SponsorAdmin(OrderedAdmin[Sponsor]):
    desk_section = DeskSection.SPONSORS
    offered_texts = {"tier": tiers_of}
    desk_order = 60
    list_display = ["name", "edition", "tier", "position", "status"]
    list_editable = ["position"]
    list_filter = ["edition", "status", "tier"]
    list_select_related = ["edition"]
    search_fields = ["name", "tier"]
    autocomplete_fields = ["edition"]
    prepopulated_fields = {"slug": ["name"]}
    actions = [publish, unpublish]
    fieldsets = [
        (None, {"fields": ["edition", "name", "slug"]}),
        (_("Display"), {"fields": ["tier", "url", "logo", "description"]}),
        (_("Place and status"), {"fields": ["position", "status"]}),
    ]


@admin.register(KeyDate)
class KeyDateAdmin(OrderedAdmin[KeyDate]):
    desk_section = DeskSection.PAGES
    desk_order = 35
    list_display = ["title", "edition", "when", "position", "status"]
    list_editable = ["position"]
    list_filter = ["edition", "status"]
    list_select_related = ["edition"]
    search_fields = ["title"]
    autocomplete_fields = ["edition"]
    actions = [publish, unpublish]
    fieldsets = [
        (None, {"fields": ["edition", "title"]}),
        (
            _("When"),
            {"fields": ["day", "moment"], "description": _("Give either a day, or a day and time.")},
        ),
        (_("Display"), {"fields": ["url", "position", "status"]}),
        (_("Identifier"), {"fields": ["uid"], "classes": ["collapse"]}),
    ]

    @admin.display(description=_("when"))
    def when(self, key_date: KeyDate) -> str:
        if key_date.moment:
            return format_moment(key_date.moment, key_date.edition)
        return times.full_date(key_date.day) if key_date.day else ""
