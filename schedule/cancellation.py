"""What stays in the program only to say that it does not happen, and the reason. Not who may see it."""

from collections.abc import Iterable
from typing import Any

from django.db import models
from django.utils.translation import gettext_lazy as _

from schedule.rescheduling import Rescheduled, RescheduledQuerySet

REASON = "cancellation_reason"


class Status(models.TextChoices):
    """The states of entries of a timetable."""

    DRAFT = "draft", _("Draft")
    PUBLISHED = "published", _("Published")
    CANCELLED = "cancelled", _("Cancelled")


class Cancellable(Rescheduled):
    """A row that can be called off, with a reason that goes when it takes place after all."""

    cancellation_reason = models.CharField(
        _("reason for cancelling"),
        max_length=200,
        blank=True,
        help_text=_("Shown beside what is cancelled, such as “The speaker is ill.”; kept only while it is."),
    )

    class Meta:
        abstract = True

    status: Any

    def save(self, *args: object, **kwargs: Any) -> None:
        names = kwargs.get("update_fields")
        if names is not None and "status" in names:
            kwargs["update_fields"] = {*names, REASON}
        super().save(*args, **kwargs)

    def derive(self) -> None:
        super().derive()
        if vars(self).get("status", Status.CANCELLED) != Status.CANCELLED:
            self.cancellation_reason = ""

    @property
    def whole(self) -> "Cancellable | None":
        """What it is part of, and called off with."""
        return None

    @property
    def cancelled(self) -> bool:
        """Whether it, or what it is part of, stays in the program only to say that it does not happen."""
        return self.status == Status.CANCELLED or (self.whole is not None and self.whole.cancelled)

    @property
    def why_cancelled(self) -> str:
        """Why, in the chairs' words: its own reason, else that of what it is part of; empty without one."""
        if self.status == Status.CANCELLED and self.cancellation_reason:
            return self.cancellation_reason
        return self.whole.why_cancelled if self.whole else ""


class CancellableQuerySet(RescheduledQuerySet):
    """Rows whose bulk changes let go of reasons as single saves do."""

    def update(self, **kwargs: object) -> int:
        if kwargs.get("status", Status.CANCELLED) != Status.CANCELLED:
            kwargs.setdefault(REASON, "")
        return super().update(**kwargs)

    update.alters_data = True  # type: ignore[attr-defined]

    def bulk_update(
        self, objs: Iterable[object], fields: Iterable[str], batch_size: int | None = None
    ) -> int:
        names = [*fields]
        return super().bulk_update(
            objs, [*names, *([REASON] if "status" in names else [])], batch_size=batch_size
        )
