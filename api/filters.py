"""Filters of each resource. Related rows come from the reader, so that drafts never affect public results."""

from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from functools import reduce
from operator import or_

from django import forms
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db.models import Model, Q, QuerySet
from django.http import QueryDict
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _
from django_filters import (
    BooleanFilter,
    CharFilter,
    ChoiceFilter,
    DateFilter,
    Filter,
    FilterSet,
    IsoDateTimeFilter,
    NumberFilter,
)

from api.errors import BadValue, UnknownParameter
from api.reader import Reader
from api.shapes import RESOURCES, Resource, Rows, Text
from conference.models import Edition
from content.changed.reading import changed_since
from markup import fold
from papers.models import Authorship, AwardGrant, Material
from papers.querysets import TOPIC_PATHS, is_cancelled
from people.models import Person, PersonName
from people.querysets import appearance_relations
from schedule.models import Presentation, Session, SessionKind, SessionRole, Speaker
from schedule.querysets import of_kind
from schedule.session_kinds import HasKind

MAX_TEXT_CHARS = 200
# An error lists the valid names only if there are at most this many.
MAX_LISTED_NAMES = 50
UNKNOWN_NAME = _("Nothing public has that name.")
# Parameters of every list, in addition to its filters.
LIST_PARAMETERS = ("cursor", "expand", "fields", "ordering", "page_size")
REFERENCE_PATTERN = r"^([a-z0-9][a-z0-9-]{0,119}/)?[A-Za-z0-9][A-Za-z0-9._-]{0,119}$"
REFERENCE_VALIDATOR = RegexValidator(
    REFERENCE_PATTERN.replace("$", r"\Z"), _("Write <edition>/<id>, or the id alone.")
)


def match_reference(value: str, key: str, edition: str = "") -> Q:
    """Return the condition that matches a reference; `key` and `edition` are lookups of its two columns.

    A reference to a row of an edition is <edition>/<id> or the id alone; to one of the whole site, its id.
    """
    slug, slash, row_id = value.rpartition("/")
    return Q(**{key: row_id}, **({edition: slug} if slash and edition else {}))


class PathFilter(CharFilter):  # type: ignore[misc]  # the package has no types
    """Filter rows by a reference to a row of the resource `target`, which `path` leads to."""

    def __init__(self, target: str, path: str = "", **kwargs: object) -> None:
        self.target, self.path = target, path
        super().__init__(validators=[REFERENCE_VALIDATOR], **kwargs)

    def condition(self, value: str, path: str) -> Q:
        """Return the condition that `path` leads to the referenced row; empty means the row itself."""
        resource, start = RESOURCES[self.target], f"{path}__" if path else ""
        return match_reference(
            value, f"{start}{resource.key}", f"{start}{resource.edition}" if resource.edition else ""
        )

    def filter(self, rows: Rows, value: str) -> Rows:
        return rows.filter(self.condition(value, self.path)) if value else rows


class RelatedFilter(PathFilter):
    """Filter by visible rows of another model: `back` leads to the results, `path` to the referenced row."""

    def __init__(self, target: str, model: type[Model], back: str, path: str, **kwargs: object) -> None:
        self.related_model, self.back = model, back
        super().__init__(target, path, **kwargs)

    def filter(self, rows: Rows, value: str) -> Rows:
        if not value:
            return rows
        condition = self.condition(value, self.path)
        return rows.filter(self.parent.related(self.related_model, self.back, condition))


class StrictBooleanField(forms.CharField):
    def to_python(self, value: object) -> bool | None:  # type: ignore[override]
        if value in (None, ""):
            return None
        if str(value).lower() not in {"true", "false"}:
            raise forms.ValidationError(_("Write true or false."))
        return str(value).lower() == "true"


class YesNoFilter(BooleanFilter):  # type: ignore[misc]
    field_class = StrictBooleanField


