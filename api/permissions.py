"""Who asks, and what they may: the only place of the API that judges drafts and changes.

Everybody sees what is published. Staff see and do what their own Django permissions allow, with a token no
more than its scope. What roles in an edition add belongs into `visible` and `Asker.may`.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Model, Q

from api.models import Token
from conference.models import Edition
from people.models import Institution, Person, PersonName

# What staff do not get either: people and institutions that are others by now, and names that nothing shows.
KEPT_BACK: dict[type[Model], Q] = {
    Institution: Q(merged_into__isnull=True),
    Person: Q(merged_into__isnull=True),
    PersonName: Q(hidden=False),
}


@dataclass(frozen=True, slots=True)
class Asker:
    """Somebody who asks: `user` is staff, or `None` for everybody else."""

    user: Any = None
    token: Token | None = None

    @property
    def edition(self) -> int | None:
        """The key of the only edition that the token is for; `None` where it is for all."""
        return self.token.edition_id if self.token else None

    @property
    def writes(self) -> bool:
        """Whether the token, if there is one, is for more than reading."""
        return self.token is None or self.token.writes

    def may(self, action: str, model: type[Model]) -> bool:
        """Tell whether they may "view", "add", "change" or "delete" rows of this model at all."""
        if self.user is None or (action != "view" and not self.writes):
            return False
        label, name = model._meta.app_label, model._meta.model_name
        actions = ("view", "change") if action == "view" else (action,)
        return any(self.user.has_perm(f"{label}.{one}_{name}") for one in actions)

    def reaches(self, row: Any, action: str) -> bool:
        """Tell whether a row is in reach of the token: one for an edition only adds to the whole site."""
        if self.edition is None:
            return True
        if not row.edition_lookup:
            return action == "add"
        return bool(row.stamped_edition() == self.edition)


NOBODY = Asker()


def asker_of(request: Any) -> Asker:
    """Return who asks, for a request of Django REST framework."""
    user = request.user
    if not (user.is_authenticated and user.is_active and user.is_staff):
        return NOBODY
    return Asker(user, request.auth if isinstance(request.auth, Token) else None)


def visible(asker: Asker, rows: Any, at: datetime) -> Any:
    """Return those of the rows that somebody may see at a moment."""
    model = rows.model
    if not asker.may("view", model):
        return rows.published(at)
    lookup = "pk" if model is Edition else model.edition_lookup
    if asker.edition is not None and lookup:
        published = rows.published(at).order_by().values("pk")
        rows = rows.filter(Q(**{lookup: asker.edition}) | Q(pk__in=published))
    return rows.filter(KEPT_BACK[model]) if model in KEPT_BACK else rows
