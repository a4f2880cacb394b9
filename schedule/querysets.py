"""Querysets of rooms, sessions and presentations: which are public, and the queries of pages."""

from collections.abc import Callable
from datetime import date, datetime
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar, Self

from django.apps import apps
from django.db.models import (
    BooleanField,
    Count,
    Exists,
    ExpressionWrapper,
    F,
    Model,
    OuterRef,
    Prefetch,
    Q,
    QuerySet,
    Subquery,
)
from django.db.models.functions import Coalesce

from content.array_lookup import AnyOf
from content.querysets import (
    ContentQuerySet,
    at_or_now,
    has_status,
    is_released,
    or_draft,
    or_upcoming,
    schedule_public,
    shown_statuses,
)
from content.unreleased import plan
from content.unreleased.diversion import PUBLIC_STATUSES
from content.unreleased.rows import ReleasableQuerySet
from papers.querysets import is_cancelled, paper_published
from people.querysets import with_shown_names
from schedule.entries import EntryQuerySet

if TYPE_CHECKING:
    from content.models import Content

# Kinds that no page links to as a next session.
BREAK_KINDS = ("break", "meal")
# Kinds of sessions that need a leader, and the roles of leaders.
LED_KINDS = ("oral", "spotlight", "invited_talk", "panel")
LEADER_ROLES = ("chair", "moderator")

# The maximum number of talks of a session that a page lists; it links to the others.
MAX_LISTED_TALKS = 100


def session_published(prefix: str, at: datetime | None) -> Q:
    """Return the condition that the session at `prefix` (such as "session__") is public."""
    parent_prefix = f"{prefix}parent__"
    is_public = or_draft(Q(**{f"{prefix}status__in": PUBLIC_STATUSES}), prefix)
    is_parent_public = Q(**{f"{prefix}parent__isnull": True}) | or_draft(
        Q(**{f"{parent_prefix}status__in": PUBLIC_STATUSES}), parent_prefix
    )
    is_shown = is_public & is_parent_public
    if plan.current() is not None:
        is_shown = plan.in_state(Q(AnyOf(f"{prefix}pk", shown_sessions())), is_shown, prefix)
    return schedule_public(f"{prefix}edition__", at) & is_shown


def shown_sessions() -> list[int]:
    """Return the keys of the planned sessions whose own status and whose parent's are shown."""
    statuses = shown_statuses(PUBLIC_STATUSES)

    def is_shown(session: Any) -> bool:
        levels = [level for level in (session, session.parent) if level is not None]
        return all(level.status in statuses and level.on_release != plan.REMOVED for level in levels)

    return plan.session_keys(is_shown)


def of_kind(kind: str) -> Q:
    """Return the condition that a public row is of this kind, or of one that counts as it."""
    return Q(kind=kind) | Q(counts_as=kind)


class RoomQuerySet[M: "Content"](ContentQuerySet[M]):
    def published(self, at: datetime | None = None) -> Self:
        """Return the rooms of public sessions and presentations."""
        # With `room__isnull`, PostgreSQL reads the few presentations with their own room at once.
        sessions, presentations = (
            Exists(self.published_related(relation, at).matching(room=OuterRef("pk"), room__isnull=False))
            for relation in ("sessions", "presentations")
        )
        return self.filter(schedule_public("edition__", at), Q(sessions) | Q(presentations))


