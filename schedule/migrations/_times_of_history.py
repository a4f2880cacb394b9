"""When rows were created and last changed according to the history, as it was computed before it was stored."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import batched
from typing import Any

from django.db.models import Max, Min, Q

BATCH_ROWS = 500
NAMES = ("people.personname",)
SET_AT = {
    "license_set_at": ("license",),
    "clock_set_at": ("timezone", "day_start_hour"),
    "public_from_set_at": ("public_from",),
    "papers_public_from_set_at": ("papers_public_from",),
    "schedule_public_from_set_at": ("schedule_public_from",),
}


@dataclass(frozen=True, slots=True)
class Followed:
    """Rows that `path` leads to, whose changes counted: of these fields, and of parts."""

    path: str
    model: str
    fields: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rule:
    """What counted for the rows of a model; `edition` leads to their edition, `owners` name their owners."""

    model: str
    edition: str = "edition"
    changed_column: str = "changed_at"
    unshown: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    follows: tuple[Followed, ...] = ()
    owners: tuple[tuple[str, str], ...] = ()


RULES = (
    Rule("conference.conference", ""),
    Rule(
        "conference.edition",
        "pk",
        "edited_at",
        ("papers_public_from", "schedule_public_from"),
        ("people.committeerole",),
        (Followed("committee_roles__person", "people.person", ("name",), NAMES),),
    ),
    Rule("conference.page"),
    Rule("conference.sponsor"),
    Rule("conference.announcement"),
    Rule("conference.keydate"),
    Rule("people.person", "", unshown=("email",), parts=(*NAMES, "people.personidentifier")),
    Rule("people.institution", ""),
    Rule("papers.topic"),
    Rule(
        "papers.paper",
        unshown=("announced_at",),
        parts=("papers.authorship", "papers.awardgrant"),
        follows=(Followed("authorships__person", "people.person", ("name",), NAMES),),
    ),
    Rule(
        "papers.material",
        "paper__edition",
        follows=(Followed("paper", "papers.paper", ("title", "status", "license")),),
        owners=(("paper", "papers.paper"),),
    ),
    Rule("papers.authorship", "paper__edition", unshown=("position",), owners=(("paper", "papers.paper"),)),
    Rule("papers.award", parts=("papers.awardgrant",)),
    Rule("schedule.room"),
    Rule(
        "schedule.session",
        parts=("schedule.sessionrole",),
        follows=(
            Followed("roles__person", "people.person", ("name",), NAMES),
            Followed("parent", "schedule.session", ("status", "cancellation_reason")),
        ),
    ),
    Rule(
        "schedule.presentation",
        parts=("schedule.speaker",),
        follows=(
            Followed("speakers__person", "people.person", ("name",), NAMES),
            Followed("paper", "papers.paper", ("title", "status")),
            Followed(
                "session",
                "schedule.session",
                ("status", "cancellation_reason", "title", "start", "end", "room", "parent"),
            ),
            Followed("session__parent", "schedule.session", ("status", "cancellation_reason")),
        ),
        owners=(("session", "schedule.session"), ("paper", "papers.paper")),
    ),
    Rule("schedule.release"),
)


class TimesOfHistory:
    """The computation, with the models of a migration."""

    def __init__(self, apps: Any, now: datetime) -> None:
        self.apps, self.now = apps, now
        self.changes: Any = apps.get_model("content", "RowChange").objects.order_by()
        with_edition = self.changes.filter(edition_key__isnull=False)
        self.first_by_edition: dict[int, datetime] = dict(
            with_edition.values_list("edition_key").annotate(Min("change_set__at"))
        )

    def fill(self) -> None:
        """Write the times of all rows, some hundred at a time."""
        for rule in RULES:
            model = self.apps.get_model(rule.model)
            keys = [*model._base_manager.order_by("pk").values_list("pk", flat=True)]
            for batch in batched(keys, BATCH_ROWS, strict=False):
                self.fill_rows(rule, model, batch)

    def fill_rows(self, rule: Rule, model: Any, keys: Collection[int]) -> None:
        changed: defaultdict[int, list[datetime]] = defaultdict(list)
        unshown = self.shown_fields(model, rule) if rule.unshown else ()
        for key, moment in self.changes_of(rule.model, unshown, rule.parts, keys):
            changed[key].append(moment)
        for followed in rule.follows:
            pairs = model._base_manager.filter(pk__in=keys, **{f"{followed.path}__isnull": False}).order_by()
            rows: defaultdict[int, list[int]] = defaultdict(list)
            for key, followed_key in pairs.values_list("pk", followed.path):
                rows[followed_key].append(key)
            for part in batched(rows, BATCH_ROWS, strict=False):
                for followed_key, moment in self.changes_of(
                    followed.model, followed.fields, followed.parts, part
                ):
                    for key in rows[followed_key]:
                        changed[key].append(moment)
        created = self.created(rule.model, keys)
        created |= self.created_with_owners(rule, model, {*keys} - created.keys())
        edition_by_key: dict[int, int | None] = {}
        if rule.edition:
            edition_by_key = dict(model._base_manager.filter(pk__in=keys).values_list("pk", rule.edition))
        instances = []
        set_at = self.set_at(keys) if rule.model == "conference.edition" else {}
        for key in keys:
            first = self.first_by_edition.get(edition_by_key.get(key) or 0)
            start = created.get(key) or min([*changed[key], *([first] if first else [])], default=self.now)
            times = {"created_at": start, rule.changed_column: max([start, *changed[key]])}
            instances.append(model(pk=key, **times, **set_at.get(key, {})))
        columns = ["created_at", rule.changed_column, *(SET_AT if set_at else ())]
        model._base_manager.bulk_update(instances, columns)

    @staticmethod
    def shown_fields(model: Any, rule: Rule) -> tuple[str, ...]:
        return tuple(field.name for field in model._meta.fields if field.name not in rule.unshown)

    def changes_of(
        self, model: str, fields: Iterable[str], parts: Collection[str], keys: Collection[int]
    ) -> Iterator[tuple[int, datetime]]:
        """Yield the keys of rows with the times of their last changes, and of those of their parts."""
        own = self.changes.filter(model=model, object_id__in=keys)
        if names := [*fields]:
            own = own.filter(~Q(kind="changed") | Q(values__has_any_keys=names))
        yield from own.values_list("object_id").annotate(Max("change_set__at"))
        names = [f"{model}:{key}" for key in keys]
        for column in ("owner", "other", "moved_to") if parts else ():
            of_rows = self.changes.filter(~Q(**{column: ""}), model__in=parts, **{f"{column}__in": names})
            for name, moment in of_rows.values_list(column).annotate(Max("change_set__at")):
                yield int(name.rpartition(":")[2]), moment

    def created(self, model: str, keys: Collection[int]) -> dict[int, datetime]:
        rows = self.changes.filter(model=model, kind="created", object_id__in=keys)
        return dict(rows.values_list("object_id").annotate(Min("change_set__at")))

    def created_with_owners(self, rule: Rule, model: Any, keys: Collection[int]) -> dict[int, datetime]:
        """Return when the owners of rows were created that have no entry of their own: with the owner."""
        if not rule.owners or not keys:
            return {}
        names: dict[int, str] = {}
        for name, label in reversed(rule.owners):
            owned = model._base_manager.filter(pk__in=keys, **{f"{name}__isnull": False}).order_by()
            names |= {key: f"{label}:{owner}" for key, owner in owned.values_list("pk", name)}
        # Who moved later was created with its earliest owner.
        moved = self.changes.filter(model=rule.model, object_id__in=keys).exclude(owner="")
        names |= dict(moved.order_by("-pk").values_list("object_id", "owner"))
        keys_by_model: defaultdict[str, set[int]] = defaultdict(set)
        for name in names.values():
            label, _colon, owner = name.partition(":")
            keys_by_model[label].add(int(owner))
        created = {
            f"{label}:{owner}": moment
            for label, owners in keys_by_model.items()
            for owner, moment in self.created(label, owners).items()
        }
        return {key: created[name] for key, name in names.items() if name in created}

    def set_at(self, keys: Collection[int]) -> dict[int, dict[str, datetime | None]]:
        """Return when the fields of editions were last set that other rows show."""
        times: dict[int, dict[str, datetime | None]] = {key: dict.fromkeys(SET_AT) for key in keys}
        for column, fields in SET_AT.items():
            changes = self.changes.filter(model="conference.edition", kind="changed", object_id__in=keys)
            changes = changes.filter(values__has_any_keys=[*fields])
            for key, moment in changes.values_list("object_id").annotate(Max("change_set__at")):
                times[key][column] = moment
        return times
