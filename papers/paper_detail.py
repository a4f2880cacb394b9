"""A paper with all that its page shows."""

from datetime import datetime
from typing import Any

from conference.models import Edition
from content.querysets import moment
from papers.models import Paper


def paper_with_everything(edition: Edition, uid: str, at: datetime | None = None) -> Paper | None:
    """Return the published paper of the edition with this uid, fetched `in_full()`. Five queries."""
    paper: Paper | None = next(iter(_in_full(edition.pk, uid, moment(at))), None)
    if paper:
        paper.edition = edition
    return paper


def _in_full(edition: int, uid: str, at: datetime) -> Any:
    return Paper.objects.published(at).in_full(at).filter(edition=edition, uid=uid)