class SessionQuerySet(EntryQuerySet):
    def published(self, at: datetime | None = None) -> Self:
        return self.filter(session_published("", at))

    # Filters

    def starting_between(self, start: datetime, end: datetime) -> Self:
        """Return the sessions that begin in the half-open span from `start` to `end`."""
        return self.matching(start__gte=start, start__lt=end)

    def taking_place(self) -> Self:
        """Return the sessions that are not canceled themselves or with their parent, drafts too."""
        if plan.current() is None:
            return self.exclude(status="cancelled").exclude(parent__isnull=False, parent__status="cancelled")
        takes_place = Q(AnyOf("pk", plan.session_keys(lambda session: not is_dropped(session))))
        return self.filter(plan.in_state(takes_place, ~Q(status="cancelled")))

    def running(self, at: datetime | None = None) -> Self:
        """Return the sessions that take place at that moment."""
        return self.taking_place().matching(start__lte=at_or_now(at), end__gt=at_or_now(at))

    def next_after(self, at: datetime | None = None) -> Self:
        """Return an edition's sessions of the next start on the same program day. Runs a query itself."""
        first = self.first_after(at)
        if first is None or first.edition.day_of(first.start) != first.edition.day_of(at_or_now(at)):
            return self.none()
        return self.taking_place().matching(start=first.start)

    def first_after(self, at: datetime | None = None) -> Any:
        """Return the session that begins next, on any day; `None` after the last. One query."""
        upcoming = self.taking_place().matching(start__gt=at_or_now(at))
        return upcoming.in_order().select_related("edition").first()

    def invited_talks(self) -> Self:
        return self.matching(counts_as="invited_talk")

    def beside(self, key: int, parent: int | None) -> Self:
        """Return the session with this key and others of the same parent, without breaks, in order."""
        within: dict[str, object] = {"parent": parent} if parent else {"parent__isnull": True}
        no_break = Q(pk=key) | ~plan.match(self.model, counts_as__in=BREAK_KINDS)
        rows = self.filter(no_break, plan.match(self.model, **within))
        return rows.in_order().defer("abstract", "abstract_html")

    def with_posters(self, at: datetime | None = None) -> Self:
        """Return poster sessions, and others that contain posters."""
        posters = self.published_related("presentations", at).posters()
        is_poster_session = plan.match(self.model, counts_as="poster")
        return self.filter(is_poster_session | Exists(posters.matching(session=OuterRef("pk"))))

    def held_in(self, room: Model, at: datetime | None = None) -> Self:
        """Return the sessions in a room, and those with a presentation in it, such as posters in a hall."""
        presentations = self.published_related("presentations", at)
        presentations = presentations.matching(room=room, session=OuterRef("pk"))
        return self.filter(plan.match(self.model, room=room) | Exists(presentations))

    def recorded(self) -> Self:
        return self.exclude(recording_url="")

    def chosen(self, choice: Any, at: datetime | None = None) -> Self:
        """Return the sessions of the kind, in the room and with talks on the topic that a visitor chose."""
        rows = self.of_kind(choice.kind) if choice.kind else self
        rows = rows.held_in(choice.room, at) if choice.room else rows
        if not choice.topic:
            return rows
        talks = self.published_related("presentations", at).about(choice.topic, at)
        return rows.filter(Exists(talks.matching(session=OuterRef("pk"))))

    # Checks for chairs, public or not

    def without_chair(self) -> Self:
        roles = self._related("roles").taking_part().filter(session=OuterRef("pk"), role__in=LEADER_ROLES)
        return self.taking_place().filter(~Exists(roles)).matching(counts_as__in=LED_KINDS)

    def ending_early(self) -> Self:
        """Return the sessions in which a talk begins that ends after them, like `sessions_ending_early()`."""
        start, end = OuterRef("start"), OuterRef("end")
        talks = self._related("presentations").taking_place().with_beginning()
        late_talks = talks.filter(session=OuterRef("pk"), begins__gte=start, begins__lt=end, end__gt=end)
        return self.taking_place().filter(Exists(late_talks))

    def _related(self, relation: str) -> Any:
        related_model: Any = self.model._meta.get_field(relation).related_model
        return related_model.objects.all()

    # Order and related rows

    def in_order(self) -> Self:
        """Order by time, then by room in the chairs' order; the same on every database."""
        room = self.value("room__position").asc(nulls_last=True)
        return self.order_by(self.value("start"), room, self.value("end"), "uid")

    def with_place(self) -> Self:
        """Select the relations that places and addresses of one edition's sessions need."""
        return self.select_related("room__edition", "parent__edition")

    def with_called_off(self) -> Self:
        """Annotate `called_off`: whether the session or its parent is canceled."""
        is_called_off = Q(status="cancelled") | Q(parent__status="cancelled", parent__isnull=False)
        return self.annotate(called_off=ExpressionWrapper(is_called_off, BooleanField()))

    def with_people(self, at: datetime | None = None) -> Self:
        """Prefetch the people in roles; see `people_by_role`."""
        roles = with_shown_names(self.published_related("roles", at)).in_order()
        return self.prefetch_related(Prefetch("roles", roles, "shown_roles"))

    def with_talk_counts(self, at: datetime | None = None, topic: Model | None = None) -> Self:
        """Annotate the numbers of presentations and of posters among them: `talk_count`, `poster_count`."""
        talks = self.published_related("presentations", at).about(topic, at)
        talks = talks.matching(session=OuterRef("pk")).order_by()

        def count_rows(rows: Any) -> Coalesce:
            counts = rows.values(in_session=rows.value("session_id")).annotate(n=Count("pk")).values("n")
            return Coalesce(Subquery(counts), 0)

        return self.annotate(talk_count=count_rows(talks), poster_count=count_rows(talks.posters()))

    def with_row_counts(self) -> Self:
        """Annotate the numbers of presentations and parts, drafts too: `presentation_rows`, `part_rows`."""
        counts: dict[str, Coalesce] = {}
        for name, relation, owner in (
            ("presentation_rows", "presentations", "session"),
            ("part_rows", "parts", "parent"),
        ):
            rows = self._related(relation).standing().order_by()
            rows = rows.matching(**{owner: OuterRef("pk")}).values(of_owner=rows.value(f"{owner}_id"))
            counts[name] = Coalesce(Subquery(rows.annotate(n=Count("pk")).values("n")), 0)
        return self.annotate(**counts)

    def for_timetable(self, at: datetime | None = None, topic: Model | None = None) -> Self:
        """Fetch the data of timetable blocks without the talks; with a topic, count only talks on it."""
        return self.in_order().with_place().with_people(at).with_talk_counts(at, topic)

    def program_days(self, day_of: Callable[[datetime], date]) -> set[date]:
        starts = self.order_by().values_list(self.value("start"), flat=True)
        return {*map(day_of, starts.distinct())}


