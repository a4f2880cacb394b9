"""What narrows the list of each resource. Related rows are asked of the reader: a draft narrows nothing."""

from datetime import date, timedelta
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any

from django.db.models import Q
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _
from django_filters import CharFilter, ChoiceFilter

from api.filters import MAX_WORDS, PathFilter, ResourceFilter, WholeNumberFilter, YesNo, named, program_day
from markup import fold
from papers.models import Authorship, AwardGrant, Material
from papers.querysets import TOPIC_PATHS, called_off
from people.models import PersonName
from schedule.models import Presentation, Session, SessionRole, Speaker

if TYPE_CHECKING:
    from collections.abc import Iterable

    from django.db.models import Model
    from django_stubs_ext import StrPromise

    from content.models import Content

WORDS = _('Full text: words, "phrases", -without, author:, title:, topic:, award:, year:.')
# An edition's program may begin before its first day and end after its last.
NEAR = timedelta(days=31)


def words() -> CharFilter:
    """Full text; the list itself does the search, as it knows the order of how well things fit."""
    return CharFilter(method="searched", max_length=MAX_WORDS, help_text=WORDS)


def exactly(column: str, help: "StrPromise | str") -> CharFilter:
    return CharFilter(field_name=column, lookup_expr="iexact", max_length=MAX_WORDS, help_text=help)


def in_a_name(help: "StrPromise | str") -> CharFilter:
    return CharFilter(
        method="called",
        max_length=MAX_WORDS,
        help_text=format_lazy("{} {}", help, _("Accents do not matter.")),
    )


def in_room(value: str) -> Q:
    """Presentations in a room: their own, else their session's."""
    own = named(value, "room__slug", "edition__slug")
    return own | (Q(room__isnull=True) & named(value, "session__room__slug", "edition__slug"))


def on_day(editions: Any, day: date, column: str) -> Q:
    """What begins on a program day, as each edition counts its days."""
    found = Q(pk__in=[])
    for edition in editions.filter(start_date__lte=day + NEAR, end_date__gte=day - NEAR):
        first, following = edition.day_bounds(day)
        found |= Q(**{"edition": edition.pk, f"{column}__gte": first, f"{column}__lt": following})
    return found


def talks_on_day(editions: object, day: date) -> Q:
    """Presentations that begin on a program day, at their own time or else their session's."""
    own = on_day(editions, day, "start") & Q(start__isnull=False)
    return own | (on_day(editions, day, "session__start") & Q(start__isnull=True))


class Searched(ResourceFilter):
    """Of what stands in the search index."""

    q = words()

    def searched(self, rows: "Iterable[Model]", name: str, value: str) -> Any:
        return rows


class EditionPart(ResourceFilter):
    """Of whatever belongs to an edition."""

    edition = PathFilter("edition__slug", help_text=_("Of this edition, such as 2021."))
    conference = PathFilter("edition__conference__slug", help_text=_("Of all editions of this conference."))


class EditionFilter(ResourceFilter):
    conference = PathFilter("conference__slug", help_text=_("Of this conference."))
    year = WholeNumberFilter(help_text=_("Of this year."))


class PersonFilter(Searched):
    name = in_a_name(_("With these words in a name."))
    orcid = exactly("orcid", _("With this ORCID iD."))
    edition = PathFilter(method="in_edition", help_text=_("Whom something of this edition shows."))
    institution = PathFilter(method="of_institution", help_text=_("Who wrote papers from there."))

    def called(self, rows: Any, name: str, value: str) -> Any:
        for word in fold(value).split():
            other = self.reader.rows(PersonName).filter(folded__contains=word).order_by().values("person")
            rows = rows.filter(Q(folded__contains=word) | Q(pk__in=other))
        return rows

    def in_edition(self, rows: Any, name: str, value: str) -> Any:
        found = Q()
        for relation in rows.APPEARANCES:
            model = rows.model._meta.get_field(relation).related_model
            shown = self.reader.rows(model).filter(**{f"{model.edition_lookup}__slug": value})
            found |= Q(pk__in=shown.order_by().values("person"))
        return rows.filter(found)

    def of_institution(self, rows: Any, name: str, value: str) -> Any:
        wrote = self.reader.rows(Authorship).filter(institutions__slug=value)
        return rows.filter(pk__in=wrote.order_by().values("person"))