class KindFilter(CharFilter):  # type: ignore[misc]
    """Filter by kind, including kinds that count as it; `path` leads from rows of `model` to the result."""

    def __init__(self, model: type[HasKind], path: str = "", **kwargs: object) -> None:
        self.model_of_kinds, self.path = model, path
        super().__init__(**kwargs)

    def filter(self, rows: Rows, value: str) -> Rows:
        if not value:
            return rows
        added_kinds = SessionKind.objects.filter(applies_to=self.model_of_kinds.applies_to, slug=value)
        built_in = self.model_of_kinds.Kind.values
        if value not in built_in and not added_kinds.exists():
            raise BadValue("kind", value, allowed=built_in)
        condition = of_kind(value)
        return rows.filter(
            self.parent.related(self.model_of_kinds, self.path, condition) if self.path else condition
        )


class WholeNumberFilter(NumberFilter):  # type: ignore[misc]
    field_class = forms.IntegerField

    def __init__(self, **kwargs: object) -> None:
        super().__init__(min_value=0, max_value=2**31 - 1, **kwargs)

    def get_max_validator(self) -> None:
        return None


# Arithmetic with dates and time zones may overflow beyond these bounds.
EARLIEST, LATEST = datetime(1900, 1, 1, tzinfo=UTC), datetime(2200, 12, 31, tzinfo=UTC)


def day_filter(help: Text) -> DateFilter:
    """Return a filter by day, which calls the method `on_day` of its filter set."""
    bounds = [MinValueValidator(EARLIEST.date()), MaxValueValidator(LATEST.date())]
    text = format_lazy("{}, {}.", help, _("such as 2021-04-06"))
    return DateFilter(method="on_day", validators=bounds, help_text=text)


class ResourceFilter(FilterSet):  # type: ignore[misc]
    """Filters of all lists. A parameter that is unknown, malformed or given twice is an error."""

    changed_since = IsoDateTimeFilter(
        method="filter_changed_since",
        validators=[MinValueValidator(EARLIEST), MaxValueValidator(LATEST)],
        help_text=_(
            "Only rows whose changed_at is this time, such as 2021-04-06T08:00:00Z, or later. With "
            "deleted=true, rows that stopped being public since then."
        ),
    )

    base_filters: dict[str, Filter]

    class Meta:
        fields: list[str] = []

    def __init__(
        self, data: QueryDict, resource: Resource, reader: Reader, other_parameters: Iterable[str] = ()
    ) -> None:
        self.reader, self.resource = reader, resource
        self.other_parameters = {*LIST_PARAMETERS, *other_parameters}
        self.known_parameters = {*self.base_filters, *self.other_parameters}
        # Filters and their fields are copied for each request, so restrict them to those in use.
        self.base_filters = {name: filter_ for name, filter_ in self.base_filters.items() if name in data}
        super().__init__(data, reader.rows(resource.model))

    def filtered_rows(self) -> Rows:
        """Return the filtered rows; raise `BadValue` for an unknown, repeated or invalid parameter."""
        for name, values in self.data.lists():
            if name not in self.known_parameters:
                raise UnknownParameter(name, self.known_parameters)
            if len(values) > 1:
                raise BadValue(name, ", ".join(values), _("Give this parameter only once."))
        for name, errors in self.form.errors.items():
            choices = getattr(self.form.fields[name], "choices", None)
            allowed = [str(value) for value, _ in choices if value] if choices else None
            hint = "" if allowed else " ".join(map(str, errors))
            raise BadValue(name, self.data.get(name, ""), hint, allowed=allowed)
        for name, filter_ in self.filters.items():
            if self.form.cleaned_data[name]:
                self.refuse_unknown_name(name, filter_, self.form.cleaned_data[name])
        rows: Rows = self.qs
        return rows

    def refuse_unknown_name(self, name: str, filter_: Filter, value: str) -> None:
        """Raise `BadValue` if no row has this name: clients might read an empty list as a deletion."""
        if isinstance(filter_, PathFilter):
            resource = RESOURCES[filter_.target]
            rows, key, condition = (
                self.reader.rows(resource.model),
                resource.key,
                filter_.condition(value, ""),
            )
        elif isinstance(filter_, LabelFilter):
            key = filter_.field_name
            rows, condition = self.reader.rows(self.queryset.model), Q(**{f"{key}__iexact": value})
        else:
            return
        if not rows.filter(condition).exists():
            known_names = rows.exclude(**{key: ""}).order_by(key).values_list(key, flat=True).distinct()
            names = list(known_names[: MAX_LISTED_NAMES + 1])
            raise BadValue(
                name, value, UNKNOWN_NAME, allowed=names if len(names) <= MAX_LISTED_NAMES else None
            )

    def related(self, model: type[Model], path: str, condition: Q) -> Q:
        """Return the condition that `path` leads here from a visible row of `model` with this condition."""
        related_rows = self.reader.rows(model).filter(condition, **{f"{path}__isnull": False})
        return Q(pk__in=related_rows.order_by().values(path))

    def filter_changed_since(self, rows: Rows, name: str, value: datetime) -> Rows:
        moment = value.astimezone(UTC)
        return rows.filter(changed_since(rows.model, moment, self.reader.at))


