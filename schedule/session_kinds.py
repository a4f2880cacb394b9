"""Kinds of sessions and presentations: the built-in ones, and those that a conference adds as rows.

A session or presentation has the slug of its kind, and copies of the columns that its pages need, so that
pages need no join. Code that depends on a kind reads `counts_as`, which is always a built-in one.
"""

from collections.abc import Iterable
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

from django.apps import apps
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import ProtectedError
from django.utils.translation import gettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from conference.models import Conference, Edition
from content.fields import SlugKey, validate_accent
from content.history.recording import single_change_set
from content.models import Content, Ordered
from content.querysets import ContentQuerySet

if TYPE_CHECKING:
    from django.utils.functional import _StrOrPromise

MAX_SLUG_CHARS, MAX_NAME_CHARS = 40, 60
KIND_COPIES = ("counts_as", "kind_name")
# The maximum number of rows that an error names as using a kind.
MAX_NAMED_ROWS = 5

# The model that a kind is for, and the kind's slug.
type KindKey = tuple[str, str]


class BuiltInSessionKind(models.TextChoices):
    OPENING = "opening", _("Opening")
    INVITED_TALK = "invited_talk", _("Invited talk")
    ORAL = "oral", _("Oral session")
    POSTER = "poster", _("Poster session")
    SPOTLIGHT = "spotlight", _("Spotlight session")
    PANEL = "panel", pgettext_lazy("kind of session", "Panel")
    TUTORIAL = "tutorial", _("Tutorial")
    WORKSHOP = "workshop", _("Workshop")
    SOCIAL = "social", _("Social")
    BREAK = "break", pgettext_lazy("kind of session", "Break")
    MEAL = "meal", _("Meal")
    REGISTRATION = "registration", _("Registration")
    TOWN_HALL = "town_hall", _("Town hall")
    AWARD_CEREMONY = "award_ceremony", _("Award ceremony")
    OTHER = "other", _("Session")


class BuiltInPresentationKind(models.TextChoices):
    ORAL = "oral", _("Oral")
    SPOTLIGHT = "spotlight", _("Spotlight")
    POSTER = "poster", _("Poster")
    TALK = "talk", _("Talk")
    DEMO = "demo", _("Demo")


class AppliesTo(models.TextChoices):
    """The model that a kind applies to; the values are names of models."""

    SESSION = "session", _("Sessions")
    PRESENTATION = "presentation", _("Presentations")


BUILT_IN: dict[str, type[models.TextChoices]] = {
    AppliesTo.SESSION: BuiltInSessionKind,
    AppliesTo.PRESENTATION: BuiltInPresentationKind,
}
# The defaults of `counts_as`.
FALLBACK: dict[str, str] = {AppliesTo.SESSION: "other", AppliesTo.PRESENTATION: "talk"}


@cache
def built_in_kinds(applies_to: str) -> frozenset[str]:
    return frozenset(BUILT_IN[applies_to].values)


def kind_label(applies_to: str, slug: str, name: str) -> str:
    """Return the label of a kind; `name` is that of the conference's own kind, else empty.

    Names from imported files may be in lower case; only their label is capitalized.
    """
    return f"{name[:1].upper()}{name[1:]}" or str(dict(BUILT_IN[applies_to].choices).get(slug, slug))


class SessionKindQuerySet(ContentQuerySet[Any]):
    def published(self, at: datetime | None = None) -> Self:
        """Return the kinds of public conferences."""
        return self.filter(conference__in=self.published_related("conference", at))

    def delete(self) -> tuple[int, dict[str, int]]:
        for kind in self:
            kind.refuse_if_used()
        return super().delete()


