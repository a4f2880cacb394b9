"""Which sessions and presentations lack something, or have an impossible place, public or not."""

from typing import Any, Self

from django.db.models import Exists, F, OuterRef, Q

from papers.querysets import called_off
from schedule.cancellation import CancellableQuerySet

# The kinds of sessions that somebody leads, and what the one who does is called.
LED = ("oral", "spotlight", "invited_talk", "panel")
LEADERS = ("chair", "moderator")


class SessionGaps(CancellableQuerySet):
    """Sessions that a chair has to see to. What is called off needs nothing any more."""

    def taking_place(self) -> Self:
        """Sessions that are not called off, drafts too; public or not."""
        return self.exclude(status="cancelled").exclude(parent__isnull=False, parent__status="cancelled")

    def without_chair(self) -> Self:
        """Sessions of the kinds that have one, without a chair or moderator."""
        roles = self._far("roles").filter(session=OuterRef("pk"), role__in=LEADERS)
        return self.taking_place().filter(~Exists(roles), counts_as__in=LED)

    def ending_early(self) -> Self:
        """Sessions whose end lies before that of their last talk."""
        end = OuterRef("end")
        later = Q(end__gt=end) | Q(end__isnull=True, start__gt=end)
        talks = self._far("presentations").taking_place().filter(later, session=OuterRef("pk"))
        return self.taking_place().filter(Exists(talks))

    def _far(self, relation: str) -> Any:
        far: Any = self.model._meta.get_field(relation).related_model
        return far.objects.all()


class PresentationGaps(CancellableQuerySet):
    """Presentations that a chair has to see to."""

    def taking_place(self) -> Self:
        """Presentations not called off, drafts too, of papers not withdrawn; public or not."""
        withdrawn = Q(paper__isnull=False, paper__status="withdrawn")
        return self.filter(~called_off(), ~withdrawn)

    def outside_session(self) -> Self:
        """Presentations with times of their own that do not lie in their session's."""
        early = Q(start__lt=F("session__start")) | Q(end__lt=F("session__start"))
        late = Q(start__gt=F("session__end")) | Q(end__gt=F("session__end"))
        return self.taking_place().filter(early | late)

    def unscheduled_posters(self) -> Self:
        return self.taking_place().filter(counts_as="poster", session__isnull=True)
