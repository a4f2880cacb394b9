"""When a new status takes effect while changes wait for a release: the choice of who may release."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _


class StatusTiming(TextChoices):
    """When the statuses take effect that a form or an import saves."""

    USUAL = "usual", _("Publish with the release, hide now")
    NOW = "now", _("Publish now, hide now")
    RELEASE = "release", _("Publish with the release, hide with the release")


_timing: ContextVar[StatusTiming] = ContextVar("status_timing", default=StatusTiming.USUAL)


@contextmanager
def status_timing(timing: StatusTiming) -> Iterator[None]:
    """Let statuses that the block saves take effect at this time."""
    token = _timing.set(timing)
    try:
        yield
    finally:
        _timing.reset(token)


def publishes_now() -> bool:
    """Return whether a row that gets a public status is public at once."""
    return _timing.get() == StatusTiming.NOW


def hides_with_release() -> bool:
    """Return whether a row that loses its public status stays public until the release."""
    return _timing.get() == StatusTiming.RELEASE
