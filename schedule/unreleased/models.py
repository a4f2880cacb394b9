"""Unreleased changes of public rows, and whether changes of an edition wait for a release. Never public."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any, ClassVar, Self

from django.conf import settings
from django.db import models
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from conference.models import Edition
from content.array_lookup import AnyOf
from content.bulk import POSITION
from content.history import RowChange, ShownChange, changed_rows
from content.history.recording import single_change_set
from content.models import Content
from content.querysets import ContentQuerySet
from content.row_values import Key, recorded_fields, values_in_memory
from content.unreleased.diversion import ADDED, PUBLIC_STATUSES

# The foreign keys of a change to its row, of which exactly one is set.
TARGETS = ("session", "presentation", "role", "speaker", "paper")
# People belong to a session or talk, by the foreign key of the same name.
PART_OWNERS = {"role": "session", "speaker": "presentation"}


class OnRelease(models.TextChoices):
    """What becomes of a row with the release, besides its values."""

    DRAFT = "draft", _("Draft")
    PUBLISHED = "published", _("Published")
    CANCELLED = "cancelled", _("Canceled")
    ADDED = "added", _("Added")
    REMOVED = "removed", _("Removed")


class UnreleasedChangeQuerySet(ContentQuerySet["UnreleasedChange"]):
    def published(self, at: datetime | None = None) -> Self:
        return self.none()

    def bulk_create(self, objs: Iterable[Any], *args: Any, **kwargs: Any) -> list[Any]:
        created = super().bulk_create(objs, *args, **kwargs)
        mark_rows(created)
        return created

    def bulk_update(self, objs: Iterable[Any], fields: Iterable[str], batch_size: int | None = None) -> int:
        rows = [*objs]
        count = super().bulk_update(rows, fields, batch_size=batch_size)
        mark_rows(rows)
        return count

    def delete(self) -> tuple[int, dict[str, int]]:
        mark_rows(self.only(*TARGETS), "")
        return super().delete()

    def of_rows(self, rows: Iterable[Content]) -> Self:
        """Return the changes of these rows."""
        return self.of_keys((target_name(type(row)), row.pk) for row in rows)

    def of_keys(self, rows: Iterable[tuple[str, int]]) -> Self:
        """Return the changes of the rows with these foreign keys and keys."""
        keys: dict[str, list[int]] = {}
        for name, key in rows:
            keys.setdefault(name, []).append(key)
        condition = Q(pk__in=())
        for name, row_keys in keys.items():
            condition |= Q(AnyOf(f"{name}_id", row_keys))
        return self.filter(condition)


class UnreleasedChange(Content):
    """How one row of the program will differ from its public state after the next release.

    `values` and `began` have the format of the history: {field: value}. `began` are the public values with
    which the change began: a public value that is neither is a conflict.
    """

    personal_fields: ClassVar[tuple[str, ...]] = ("values", "began", "by_name")
    part_of: ClassVar[tuple[str, ...]] = TARGETS
    # Nothing public shows it.
    advances_revision: ClassVar[bool] = False
    # They are shown after it is released.
    keeps_first_values: ClassVar[bool] = True
    label_relations: ClassVar[tuple[str, ...]] = (
        "session",
        "presentation__paper",
        "role",
        "speaker",
        "paper",
    )

    edition = models.ForeignKey(Edition, models.CASCADE, verbose_name=_("edition"), related_name="+")
    session = models.OneToOneField(
        "schedule.Session", models.CASCADE, verbose_name=_("session"), null=True, blank=True, related_name="+"
    )
    presentation = models.OneToOneField(
        "schedule.Presentation",
        models.CASCADE,
        verbose_name=_("presentation"),
        null=True,
        blank=True,
        related_name="+",
    )
    role = models.OneToOneField(
        "schedule.SessionRole",
        models.CASCADE,
        verbose_name=_("session role"),
        null=True,
        blank=True,
        related_name="+",
    )
    speaker = models.OneToOneField(
        "schedule.Speaker", models.CASCADE, verbose_name=_("speaker"), null=True, blank=True, related_name="+"
    )
    paper = models.OneToOneField(
        "papers.Paper", models.CASCADE, verbose_name=_("paper"), null=True, blank=True, related_name="+"
    )
    # What the row's own `on_release` repeats, so that queries can read it: the status that it takes, or
    # `added` or `removed`.
    on_release = models.CharField(
        _("with the release"), max_length=9, blank=True, choices=OnRelease, editable=False
    )
    # Whether the row was made to be added, so that it goes if the change is discarded.
    creates_row = models.BooleanField(_("new row"), default=False, editable=False)
    values = models.JSONField(_("values"), default=dict, blank=True)
    began = models.JSONField(_("began with"), default=dict, blank=True)
    # The rows that `values` name: they cannot be deleted while the change waits.
    to_room = models.ForeignKey(
        "schedule.Room", models.PROTECT, verbose_name=_("new room"), null=True, blank=True, related_name="+"
    )
    to_session = models.ForeignKey(
        "schedule.Session",
        models.PROTECT,
        verbose_name=_("new session"),
        null=True,
        blank=True,
        related_name="+",
    )
    to_paper = models.ForeignKey(
        "papers.Paper", models.CASCADE, verbose_name=_("new paper"), null=True, blank=True, related_name="+"
    )
    # Who made the last change of the row, and when.
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.SET_NULL,
        verbose_name=_("changed by"),
        null=True,
        blank=True,
        related_name="+",
    )
    by_name = models.CharField(_("changed by"), max_length=150, blank=True)
    at = models.DateTimeField(_("at"), default=timezone.now)

    objects = UnreleasedChangeQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        verbose_name = _("unreleased change")
        verbose_name_plural = _("unreleased changes")
        constraints = [
            models.CheckConstraint(
                condition=Q(
                    *(
                        Q(*(Q(**{f"{other}__isnull": other != name}) for other in TARGETS))
                        for name in TARGETS
                    ),
                    _connector=Q.OR,
                ),
                name="unreleased_change_of_one_row",
            )
        ]

    def __str__(self) -> str:
        return str(self.row)

    def save(self, *args: Any, **kwargs: Any) -> None:
        super().save(*args, **kwargs)
        mark_rows([self])

    def delete(self, *args: Any, **kwargs: Any) -> tuple[int, dict[str, int]]:
        mark_rows([self], "")
        return super().delete(*args, **kwargs)

    @classmethod
    def shown_changes(cls, change: RowChange) -> list[ShownChange]:
        """Return the unreleased values before and after; of a change that no longer waits, its author."""
        own, row = change.model, change.owner.partition(":")[0]
        if change.kind == RowChange.Kind.DELETED:
            return [ShownChange(own, name, [change.values.get(name), None]) for name in ("by_name", "at")]
        pairs = change.values
        if change.kind == RowChange.Kind.CREATED:
            pairs = {name: [None, value] for name, value in pairs.items()}
        before, after = (value or {} for value in pairs.get("values", [{}, {}]))
        began = {name: value for part in pairs.get("began", []) for name, value in (part or {}).items()}
        shown = [
            ShownChange(row, name, [before.get(name, began.get(name)), after.get(name, began.get(name))])
            for name in {**before, **after}
            if before.get(name, began.get(name)) != after.get(name, began.get(name))
        ]
        if any(pairs.get("on_release", ())):
            shown.append(ShownChange(own, "on_release", pairs["on_release"]))
        return shown

    @property
    def shown_values(self) -> list[ShownChange]:
        """What the release will change: public and unreleased values; of a new row, its own."""
        row: Any = self.row
        model = waiting_model(self.target)
        label = model._meta.label_lower
        if is_new(self):
            fields = recorded_fields(model)
            values = values_in_memory(row, [name for name in fields if name in row.waiting_fields])
            return [
                ShownChange(label, name, [None, value])
                for name, value in values.items()
                if value not in (None, "") and name != POSITION
            ]
        shown = [
            ShownChange(label, name, [self.began.get(name), value]) for name, value in self.values.items()
        ]
        if self.on_release in (OnRelease.DRAFT, *PUBLIC_STATUSES):
            shown.append(ShownChange(label, "status", [row.status, self.on_release]))
        return shown

    @property
    def target(self) -> str:
        """The name of the foreign key that is set."""
        return next(name for name in TARGETS if getattr(self, f"{name}_id"))

    @property
    def target_key(self) -> int:
        key: int = getattr(self, f"{self.target}_id")
        return key

    @property
    def row_key(self) -> Key:
        """The label and key of the row that it changes, as the history names it."""
        return waiting_model(self.target)._meta.label_lower, self.target_key

    @property
    def row(self) -> Any:
        """The row that it changes."""
        return getattr(self, self.target)


def is_new(change: UnreleasedChange) -> bool:
    """Return whether the change makes a row public that is not."""
    if change.on_release in PUBLIC_STATUSES:
        row: Any = change.row
        return row.status not in PUBLIC_STATUSES
    return change.on_release == ADDED


def new_rows(changes: Iterable[UnreleasedChange]) -> set[tuple[str, int]]:
    """Return the rows that these changes make public: (name of the foreign key, key). Three queries."""
    found = {(change.target, change.target_key) for change in changes if change.on_release == ADDED}
    by_target: dict[str, list[int]] = {}
    for change in changes:
        if change.on_release in PUBLIC_STATUSES:
            by_target.setdefault(change.target, []).append(change.target_key)
    for name, keys in by_target.items():
        rows: Any = waiting_model(name)._base_manager.filter(AnyOf("pk", keys))
        hidden = rows.exclude(status__in=PUBLIC_STATUSES).order_by()
        found |= {(name, key) for key in hidden.values_list("pk", flat=True)}
    return found


def mark_rows(changes: Iterable[UnreleasedChange], value: str | None = None) -> None:
    """Repeat `on_release` of the changes, or `value`, in their rows. A statement for each model and value."""
    keys: dict[tuple[str, str], list[int]] = {}
    for change in changes:
        on_release = change.on_release if value is None else value
        keys.setdefault((change.target, on_release), []).append(change.target_key)
    with single_change_set() as log:
        for (name, on_release), row_keys in keys.items():
            model = waiting_model(name)
            if not on_release:
                # People who are added with a release become public by it.
                log.watch.before_write(model, row_keys, ["on_release"])
            rows: Any = model._base_manager.filter(AnyOf("pk", row_keys))
            changed_rows.add_columns(model._meta.label_lower, ["on_release"])
            # Nothing else of it is public: no revision, no history.
            models.QuerySet.update(rows.exclude(on_release=on_release), on_release=on_release)


def waiting_model(name: str) -> type[Content]:
    """Return the model of the rows to which this foreign key of a change points."""
    model: Any = UnreleasedChange._meta.get_field(name).related_model
    return model  # type: ignore[no-any-return]


def target_name(model: type[models.Model]) -> str:
    """Return the foreign key of a change to rows of this model."""
    return next(name for name in TARGETS if UnreleasedChange._meta.get_field(name).related_model is model)


class ReleasePlanQuerySet(models.QuerySet["ReleasePlan"]):
    def open(self) -> Self:
        """Return the plans of editions whose changes wait.

        An edit that was under way when its edition was switched to public at once waits all the same: so do
        later ones, until it is released or discarded.
        """
        changes = UnreleasedChange._base_manager.filter(edition=OuterRef("edition"))
        return self.filter(Q(changes_wait=True) | Exists(changes))


class ReleasePlan(models.Model):
    """Whether changes of an edition's schedule wait for a release, and the planned one."""

    personal_fields: ClassVar[tuple[str, ...]] = ("waits_by", "planned_by", "released_by")
    impersonal_fields: ClassVar[tuple[str, ...]] = ("announcement", "refusal", "confirmed_clashes")

    edition = models.OneToOneField(
        Edition, models.CASCADE, verbose_name=_("edition"), related_name="release_plan"
    )
    changes_wait = models.BooleanField(_("changes wait for a release"), default=True)
    waits_since = models.DateTimeField(_("since"), default=timezone.now)
    waits_by = models.CharField(_("switched on by"), max_length=150, blank=True)
    released_at = models.DateTimeField(_("released at"), null=True, blank=True)
    released_by = models.CharField(_("released by"), max_length=150, blank=True)
    # What the last release changed, until it is undone.
    released_set = models.ForeignKey(
        "content.ChangeSet",
        models.SET_NULL,
        verbose_name=_("change set of the release"),
        null=True,
        blank=True,
        related_name="+",
    )
    # A planned release: its moment, its planner, its announcement, and why it was refused.
    release_at = models.DateTimeField(_("release at"), null=True, blank=True, db_index=True)
    planned_by = models.CharField(_("planned by"), max_length=150, blank=True)
    planner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.SET_NULL,
        verbose_name=_("planner"),
        null=True,
        blank=True,
        related_name="+",
    )
    announcement = models.JSONField(_("announcement"), default=dict, blank=True)
    # The keys of the new clashes with which the planned release was confirmed.
    confirmed_clashes = models.JSONField(_("confirmed clashes"), default=list, blank=True)
    refusal = models.TextField(_("refusal"), blank=True)

    objects = ReleasePlanQuerySet.as_manager()

    class Meta:
        verbose_name = _("release plan")
        verbose_name_plural = _("release plans")

    def __str__(self) -> str:
        return str(_("Release plan of %(edition)s") % {"edition": self.edition})

    @property
    def is_open(self) -> bool:
        """Whether changes wait, as `ReleasePlanQuerySet.open()` says. One query if it is switched off."""
        return self.changes_wait or UnreleasedChange._base_manager.filter(edition=self.edition_id).exists()

    def clear_planned_release(self) -> None:
        """Forget the planned release. Does not save."""
        self.release_at, self.planned_by, self.planner = None, "", None
        self.refusal, self.announcement, self.confirmed_clashes = "", {}, []