SEARCH_HELP = _('Full text: words, "phrases", -without, author:, title:, topic:, award:, year:.')
# An edition's program may begin before its first day and end after its last.
PROGRAM_MARGIN = timedelta(days=31)


class LabelFilter(CharFilter):  # type: ignore[misc]
    """Filter by a label such as a track; a label that no row has is an error."""


def exact_filter(column: str, help: Text, kind: type[CharFilter] = CharFilter) -> CharFilter:
    return kind(field_name=column, lookup_expr="iexact", max_length=MAX_TEXT_CHARS, help_text=help)


def name_filter(help: Text) -> CharFilter:
    return CharFilter(
        method="filter_name",
        max_length=MAX_TEXT_CHARS,
        help_text=format_lazy("{} {}", help, _("Accents don’t matter.")),
    )


def in_room(value: str) -> Q:
    """Return the condition that a presentation is in a room: its own, else that of its session."""
    own_room = match_reference(value, "room__slug", "edition__slug")
    return own_room | (Q(room__isnull=True) & match_reference(value, "session__room__slug", "edition__slug"))


def on_day(editions: QuerySet[Edition], day: date, column: str) -> Q:
    """Return the condition that `column` is on a program day, in the zone of each edition. One query."""
    condition = Q(pk__in=[])
    for edition in editions.filter(start_date__lte=day + PROGRAM_MARGIN, end_date__gte=day - PROGRAM_MARGIN):
        start, end = edition.day_bounds(day)
        condition |= Q(**{"edition": edition.pk, f"{column}__gte": start, f"{column}__lt": end})
    return condition


def talks_on_day(editions: QuerySet[Edition], day: date) -> Q:
    """Return the condition that a presentation begins on a program day: by its own or its session's time."""
    own_time = on_day(editions, day, "start") & Q(start__isnull=False)
    return own_time | (on_day(editions, day, "session__start") & Q(start__isnull=True))


class SearchFilter(ResourceFilter):
    """Filters of resources in the search index."""

    # The view does the search, because it needs the order of relevance.
    q = CharFilter(method="filter_search", max_length=MAX_TEXT_CHARS, help_text=SEARCH_HELP)

    def filter_search(self, rows: Rows, name: str, value: str) -> Rows:
        return rows


class EditionPartFilter(ResourceFilter):
    edition = PathFilter("editions", "edition", help_text=_("Of this edition, such as 2021."))
    conference = PathFilter(
        "conferences", "edition__conference", help_text=_("Of all editions of this conference.")
    )


class EditionFilter(ResourceFilter):
    conference = PathFilter("conferences", "conference", help_text=_("Of this conference."))
    year = WholeNumberFilter(help_text=_("Of this year."))


class PersonFilter(SearchFilter):
    name = name_filter(_("With these words in a name."))
    orcid = exact_filter("orcid", _("With this ORCID iD."))
    edition = PathFilter("editions", method="in_edition", help_text=_("People who appear in this edition."))
    institution = RelatedFilter(
        "institutions", Authorship, "person", "institutions", help_text=_("Authors from this institution.")
    )

    def filter_name(self, rows: Rows, name: str, value: str) -> Rows:
        for word in fold(value).split():
            has_word = Q(folded__contains=word)
            rows = rows.filter(has_word | self.related(PersonName, "person", has_word))
        return rows

    def in_edition(self, rows: Rows, name: str, value: str) -> Rows:
        condition = Q()
        for model, path in appearance_relations(Person):
            condition |= self.related(model, path, match_reference(value, f"{model.edition_lookup}__slug"))
        return rows.filter(condition)