class SessionKind(Ordered, Content):
    """A kind of sessions or presentations that the chairs of a conference added.

    One with the slug of a built-in kind only changes the color of that kind.
    """

    personal_fields: ClassVar[tuple[str, ...]] = ()
    edition_lookup: ClassVar[str] = ""
    # Do not delete it when an import is reverted: other rows may already use this kind.
    is_container: ClassVar[bool] = True
    siblings_of: ClassVar[str] = "conference"

    conference = models.ForeignKey(
        Conference, models.CASCADE, verbose_name=_("conference"), related_name="session_kinds"
    )
    applies_to = models.CharField(
        _("applies to"), max_length=12, choices=AppliesTo, default=AppliesTo.SESSION
    )
    slug = SlugKey(
        _("slug"),
        max_length=MAX_SLUG_CHARS,
        help_text=_(
            "Its name in addresses and files, such as bof. Use the name of a built-in kind to "
            "recolor that kind."
        ),
    )
    name = models.CharField(_("name"), max_length=MAX_NAME_CHARS, help_text=_("Such as Birds of a feather."))
    color = models.CharField(
        _("color"),
        max_length=7,
        blank=True,
        validators=[validate_accent],
        help_text=_("Such as #0b6b62. Leave empty to use the color of the kind it counts as."),
    )
    counts_as = models.CharField(
        _("counts as"),
        max_length=16,
        choices=[(AppliesTo(name).label, kinds.choices) for name, kinds in BUILT_IN.items()],
        help_text=_(
            "The built-in kind it is treated as in filters, clashes, page layouts and other programs."
        ),
    )

    objects = SessionKindQuerySet.as_manager()

    class Meta:
        ordering = ["conference", "position", "pk"]
        verbose_name = _("kind of session")
        verbose_name_plural = _("kinds of sessions")
        constraints = [
            models.UniqueConstraint(
                fields=["conference", "applies_to", "slug"], name="session_kind_slug_unique_in_conference"
            )
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def key(self) -> KindKey:
        return self.applies_to, self.slug

    @property
    def recolors(self) -> bool:
        """Return whether it only changes the color of a built-in kind."""
        return self.slug in built_in_kinds(self.applies_to)

    @property
    def copies(self) -> dict[str, str]:
        """The columns that sessions and presentations copy from their kind."""
        return {"counts_as": self.counts_as, "kind_name": self.name}

    def used_by(self) -> "models.QuerySet[HasKind]":
        """Return the rows of this kind; none if it only recolors a built-in one, which they do not need."""
        model: Any = apps.get_model("schedule", self.applies_to)
        if self.recolors:
            return cast("models.QuerySet[HasKind]", model.objects.none())
        rows = model.objects.filter(edition__conference=self.conference_id, kind=self.slug)
        return cast("models.QuerySet[HasKind]", rows.select_related("edition"))

    def used_by_some(self) -> "list[HasKind]":
        """Return the first rows of this kind: one more than are named."""
        return list(self.used_by()[: MAX_NAMED_ROWS + 1])

    def clean(self) -> None:
        errors = {}
        built_in = built_in_kinds(self.applies_to) if self.applies_to in BUILT_IN else frozenset()
        if self.slug in built_in and self.counts_as != self.slug:
            errors["counts_as"] = _("A built-in kind counts as itself.")
        elif built_in and self.counts_as and self.counts_as not in built_in:
            errors["counts_as"] = _("Choose a kind that matches “applies to”.")
        if errors:
            raise ValidationError(errors)

    def save(self, *args: Any, **kwargs: Any) -> None:
        is_new = self._state.adding
        with single_change_set():
            super().save(*args, **kwargs)
            if not is_new:
                self.used_by().exclude(**self.copies).update(**self.copies)

    def delete(self, *args: Any, **kwargs: Any) -> tuple[int, dict[str, int]]:
        self.refuse_if_used()
        return super().delete(*args, **kwargs)

    def refuse_if_used(self) -> None:
        """Raise `ProtectedError` with the rows of this kind, if there are any."""
        rows = self.used_by_some()
        if rows:
            row_names = "; ".join(f"{row} ({row.edition})" for row in rows[:MAX_NAMED_ROWS])
            ellipsis = "; …" if len(rows) > MAX_NAMED_ROWS else ""
            message = gettext("“%(kind)s” is still in use: %(rows)s. Change their kind first.")
            raise ProtectedError(message % {"kind": self.name, "rows": f"{row_names}{ellipsis}"}, set(rows))


def own_kinds(edition: Edition | None) -> dict[KindKey, SessionKind]:
    """Return the kinds that the edition's conference added. One query for each edition in memory."""
    if edition is None:
        return {}
    kinds: dict[KindKey, SessionKind] | None = vars(edition).get("own_kinds")
    if kinds is None:
        conference_key = edition.conference_id
        rows = SessionKind.objects.filter(conference=conference_key) if conference_key else ()
        kinds = vars(edition)["own_kinds"] = {kind.key: kind for kind in rows}
    return kinds


def kind_choices(
    applies_to: str, conference_kinds: Iterable[SessionKind]
) -> "list[tuple[str, _StrOrPromise]]":
    """Return slug and label of the built-in kinds and of these own ones."""
    return [
        *BUILT_IN[applies_to].choices,
        *(
            (kind.slug, kind.name)
            for kind in conference_kinds
            if kind.applies_to == applies_to and not kind.recolors
        ),
    ]


class KindField(models.CharField[str, str]):
    """The kind of a session or presentation: a built-in one, or the slug of one of its conference's own."""

    def validate(self, value: object, model_instance: models.Model | None) -> None:
        valid_slugs = [str(slug) for slug, _label in self.flatchoices]
        if value not in valid_slugs and isinstance(model_instance, HasKind):
            valid_slugs += model_instance.own_kinds()
        if value not in valid_slugs:
            message = _("Valid values: %(names)s.")
            raise ValidationError(message, "invalid_choice", {"names": ", ".join(valid_slugs)})


class HasKind(models.Model):
    """Abstract model of rows with a kind, and with copies of the kind's columns."""

    applies_to: ClassVar[str]
    Kind: ClassVar[type[models.TextChoices]]
    edition: Edition
    kind: Any

    counts_as = models.CharField(max_length=16, editable=False)
    kind_name = models.CharField(max_length=MAX_NAME_CHARS, blank=True, editable=False)

    class Meta:
        abstract = True

    def kind_words(self) -> str:
        """Return the label of the kind; Django's own `get_kind_display()` supports built-in kinds only."""
        return kind_label(self.applies_to, self.kind, self.kind_name)

    def own_kinds(self) -> dict[str, SessionKind]:
        """Return the conference's own kinds by slug."""
        kinds = own_kinds(getattr(self, "edition", None))
        return {slug: kind for (applies_to, slug), kind in kinds.items() if applies_to == self.applies_to}

    def kind_copies(self, slug: str) -> dict[str, str]:
        """Return the columns that the row would copy from a kind. No query for a built-in one."""
        is_built_in = slug in built_in_kinds(self.applies_to)
        kind = None if is_built_in else self.own_kinds().get(slug)
        counts_as = slug if is_built_in else FALLBACK[self.applies_to]
        return kind.copies if kind else {"counts_as": counts_as, "kind_name": ""}

    def derive(self) -> None:
        super().derive()  # type: ignore[misc]
        for name, value in self.kind_copies(self.kind).items():
            setattr(self, name, value)
