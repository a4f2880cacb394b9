"""Registration with lower packages: permissions of roles, menu sections, parts of a copy, and appearances.

Track chairs have access to the papers of the topics and tracks of their membership.
"""

from functools import reduce
from operator import or_
from typing import Any

from django.db.models import Q
from django.utils.translation import gettext, ngettext_lazy
from django.utils.translation import gettext_lazy as _

from accounts.access_scope import NO_ROWS, OWN_ROWS, Access
from accounts.roles import ALL, CHANGE, NONE, ROLE_PARTS, VIEW, Role, grant
from conference import menu_sections
from conference.edition_copy import EDITION_PARTS, EditionCopy, EditionPart
from conference.menu_sections import MenuSection
from conference.models import Edition
from papers.models import Authorship, Award, AwardGrant, Material, Paper, Topic
from papers.querysets import TOPIC_PATHS
from people.models import Institution, Person
from people.querysets import Appearance, register_appearance


def chosen_papers(access: Access) -> Any:
    """Return the keys of the papers in the topics and tracks that a track chair's memberships name."""
    condition = NO_ROWS
    for role, edition, _series, parts in access.memberships:
        if role == Role.TRACK_CHAIR:
            named_parts = [part.partition(":") for part in parts]
            topics = [int(key) for kind, _sep, key in named_parts if kind == "topic" and key.isdecimal()]
            tracks = [key for kind, _sep, key in named_parts if kind == "track"]
            in_topics = (Q(**{f"{path}__in": topics}) for path in TOPIC_PATHS)
            condition |= Q(edition=edition) & reduce(or_, in_topics, Q(track__in=tracks))
    return Paper._base_manager.filter(condition).order_by().values("pk")


def named_or_public(access: Access, model: type[Person | Institution], relation: str) -> Q:
    """Match public rows and those of the track chair's papers. Forms offer them as authors."""
    rows = Authorship._base_manager.filter(paper__in=chosen_papers(access), **{f"{relation}__isnull": False})
    public = model.objects.published().order_by().values("pk")
    return Q(pk__in=rows.order_by().values(relation)) | Q(pk__in=public)


def topics_and_tracks(edition: Edition) -> list[tuple[str, str]]:
    """Return the topics and tracks that a track chair may be limited to."""
    topics = [(f"topic:{topic.pk}", str(topic)) for topic in Topic.objects.filter(edition=edition)]
    rows = Paper.objects.filter(edition=edition).exclude(track="").order_by("track")
    tracks = [*rows.values_list("track", flat=True).distinct()]
    # The main track has an empty name. It is a choice only if there are other tracks.
    track_names = [("", gettext("Main track")), *((track, track) for track in tracks)] if tracks else []
    return topics + [
        (f"track:{track}", gettext("Track: %(track)s") % {"track": name}) for track, name in track_names
    ]


OWN_ROWS[Role.TRACK_CHAIR] |= {
    Paper: lambda access: Q(pk__in=chosen_papers(access)),
    Authorship: lambda access: Q(paper__in=chosen_papers(access)),
    Material: lambda access: Q(paper__in=chosen_papers(access)),
    Person: lambda access: named_or_public(access, Person, "person"),
    Institution: lambda access: named_or_public(access, Institution, "institutions"),
}
ROLE_PARTS[Role.TRACK_CHAIR] = topics_and_tracks

grant([Paper], ALL, ALL, ALL, VIEW, VIEW, track_chair=CHANGE, awards=VIEW)
grant([Authorship, Material], ALL, ALL, ALL, VIEW, VIEW, track_chair=ALL, awards=VIEW)
grant([Topic], ALL, ALL, ALL, VIEW, VIEW, track_chair=VIEW, awards=VIEW)
grant([Award, AwardGrant], ALL, ALL, ALL, NONE, VIEW, awards=ALL)

register_appearance(Person, Appearance(10, "authorships", ("paper__edition",)))
register_appearance(Person, Appearance(50, "grants", ("award__edition", "paper__edition")))
register_appearance(Institution, Appearance(10, "authorships", ("paper__edition",)))

menu_sections.register(
    MenuSection(
        30,
        "papers",
        _("Papers"),
        "papers:list",
        rows=lambda edition, at: [Paper.objects.published(at).filter(edition=edition)],
        counted=ngettext_lazy("%(number)s paper", "%(number)s papers", "count"),
    ),
    MenuSection(
        60,
        "awards",
        _("Awards"),
        "papers:awards",
        rows=lambda edition, at: [Award.objects.published(at).filter(edition=edition)],
        counted=ngettext_lazy("%(number)s award", "%(number)s awards", "count"),
    ),
    MenuSection(120, "statistics", _("Statistics"), "papers:statistics"),
)


def copy_topics(copying: EditionCopy) -> None:
    """Copy the topics level by level, parents first."""
    rows = list(copying.source.topics.all())
    while rows:
        copies = copying.copies.setdefault(Topic, {})
        level = [row for row in rows if row.parent_id is None or row.parent_id in copies]
        copying.copy_rows(level)
        rows = [row for row in rows if row not in level] if level else []


EDITION_PARTS += [
    EditionPart("topics", _("Topics"), Topic, lambda edition: edition.topics.all(), copy_topics, place=11),
    EditionPart(
        "awards",
        _("Awards, without winners"),
        Award,
        lambda edition: edition.awards.all(),
        lambda copying: copying.copy_rows(copying.source.awards.all()),
        is_usual=False,
        place=30,
    ),
]