class InstitutionFilter(ResourceFilter):
    name = name_filter(_("With these words in its name or another name."))
    country = exact_filter("country", _("From this country."))
    edition = RelatedFilter(
        "editions",
        Authorship,
        "institutions",
        "paper__edition",
        help_text=_("With papers in this edition."),
    )

    def filter_name(self, rows: Rows, name: str, value: str) -> Rows:
        for word in fold(value).split():
            rows = rows.filter(folded__contains=word)
        return rows


class TopicFilter(EditionPartFilter):
    parent = PathFilter("topics", "parent", help_text=_("Right below this topic."))


class PaperFilter(SearchFilter, EditionPartFilter):
    topic = PathFilter("topics", method="on_topic", help_text=_("In this topic or below it."))
    track = exact_filter("track", _("Of this track."), LabelFilter)
    decision = exact_filter("decision", _("With this decision."), LabelFilter)
    doi = exact_filter("doi", _("With this DOI."))
    person = RelatedFilter("people", Authorship, "paper", "person", help_text=_("Written by this person."))
    institution = RelatedFilter(
        "institutions", Authorship, "paper", "institutions", help_text=_("With an author from there.")
    )
    award = RelatedFilter("awards", AwardGrant, "paper", "award", help_text=_("Which won this award."))
    kind = KindFilter(Presentation, "paper", help_text=_("Presented like this."))
    session = RelatedFilter(
        "sessions", Presentation, "paper", "session", help_text=_("Presented in this session.")
    )
    room = PathFilter("rooms", method="in_room", help_text=_("Presented in this room."))
    day = day_filter(_("Presented on this program day"))
    has_award = YesNoFilter(method="with_award", help_text=_("Whether it won anything."))
    has_pdf = YesNoFilter(method="with_material", help_text=_("Whether it has a PDF."))
    has_slides = YesNoFilter(method="with_material", help_text=_("Whether it has slides."))
    has_poster = YesNoFilter(method="with_material", help_text=_("Whether it has a poster as a file."))
    has_video = YesNoFilter(method="with_material", help_text=_("Whether it has a video."))
    has_code = YesNoFilter(method="with_material", help_text=_("Whether it has code."))
    has_data = YesNoFilter(method="with_material", help_text=_("Whether it has data."))
    has_review = YesNoFilter(method="with_material", help_text=_("Whether it has reviews."))

    def on_topic(self, rows: Rows, name: str, value: str) -> Rows:
        conditions = (match_reference(value, f"{path}__slug", "edition__slug") for path in TOPIC_PATHS)
        return rows.filter(reduce(or_, conditions))

    def in_room(self, rows: Rows, name: str, value: str) -> Rows:
        return rows.filter(self.related(Presentation, "paper", in_room(value)))

    def on_day(self, rows: Rows, name: str, value: date) -> Rows:
        return rows.filter(self.related(Presentation, "paper", talks_on_day(self.reader.editions(), value)))

    def with_award(self, rows: Rows, name: str, value: bool) -> Rows:
        has_award = self.related(AwardGrant, "paper", Q())
        return rows.filter(has_award if value else ~has_award)

    def with_material(self, rows: Rows, name: str, value: bool) -> Rows:
        has_material = self.related(Material, "paper", Q(kind=name.removeprefix("has_")))
        return rows.filter(has_material if value else ~has_material)


class AwardFilter(EditionPartFilter):
    paper = RelatedFilter("papers", AwardGrant, "award", "paper", help_text=_("Which this paper won."))
    person = PathFilter(
        "people", method="won_by_person", help_text=_("Which this person won, alone or with a paper.")
    )

    def won_by_person(self, rows: Rows, name: str, value: str) -> Rows:
        is_person = match_reference(value, "person__uid")
        papers = self.reader.rows(Authorship).filter(is_person).order_by().values("paper")
        return rows.filter(self.related(AwardGrant, "award", is_person | Q(paper__in=papers)))


