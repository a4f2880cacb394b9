"""The revision stamps: whatever changed, kept pages must have noticed."""

from collections.abc import Iterator
from datetime import timedelta

from django.db.models import Max
from django.utils import timezone

from conference.models import Edition
from content import revision
from content.history import ChangeSet
from content.revision import SiteRevision

# A change is noted when its transaction ends, which a long import may do long after the stamp.
LENIENCE = timedelta(minutes=30)


def behind() -> list[tuple[int | None, str]]:
    """Return the editions, and the site as `None`, whose stamp is behind their history, or ahead of time."""
    found: list[tuple[int | None, str]] = []
    latest = timezone.now() + LENIENCE
    changes = ChangeSet.objects.order_by().values_list("rows__edition_key").annotate(last=Max("at"))
    last = {key: at for key, at in changes if at is not None}
    stamps: list[tuple[int | None, str, object]] = [
        (edition.pk, str(edition), edition.changed_at) for edition in Edition.objects.order_by("pk")
    ]
    site = SiteRevision.objects.filter(pk=1).first()
    stamps.append((None, "the site", site.changed_at if site else None))
    for key, name, at in stamps:
        if at is None:
            found += [(key, f"{name}: has no stamp")] if last else []
        elif at > latest:  # type: ignore[operator]
            found.append((key, f"{name}: its stamp is ahead of time"))
        elif key in last and last[key] > at + LENIENCE:  # type: ignore[operator]
            found.append((key, f"{name}: changed after its stamp"))
    return found


def late() -> Iterator[str]:
    yield from (words for _, words in behind())


def mend() -> None:
    revision.advance(key for key, _ in behind())
