"""Copies of front matter to a new edition: settings, pages, menu, key dates, sponsors."""

from datetime import date

from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from accounts.access_scope import access_of
from accounts.models import Membership
from accounts.roles import INVITABLE_ROLES, SINGLE_EDITION_ROLES, Role
from conference.edition_copy import EDITION_PARTS, EditionCopy, EditionPart, copy_fields
from conference.models import Edition, KeyDate, MenuItem, Page, Sponsor

SETTINGS = (
    "mode", "day_start_hour", "second_timezone", "accent", "logo", "hero", "hero_focus", "home_sections",
    "proceedings_series", "publisher", "publisher_place", "issn", "license", "data_license",
)  # fmt: skip
VENUE = ("venue_address", "map_url", "venue_picture")


def copy_settings(copying: EditionCopy) -> None:
    copy_fields(SETTINGS)(copying)
    if copying.target.second_timezone == copying.target.timezone:
        copying.target.second_timezone = ""
        copying.target.save()


def copy_pages(copying: EditionCopy) -> None:
    copying.copy_rows(copying.source.pages.all())


def copy_menu(copying: EditionCopy) -> None:
    """Copy the menu items, except for those of pages of the edition that were not copied."""
    copied_pages = copying.copies.get(Page, {})
    items = copying.source.menu_items.select_related("page")
    items_to_copy = [
        item
        for item in items
        if item.page is None or item.page.edition_id is None or item.page_id in copied_pages
    ]
    copying.copy_rows(item for item in items_to_copy if item.parent_id is None)
    copied_parents = copying.copies.get(MenuItem, {})
    copying.copy_rows(item for item in items_to_copy if item.parent_id in copied_parents)


def copy_key_dates(copying: EditionCopy) -> None:
    def shifted_dates(key_date: KeyDate) -> dict[str, object]:
        day: date | None = key_date.day + copying.days if key_date.day else None
        return {"day": day, "moment": copying.shift(key_date.moment) if key_date.moment else None}

    copying.copy_rows(copying.source.key_dates.all(), shifted_dates)


def tiers_of(edition: Edition) -> list[str]:
    """Return the tiers of an edition in order: its own list, then other tiers of its sponsors."""
    sponsor_tiers = edition.sponsors.exclude(tier="").values_list("tier", flat=True)
    return list(dict.fromkeys([*edition.sponsor_tiers, *sponsor_tiers]))


def copy_tiers(copying: EditionCopy) -> None:
    copying.target.sponsor_tiers = tiers_of(copying.source)
    copying.target.save()


def copied_members(edition: Edition) -> QuerySet[Membership]:
    """Return the memberships that a new edition can take over: not those limited to rows of this one."""
    active = Membership.objects.filter(edition=edition, user__is_active=True)
    return active.exclude(role__in=SINGLE_EDITION_ROLES).order_by("pk")


def copy_members(copying: EditionCopy) -> None:
    """Give members of the earlier edition the same roles, if the user may grant these there."""
    access = access_of(copying.user)
    roles = access.roles.get(copying.source.pk, frozenset())
    grantable = {*Role} if access.may_everywhere("add", Membership) else set[str]()
    grantable = grantable.union(*(INVITABLE_ROLES.get(role, ()) for role in roles))
    for row in copied_members(copying.source).filter(role__in=grantable):
        Membership.objects.create(
            user_id=row.user_id, edition=copying.target, role=row.role, granted_by=access.user
        )


def copy_sponsors(copying: EditionCopy) -> None:
    copying.copy_rows(copying.source.sponsors.all())


EDITION_PARTS += [
    EditionPart(
        "members",
        _("Members with their roles, without session chairs and track chairs"),
        Membership,
        copied_members,
        copy_members,
        is_usual=False,
        place=90,
    ),
    EditionPart("settings", _("Look, licenses and other settings"), Edition, copy=copy_settings, place=1),
    EditionPart(
        "texts", _("Welcome text of the home page"), Edition, copy=copy_fields(["description"]), place=2
    ),
    EditionPart(
        "venue",
        _("Address, map and picture of the venue"),
        Edition,
        copy=copy_fields(VENUE),
        is_usual=False,
        place=3,
    ),
    EditionPart("pages", _("Pages"), Page, lambda edition: edition.pages.all(), copy_pages, place=20),
    EditionPart("menu", _("Menu"), MenuItem, lambda edition: edition.menu_items.all(), copy_menu, place=21),
    EditionPart(
        "key_dates",
        _("Key dates, moved with the first day"),
        KeyDate,
        lambda edition: edition.key_dates.all(),
        copy_key_dates,
        place=22,
    ),
    EditionPart(
        "tiers",
        _("Tiers of sponsors"),
        Sponsor,
        lambda edition: edition.sponsors.exclude(tier="").order_by().values("tier").distinct(),
        copy_tiers,
        place=23,
    ),
    EditionPart(
        "sponsors",
        _("Sponsors"),
        Sponsor,
        lambda edition: edition.sponsors.all(),
        copy_sponsors,
        is_usual=False,
        place=24,
    ),
]