def is_dropped(session: Any) -> bool:
    """Return whether a planned session is canceled or removed, or its parent is."""
    levels = [level for level in (session, session.parent) if level is not None]
    return any(level.status == "cancelled" or level.on_release == plan.REMOVED for level in levels)


class PartQuerySet(ReleasableQuerySet):
    """Queryset of the people of a session or talk."""

    # The lookup of the row that they belong to.
    owner: ClassVar[str]

    def in_order(self) -> Self:
        return self.order_by(self.value("position"), "pk")

    def taking_part(self) -> Self:
        """Leave out people who are removed with the release; in the public state, who are added with it."""
        return self.filter(is_released("", f"{self.owner}__edition"))


class SessionRoleQuerySet(PartQuerySet):
    owner = "session"

    def published(self, at: datetime | None = None) -> Self:
        return self.filter(session_published("session__", at), is_released("", "session__edition"))


def presentation_published(prefix: str, at: datetime | None) -> Q:
    """Return the condition that the presentation at `prefix`, its session and its paper are public."""
    paper = Q(**{f"{prefix}paper__isnull": True}) | paper_published(f"{prefix}paper__", at)
    return presentation_open(prefix, at) & paper


def presentation_open(prefix: str, at: datetime | None) -> Q:
    """Return the condition that the presentation at `prefix` is public if its paper is."""
    is_public = schedule_public(f"{prefix}edition__", at) & has_status(PUBLIC_STATUSES, prefix)
    in_public = Q(**{f"{prefix}session__isnull": True}) | session_published(f"{prefix}session__", at)
    if plan.current() is not None:
        model = presentation_model()
        in_planned = plan.match(model, prefix, session_id__isnull=True) | plan.match(
            model, prefix, session_id__in=shown_sessions()
        )
        in_public = plan.in_state(in_planned, in_public, prefix)
    return is_public & in_public


def presentation_model() -> type[Model]:
    return apps.get_model("schedule", "Presentation")


# Fields of papers that lines of presentations do not show.
DEFERRED_FIELDS = ("abstract", "abstract_html", "lay_summary", "lay_summary_html", "keywords")