class InstitutionFilter(ResourceFilter):
    name = in_a_name(_("With these words in its name or another name."))
    country = exactly("country", _("From this country."))
    edition = PathFilter(method="in_edition", help_text=_("That papers of this edition come from."))

    def called(self, rows: Any, name: str, value: str) -> Any:
        for word in fold(value).split():
            rows = rows.filter(folded__contains=word)
        return rows

    def in_edition(self, rows: Any, name: str, value: str) -> Any:
        wrote = self.reader.rows(Authorship).filter(paper__edition__slug=value)
        return rows.filter(pk__in=wrote.order_by().values("institutions"))


class TopicFilter(EditionPart):
    parent = PathFilter("parent__slug", "parent__edition__slug", help_text=_("Right below this topic."))


class PaperFilter(Searched, EditionPart):
    topic = PathFilter(method="on_topic", help_text=_("In this topic or below it."))
    track = exactly("track", _("Of this track."))
    decision = exactly("decision", _("With this decision."))
    doi = exactly("doi", _("With this DOI."))
    person = PathFilter(method="by_person", help_text=_("Written by this person."))
    institution = PathFilter(method="from_institution", help_text=_("With an author from there."))
    award = PathFilter(method="honoured", help_text=_("Which won this award."))
    kind = ChoiceFilter(
        method="of_kind", choices=Presentation.Kind.choices, help_text=_("Presented like this.")
    )
    session = PathFilter(method="in_session", help_text=_("Presented in this session."))
    room = PathFilter(method="in_room", help_text=_("Presented in this room."))
    day = program_day(_("Presented on this program day"))
    has_award = YesNo(method="with_award", help_text=_("Whether it won anything."))
    has_pdf = YesNo(method="with_material", help_text=_("Whether it has a PDF."))
    has_slides = YesNo(method="with_material", help_text=_("Whether it has slides."))
    has_poster = YesNo(method="with_material", help_text=_("Whether it has a poster as a file."))
    has_video = YesNo(method="with_material", help_text=_("Whether it has a video."))
    has_code = YesNo(method="with_material", help_text=_("Whether it has code."))
    has_data = YesNo(method="with_material", help_text=_("Whether it has data."))
    has_review = YesNo(method="with_material", help_text=_("Whether it has reviews."))

    def on_topic(self, rows: Any, name: str, value: str) -> Any:
        ways = (named(value, f"{path}__slug", "edition__slug") for path in TOPIC_PATHS)
        return rows.filter(reduce(or_, ways))

    def by_person(self, rows: Any, name: str, value: str) -> Any:
        return rows.filter(self._with(Authorship, Q(person__uid=value)))

    def from_institution(self, rows: Any, name: str, value: str) -> Any:
        return rows.filter(self._with(Authorship, Q(institutions__slug=value)))

    def honoured(self, rows: Any, name: str, value: str) -> Any:
        return rows.filter(self._with(AwardGrant, named(value, "award__uid", "award__edition__slug")))

    def of_kind(self, rows: Any, name: str, value: str) -> Any:
        return rows.filter(self._with(Presentation, Q(kind=value)))

    def in_session(self, rows: Any, name: str, value: str) -> Any:
        return rows.filter(self._with(Presentation, named(value, "session__uid", "edition__slug")))

    def in_room(self, rows: Any, name: str, value: str) -> Any:
        return rows.filter(self._with(Presentation, in_room(value)))

    def on_day(self, rows: Any, name: str, value: date) -> Any:
        return rows.filter(self._with(Presentation, talks_on_day(self.reader.editions(), value)))

    def with_award(self, rows: Any, name: str, value: bool) -> Any:
        won = self._with(AwardGrant, Q())
        return rows.filter(won if value else ~won)

    def with_material(self, rows: Any, name: str, value: bool) -> Any:
        there = self._with(Material, Q(kind=name.removeprefix("has_")))
        return rows.filter(there if value else ~there)

    def _with(self, model: "type[Content]", condition: Q) -> Q:
        """Papers with a visible row of the model that meets the condition."""
        found = self.reader.rows(model).filter(condition, paper__isnull=False)
        return Q(pk__in=found.order_by().values("paper"))


