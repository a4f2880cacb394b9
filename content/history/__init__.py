"""The models of the history: what was changed, when, by whom and from which origin. It is never public.

`content.history.recording` writes it. A row's first values are not stored: they follow from its present
values and its changes. A deleted row is stored with all values.
"""

from collections.abc import Sequence
from typing import ClassVar, NamedTuple, Self

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _


class ShownChange(NamedTuple):
    """A changed field, as a page shows it: the label of its model, its name, its two values."""

    model: str
    name: str
    pair: Sequence[object]


class Origin(models.TextChoices):
    """The origins of changes."""

    FORM = "form", _("Form")
    ACTION = "action", _("Action")
    IMPORT = "import", _("Import")
    MERGE = "merge", _("Merge")
    COMMAND = "command", _("Command")
    API = "api", _("API")
    RESTORE = "restore", _("Reverted to a version")
    UNDO = "undo", _("Reverted")
    CODE = "code", _("Program")


# The detail of a change set in which a person was erased.
ERASURE = "erase_personal_data"


class ChangeSet(models.Model):
    """The changes made together: by a saved form, an action, an import or an API request."""

    personal_fields: ClassVar[tuple[str, ...]] = ("user_name", "detail")
    impersonal_fields: ClassVar[tuple[str, ...]] = ("origin", "reference")

    at = models.DateTimeField(_("at"), default=timezone.now, db_index=True)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.SET_NULL,
        verbose_name=_("user"),
        null=True,
        blank=True,
        related_name="change_sets",
    )
    # Remains when the account is deleted.
    user_name = models.CharField(_("user name"), max_length=150, blank=True)
    origin = models.CharField(_("origin"), max_length=8, choices=Origin, default=Origin.CODE)
    detail = models.CharField(_("detail"), max_length=200, blank=True)
    # A row that the change set created, such as "exchange.importrun:12".
    reference = models.CharField(_("reference"), max_length=80, blank=True, db_index=True)

    class Meta:
        ordering = ["-pk"]
        verbose_name = _("change set")
        verbose_name_plural = _("change sets")

    def __str__(self) -> str:
        return f"{self.get_origin_display()}, {self.at:%Y-%m-%d %H:%M} UTC"


class RowChangeQuerySet(models.QuerySet["RowChange"]):
    def about(self, model: type[models.Model], key: int) -> Self:
        """Return the changes of a row and of its dependent rows."""
        name = f"{model._meta.label_lower}:{key}"
        of_row = Q(model=model._meta.label_lower, object_id=key)
        return self.filter(of_row | Q(owner=name) | Q(other=name) | Q(moved_to=name))

    def of_parts(self, name: str) -> Self:
        """Return the changes of rows that are or were inlines of an owner; `name` as "papers.paper:7"."""
        return self.filter(Q(owner=name) | Q(moved_to=name))

    def deleted_directly(self) -> Self:
        """Return rows that were deleted directly, not by cascade."""
        return self.filter(kind="deleted", dragged=False)


class RowChange(models.Model):
    """The change of one row in a change set.

    `values`: of a changed row {field: [before, after]}, of a deleted one {field: value}, of a new one none,
    unless its model keeps first values. `made_by` is the account that made the change: that of the change
    set, unless this one carries out what another account entered, as a release does.
    """

    personal_fields: ClassVar[tuple[str, ...]] = ("label", "values", "made_by_name")
    impersonal_fields: ClassVar[tuple[str, ...]] = ("kind", "model", "owner", "other", "moved_to")

    class Kind(models.TextChoices):
        CREATED = "created", _("Created")
        CHANGED = "changed", _("Changed")
        DELETED = "deleted", _("Deleted")

    change_set = models.ForeignKey(
        ChangeSet, models.CASCADE, verbose_name=_("change set"), related_name="rows"
    )
    kind = models.CharField(_("kind"), max_length=7, choices=Kind)
    model = models.CharField(_("model"), max_length=60)
    object_id = models.BigIntegerField(_("object id"))
    # The row whose pages show this row too, such as "papers.paper:7".
    owner = models.CharField(_("owner"), max_length=80, blank=True)
    other = models.CharField(_("other"), max_length=80, blank=True)
    # The new owner, if the owner changed.
    moved_to = models.CharField(_("moved to"), max_length=80, blank=True)
    edition_key = models.BigIntegerField(_("edition key"), null=True, blank=True)
    label = models.CharField(_("label"), max_length=300, blank=True)
    dragged = models.BooleanField(
        _("dragged"), default=False, help_text=_("Deleted along with something else.")
    )
    values = models.JSONField(_("values"), default=dict, blank=True)
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.SET_NULL,
        verbose_name=_("made by"),
        null=True,
        blank=True,
        related_name="+",
    )
    # Remains when the account is deleted. Empty if the change set has the same account.
    made_by_name = models.CharField(_("name of the account"), max_length=150, blank=True)

    objects = RowChangeQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        verbose_name = _("row change")
        verbose_name_plural = _("row changes")
        indexes = [
            # For the history page of a row: its own changes and those of its dependents.
            models.Index(fields=["model", "object_id"], name="row_change_by_row"),
            models.Index(fields=["owner"], condition=~Q(owner=""), name="row_change_by_owner"),
            models.Index(fields=["other"], condition=~Q(other=""), name="row_change_by_other"),
            models.Index(fields=["moved_to"], condition=~Q(moved_to=""), name="row_change_by_new_owner"),
            # The deleted rows of an edition, of which some were public.
            models.Index(
                fields=["model", "edition_key"], condition=Q(kind="deleted"), name="row_change_deleted"
            ),
            # For the list of recent deletions.
            models.Index(
                fields=["model", "id"], condition=Q(kind="deleted", dragged=False), name="row_change_gone"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.model} {self.object_id}: {self.kind}"

    @property
    def key(self) -> tuple[str, int]:
        """The model label and primary key of the row."""
        return self.model, self.object_id

    @property
    def name(self) -> str:
        """The row as `owner` of others names it, such as "papers.paper:7"."""
        return f"{self.model}:{self.object_id}"

    def before(self) -> dict[str, object]:
        """Return the previous values of the changed fields, or all values of a deleted row."""
        if self.kind == self.Kind.CHANGED:
            return {name: pair[0] for name, pair in self.values.items()}
        return dict(self.values)