class MaterialFilter(ResourceFilter):
    edition = PathFilter("editions", "paper__edition", help_text=_("Of this edition, such as 2021."))
    paper = PathFilter("papers", "paper", help_text=_("Of this paper."))
    kind = ChoiceFilter(choices=Material.Kind.choices, help_text=_("Of this kind."))


class RoomFilter(EditionPartFilter):
    virtual = YesNoFilter(help_text=_("Whether it is virtual."))


class SessionFilter(SearchFilter, EditionPartFilter):
    kind = KindFilter(Session, help_text=_("Of this kind, or of one that counts as it."))
    day = day_filter(_("On this program day"))
    room = PathFilter("rooms", "room", help_text=_("In this room."))
    parent = PathFilter("sessions", "parent", help_text=_("Part of this session."))
    person = PathFilter(
        "people", method="with_person", help_text=_("With this person in a role or as a speaker.")
    )
    recorded = YesNoFilter(method="with_recording", help_text=_("Whether there is a recording of it."))

    def on_day(self, rows: Rows, name: str, value: date) -> Rows:
        return rows.filter(on_day(self.reader.editions(), value, "start"))

    def with_person(self, rows: Rows, name: str, value: str) -> Rows:
        is_person = match_reference(value, "person__uid")
        has_role = self.related(SessionRole, "session", is_person)
        return rows.filter(has_role | self.related(Speaker, "presentation__session", is_person))

    def with_recording(self, rows: Rows, name: str, value: bool) -> Rows:
        return rows.exclude(recording_url="") if value else rows.filter(recording_url="")


class PresentationFilter(SearchFilter, EditionPartFilter):
    kind = KindFilter(Presentation, help_text=_("Of this kind, or of one that counts as it."))
    day = day_filter(_("On this program day"))
    room = PathFilter("rooms", method="in_room", help_text=_("In this room."))
    session = PathFilter("sessions", "session", help_text=_("In this session."))
    paper = PathFilter("papers", "paper", help_text=_("Of this paper."))
    topic = PathFilter("topics", method="on_topic", help_text=_("Of papers in this topic or below it."))
    person = PathFilter(
        "people", method="by_person", help_text=_("Of papers that this person wrote, or with this speaker.")
    )
    cancelled = YesNoFilter(method="is_called_off", help_text=_("Whether it is canceled."))
    scheduled = YesNoFilter("session", "isnull", exclude=True, help_text=_("Whether it is in a session."))

    def on_day(self, rows: Rows, name: str, value: date) -> Rows:
        return rows.filter(talks_on_day(self.reader.editions(), value))

    def in_room(self, rows: Rows, name: str, value: str) -> Rows:
        return rows.filter(in_room(value))

    def on_topic(self, rows: Rows, name: str, value: str) -> Rows:
        conditions = (match_reference(value, f"paper__{path}__slug", "edition__slug") for path in TOPIC_PATHS)
        return rows.filter(reduce(or_, conditions))

    def by_person(self, rows: Rows, name: str, value: str) -> Rows:
        is_person = match_reference(value, "person__uid")
        papers = self.reader.rows(Authorship).filter(is_person).order_by().values("paper")
        return rows.filter(Q(paper__in=papers) | self.related(Speaker, "presentation", is_person))

    def is_called_off(self, rows: Rows, name: str, value: bool) -> Rows:
        return rows.filter(is_cancelled() if value else ~is_cancelled())


class SponsorFilter(EditionPartFilter):
    tier = exact_filter("tier", _("Of this tier."), LabelFilter)


class PageFilter(SearchFilter, EditionPartFilter):
    pass


class AnnouncementFilter(EditionPartFilter):
    pinned = YesNoFilter(help_text=_("Whether it stays above the others."))


class ReleaseFilter(EditionPartFilter):
    number = WholeNumberFilter(help_text=_("With this number."))