class PresentationQuerySet(EntryQuerySet):
    """Queryset of presentations: appearances of papers, and talks without a paper."""

    def published(self, at: datetime | None = None) -> Self:
        return self.filter(presentation_published("", at))

    def public_beside_papers(self, at: datetime | None = None) -> Self:
        """Return the presentations that are public if their papers are."""
        return self.filter(presentation_open("", at))

    def unscheduled(self) -> Self:
        return self.matching(session__isnull=True)

    def taking_place(self) -> Self:
        """Return the presentations that are not canceled, including drafts, without withdrawn papers."""
        withdrawn = Q(paper__isnull=False, paper__status="withdrawn")
        return self.filter(~self.cancelled(), ~withdrawn).standing()

    def cancelled(self) -> Q:
        """Return the condition that a presentation, its session or the parent session is canceled."""
        if plan.current() is None:
            return is_cancelled()
        own = Q(on_release="cancelled") | Q(on_release="", status="cancelled")
        cancelled_sessions = plan.session_keys(attrgetter("cancelled"))
        return plan.in_state(own | plan.match(self.model, session_id__in=cancelled_sessions), is_cancelled())

    def outside_session(self) -> Self:
        """Return the presentations that do not begin in their session, like `talks_outside_session()`."""
        start, end = self.value("session__start"), self.value("session__end")
        begins = Coalesce(self.value("start"), start)
        rows = self.taking_place().alias(begins=begins, ends=self.value("end"))
        begins_late = Q(begins__gt=end) | Q(begins=end, ends__gt=end)
        return rows.filter(Q(begins__lt=start) | begins_late)

    def unscheduled_posters(self) -> Self:
        return self.taking_place().unscheduled().matching(counts_as="poster")

    def posters(self) -> Self:
        """Return posters, and everything in a poster session."""
        is_poster = plan.match(self.model, counts_as="poster")
        return self.filter(is_poster | plan.match(self.model, session__counts_as="poster"))

    def in_session(self, session: Any) -> Self:
        """Return the presentations of a session, given as a row, a key or an expression."""
        return self.matching(session=session)

    def about(self, topic: Any, at: datetime | None = None) -> Self:
        """Return the presentations of papers on this topic or one below it; all if the topic is `None`."""
        if topic is None:
            return self
        return self.filter(paper__in=self.published_related("paper", at).in_topic(topic))

    def by_title(self) -> Self:
        return self.order_by(Coalesce("paper__sort_title", self.value("title")), "pk")

    def by_time(self) -> Self:
        begins = Coalesce(self.value("start"), self.value("session__start"))
        return self.order_by(begins.asc(nulls_last=True), self.value("position"), "pk")

    def recorded(self, at: datetime | None = None) -> Self:
        """Return the presentations with a recording, or a video of the paper."""
        return self.filter(~Q(recording_url="") | self.has_video(at))

    def has_video(self, at: datetime | None) -> Exists:
        """Return the condition that there is a video of the paper."""
        videos = self.published_related("paper", at).published_related("materials", at).filter(kind="video")
        return Exists(videos.filter(paper=OuterRef("paper")))

    def with_beginning(self) -> Self:
        """Annotate `begins` (the own or the session's start) and `called_off` (canceled); order by time."""
        rows = self.annotate(
            begins=Coalesce(self.value("start"), self.value("session__start")),
            called_off=ExpressionWrapper(self.cancelled(), BooleanField()),
        )
        return rows.order_by(F("begins").asc(nulls_last=True), self.value("position"), "pk")

    def with_room(self) -> Self:
        """Annotate key, slug, name and position of the own room, or else of the session's."""
        columns = {"key": "room_id", "slug": "room__slug", "name": "room__name", "position": "room__position"}
        return self.annotate(
            **{
                f"room_{name}": Coalesce(self.value(path), self.value(f"session__{path}"))
                for name, path in columns.items()
            }
        )

    def on_day(self, start: datetime, end: datetime) -> Self:
        """Return the presentations that take place in sessions that begin in this span, by time.

        Annotates `poster` (whether it is one), and `begins` as `with_beginning()` does.
        """
        in_poster_session = plan.match(self.model, session__counts_as="poster", session__isnull=False)
        is_poster = plan.match(self.model, counts_as="poster") | in_poster_session
        presentations = self.with_beginning().annotate(poster=ExpressionWrapper(is_poster, BooleanField()))
        return presentations.matching(session__start__gte=start, session__start__lt=end).filter(
            called_off=False
        )

    def with_session(self) -> Self:
        return self.select_related("session__edition", "session__room", "session__parent")

    def with_credits(self, at: datetime | None = None) -> Self:
        """Fetch the paper, authors or speakers as printed, award marks and own room; defer abstracts."""
        papers = self.published_related("paper", at).with_authors(at).with_awards(at)
        papers = papers.prefetch_related("edition").defer(*DEFERRED_FIELDS)
        speakers = with_shown_names(self.published_related("speakers", at)).in_order()
        rows = self.select_related("room").prefetch_related(
            Prefetch("paper", papers), Prefetch("speakers", speakers, "shown_speakers")
        )
        return rows.defer("abstract", "abstract_html")


class SpeakerQuerySet(PartQuerySet):
    owner = "presentation"

    def published(self, at: datetime | None = None) -> Self:
        is_public = presentation_published("presentation__", at)
        return self.filter(is_public, is_released("", "presentation__edition"))


class ReleaseQuerySet[M: "Content"](ContentQuerySet[M]):
    def published(self, at: datetime | None = None) -> Self:
        return self.filter(schedule_public("edition__", at), or_upcoming("published_at", at))

    def newest_first(self) -> Self:
        """Order by descending number, and defer snapshots, which no page shows."""
        return self.order_by("-number").defer("snapshot")


class NeverPublicQuerySet[M: Model](QuerySet[M]):
    """Queryset of rows that no page lists, such as visitors' agendas, which are found only by a secret."""

    def published(self, at: datetime | None = None) -> Self:
        return self.none()
