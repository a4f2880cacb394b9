"""What stays in the program only to say that it does not happen, and the reason. Not who may see it."""

from collections.abc import Iterable
from typing import Any

from django.db import models

from schedule.rescheduling import Rescheduled, RescheduledQuerySet

REASON = "cancellation_reason"


class Status(models.TextChoices):
    """The states of what stands in a timetable."""

    DRAFT = "draft", "Draft"
    PUBLISHED = "published", "Published"
    CANCELLED = "cancelled", "Cancelled"


class Cancellable(Rescheduled):
    """A row that can be called off, with a reason that goes when it takes place after all."""

    cancellation_reason = models.CharField(
        "reason for cancelling",
        max_length=200,
        blank=True,
        help_text="Shown beside what is cancelled, such as “The speaker is ill.”; kept only while it is.",
    )

    class Meta:
        abstract = True

    status: Any

    def save(self, *args: Any, **kwargs: Any) -> None:
        names = kwargs.get("update_fields")
        if names is not None and "status" in names:
            kwargs["update_fields"] = {*names, REASON}
        super().save(*args, **kwargs)

    def derive(self) -> None:
        super().derive()
        if vars(self).get("status", Status.CANCELLED) != Status.CANCELLED:
            self.cancellation_reason = ""

    def reason_within(self, whole: "Cancellable | None") -> str:
        """Return why it is called off: for its own reason, else for that of what it is part of."""
        if self.status == Status.CANCELLED and self.cancellation_reason:
            return self.cancellation_reason
        return whole.why_cancelled if whole else ""

    @property
    def why_cancelled(self) -> str:
        """The reason in the chairs' words; empty where none is given, and for what takes place."""
        return self.reason_within(None)


class CancellableQuerySet(RescheduledQuerySet):
    """Rows whose bulk changes let go of reasons as single saves do."""

    def update(self, **kwargs: Any) -> int:
        if kwargs.get("status", Status.CANCELLED) != Status.CANCELLED:
            kwargs.setdefault(REASON, "")
        return super().update(**kwargs)

    update.alters_data = True  # type: ignore[attr-defined]

    def bulk_update(self, objs: Iterable[Any], fields: Iterable[str], batch_size: int | None = None) -> int:
        names = [*fields]
        return super().bulk_update(
            objs, [*names, *([REASON] if "status" in names else [])], batch_size=batch_size
        )