class AwardFilter(EditionPart):
    paper = PathFilter(method="won_by_paper", help_text=_("Which this paper won."))
    person = PathFilter(method="won_by_person", help_text=_("Which this person won, alone or with a paper."))

    def won_by_paper(self, rows: Any, name: str, value: str) -> Any:
        grants = self.reader.rows(AwardGrant).filter(named(value, "paper__uid", "paper__edition__slug"))
        return rows.filter(pk__in=grants.order_by().values("award"))

    def won_by_person(self, rows: Any, name: str, value: str) -> Any:
        wrote = self.reader.rows(Authorship).filter(person__uid=value).order_by().values("paper")
        grants = self.reader.rows(AwardGrant).filter(Q(person__uid=value) | Q(paper__in=wrote))
        return rows.filter(pk__in=grants.order_by().values("award"))


class MaterialFilter(ResourceFilter):
    edition = PathFilter("paper__edition__slug", help_text=_("Of this edition, such as 2021."))
    paper = PathFilter("paper__uid", "paper__edition__slug", help_text=_("Of this paper."))
    kind = ChoiceFilter(choices=Material.Kind.choices, help_text=_("Of this kind."))


class RoomFilter(EditionPart):
    virtual = YesNo(help_text=_("Whether it is no place."))


class SessionFilter(Searched, EditionPart):
    kind = ChoiceFilter(choices=Session.Kind.choices, help_text=_("Of this kind."))
    day = program_day(_("On this program day"))
    room = PathFilter("room__slug", "edition__slug", help_text=_("In this room."))
    parent = PathFilter("parent__uid", "edition__slug", help_text=_("Part of this session."))
    person = PathFilter(method="with_person", help_text=_("With this person in a role or as a speaker."))
    recorded = YesNo(method="with_recording", help_text=_("Whether there is a recording of it."))

    def on_day(self, rows: Any, name: str, value: date) -> Any:
        return rows.filter(on_day(self.reader.editions(), value, "start"))

    def with_person(self, rows: Any, name: str, value: str) -> Any:
        roles = self.reader.rows(SessionRole).filter(person__uid=value).order_by().values("session")
        talks = self.reader.rows(Speaker).filter(person__uid=value, presentation__session__isnull=False)
        spoken = talks.order_by().values("presentation__session")
        return rows.filter(Q(pk__in=roles) | Q(pk__in=spoken))

    def with_recording(self, rows: Any, name: str, value: bool) -> Any:
        return rows.exclude(recording_url="") if value else rows.filter(recording_url="")


class PresentationFilter(Searched, EditionPart):
    kind = ChoiceFilter(choices=Presentation.Kind.choices, help_text=_("Of this kind."))
    day = program_day(_("On this program day"))
    room = PathFilter(method="in_room", help_text=_("In this room."))
    session = PathFilter("session__uid", "edition__slug", help_text=_("In this session."))
    paper = PathFilter("paper__uid", "edition__slug", help_text=_("Of this paper."))
    topic = PathFilter(method="on_topic", help_text=_("Of papers in this topic or below it."))
    person = PathFilter(
        method="by_person", help_text=_("Of papers that this person wrote, or with this speaker.")
    )
    cancelled = YesNo(method="is_called_off", help_text=_("Whether it does not take place."))
    scheduled = YesNo(method="in_a_session", help_text=_("Whether it stands in a session."))

    def on_day(self, rows: Any, name: str, value: date) -> Any:
        return rows.filter(talks_on_day(self.reader.editions(), value))

    def in_room(self, rows: Any, name: str, value: str) -> Any:
        return rows.filter(in_room(value))

    def on_topic(self, rows: Any, name: str, value: str) -> Any:
        ways = (named(value, f"paper__{path}__slug", "edition__slug") for path in TOPIC_PATHS)
        return rows.filter(reduce(or_, ways))

    def by_person(self, rows: Any, name: str, value: str) -> Any:
        wrote = self.reader.rows(Authorship).filter(person__uid=value).order_by().values("paper")
        spoke = self.reader.rows(Speaker).filter(person__uid=value).order_by().values("presentation")
        return rows.filter(Q(paper__in=wrote) | Q(pk__in=spoke))

    def is_called_off(self, rows: Any, name: str, value: bool) -> Any:
        return rows.filter(called_off() if value else ~called_off())

    def in_a_session(self, rows: Any, name: str, value: bool) -> Any:
        return rows.filter(session__isnull=not value)


class SponsorFilter(EditionPart):
    tier = exactly("tier", _("Of this tier."))


class PageFilter(Searched, EditionPart):
    pass


class AnnouncementFilter(EditionPart):
    pinned = YesNo(help_text=_("Whether it stays above the others."))


class ReleaseFilter(EditionPart):
    number = WholeNumberFilter(help_text=_("With this number."))
