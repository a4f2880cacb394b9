"""The watch over a change set: which rows it publishes, and which cease to be public.

Before a write that can publish rows or take them back, the rows that it concerns are asked for with
`published()`; when the change set ends, they are asked for again. What ceased to be public gets a tombstone.
"""

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from django.db import connection
from django.db.models import BigIntegerField, CharField, F, Model, Q, TextField, Value
from django.db.models.functions import Cast
from django.utils import timezone

from content import preview_context
from content.array_lookup import AnyOf
from content.editions import get_edition_model
from content.preview_context import GATES
from content.publicity.rules import (
    affected_by,
    deciding_fields,
    identified_models,
    is_hidden_by_itself,
    is_shown_by_others,
    is_within_several,
    shown_rows,
)
from content.publicity.tombstones import Address, Tombstone, closed_part
from content.row_values import Values, related_model
from content.unreleased import plan

if TYPE_CHECKING:
    from content.models import Content

type Keys = "dict[type[Model], set[int]]"

TITLES = ("title", "name")


class PublicRow(NamedTuple):
    """Where a public row is, and what it is called."""

    address: Address
    edition: int | None
    title: str


type PublicRows = "dict[tuple[type[Model], int], PublicRow]"


class Watch:
    """The rows that a change set may have published or taken back."""

    def __init__(self) -> None:
        # The rows that were written, by model.
        self.written: Keys = {}
        # The rows that were asked for, and those of them that were public.
        self.asked: Keys = {}
        self.public: PublicRows = {}
        # Which gates of an edition were open before.
        self.open_gates: dict[int, dict[str, bool]] = {}
        # The editions whose gates cannot change before this change set ends.
        self.locked_editions: set[int] = set()

    def before_write(
        self, model: type[Model], keys: Iterable[int], names: Collection[str] | None = None
    ) -> None:
        """Note which rows are public, before these fields are written; without names, before a deletion.

        At most four queries, and one for an edition.
        """
        if names is None or not deciding_fields(model).isdisjoint(names):
            self._note(model, {*keys}, {})

    def before_change(self, row: "Content", before: Values, names: Collection[str]) -> None:
        """As `before_write()`, for one row that is about to be saved with these fields changed."""
        model = type(row)
        if deciding_fields(model).isdisjoint(names):
            return
        is_hidden = is_hidden_by_itself(row) and any(
            name in before and before[name] not in values
            for name, values in (model.public_when.having if model.public_when else {}).items()
        )
        if not is_hidden:
            self._note(model, {row.pk}, _targets([row]))

    def before_creation(self, rows: "Collection[Content]") -> None:
        """Note which rows are public that new rows refer to. At most two queries."""
        visible = [row for row in rows if not is_hidden_by_itself(row)]
        if visible and affected_by(type(visible[0])):
            self._lock_editions(row.get_edition_key() for row in visible)
            self._ask(_targets(visible))

    def after_creation(self, rows: "Iterable[Content]") -> None:
        """Note new rows, which may be public."""
        for row in rows:
            model = type(row)
            if affected_by(model) and not is_hidden_by_itself(row):
                self.written.setdefault(model, set()).add(row.pk)
                if model.identity:
                    self.asked.setdefault(model, set()).add(row.pk)

    def _note(self, model: type[Model], keys: set[int], targets: Keys) -> None:
        if not affected_by(model) or not keys:
            return
        if model is get_edition_model():
            self._note_gates(keys)
        elif connection.features.has_select_for_update and model.edition_lookup:  # type: ignore[attr-defined]
            lookup: str = model.edition_lookup  # type: ignore[attr-defined]
            rows = model._base_manager.filter(AnyOf("pk", keys)).order_by()
            self._lock_editions(rows.values_list(lookup, flat=True).distinct())
        self.written.setdefault(model, set()).update(keys)
        concerned = concerned_rows({model: keys})
        for target, target_keys in targets.items():
            concerned.setdefault(target, set()).update(target_keys)
        self._ask(concerned, locks=model is not get_edition_model())

    def _lock_editions(self, editions: Iterable[int | None]) -> None:
        """Let changes of the gates of these editions wait until the change set ends.

        Else a row that is hidden when it is asked for could be public by a gate that opens before it is
        taken back, and would have no tombstone.
        """
        if not connection.features.has_select_for_update:
            return
        keys = sorted({key for key in editions if key is not None} - self.locked_editions)
        if keys:
            # The weakest lock, which Django does not have: only `lock_gates()` waits for it.
            table = connection.ops.quote_name(get_edition_model()._meta.db_table)
            with connection.cursor() as cursor:
                # The name of a table, which is quoted.
                cursor.execute(
                    f"SELECT 1 FROM {table} WHERE id = ANY(%s) ORDER BY id FOR KEY SHARE",  # noqa: S608
                    [keys],
                )
            self.locked_editions.update(keys)

    def _note_gates(self, keys: Iterable[int]) -> None:
        now = timezone.now()
        for key, gates in _open_gates({*keys} - self.open_gates.keys(), now).items():
            self.open_gates[key] = gates

    def _ask(self, rows: Keys, *, locks: bool = True) -> None:
        new = {model: keys - self.asked.get(model, set()) for model, keys in rows.items()}
        if locks:
            # Else a talk whose paper another writer is about to publish would seem to be hidden to one who
            # takes its session back, and would have no tombstone. `lock_gates()` keeps other writers away.
            _lock({model: keys for model, keys in new.items() if is_within_several(model)})
        self.public |= public_rows(new)
        for model, keys in new.items():
            self.asked.setdefault(model, set()).update(keys)

    def take_over(self, other: "Watch") -> None:
        """Add what another watch noted, that of a step of this change set."""
        for key, row in other.public.items():
            if key[1] not in self.asked.get(key[0], ()):
                self.public[key] = row
        for own, others in ((self.asked, other.asked), (self.written, other.written)):
            for model, keys in others.items():
                own.setdefault(model, set()).update(keys)

    def end(self, created: "Collection[tuple[str, int]]") -> Keys:
        """Write tombstones of rows that are gone now, and remove those of rows that are public again.

        Return the rows that became public, without those that were created.
        """
        if not self.written:
            return {}
        concerned = concerned_rows(self.written)
        for model, keys in self.asked.items():
            concerned.setdefault(model, set()).update(keys)
        # Else two writers who take back a person's two papers would both find the person public.
        _lock_shared(concerned, self.asked)
        # Not the time at which this change set began: a row may have changed while it waited for the lock.
        at = timezone.now()
        public = public_rows(concerned)
        gone = {key: row for key, row in self.public.items() if _address(public.get(key)) != row.address}
        # Another writer may have buried a row meanwhile that was public all the time to this one.
        back = _exhume({row.address for row in public.values()})
        came = {key for key, row in public.items() if key not in self.public or row.address in back}
        tombstones = [*_tombstones(gone, at), *self._closed_parts(at)]
        if tombstones:
            Tombstone.objects.bury(tombstones)
        became: Keys = {}
        for model, key in came:
            if (model._meta.label_lower, key) not in created:
                became.setdefault(model, set()).add(key)
        self.written.clear()
        return became

    def _closed_parts(self, at: datetime) -> Iterator[Tombstone]:
        if not self.open_gates:
            return
        slugs = dict(
            get_edition_model()._base_manager.filter(AnyOf("pk", self.open_gates)).values_list("pk", "slug")
        )
        after = _open_gates(self.open_gates, timezone.now())
        for key, gates in self.open_gates.items():
            for gate, was_open in gates.items():
                if key in slugs and was_open and not after[key][gate]:
                    yield closed_part(key, slugs[key], gate, at)


def _address(row: PublicRow | None) -> Address | None:
    return row.address if row else None


def _targets(rows: "Iterable[Content]") -> Keys:
    """Return the rows that these refer to, and that may be public with them."""
    targets: Keys = {}
    for row in rows:
        for attribute, model in shown_rows(type(row)).items():
            if key := getattr(row, attribute):
                targets.setdefault(model, set()).add(key)
    return targets


@contextmanager
def _as_public() -> Iterator[None]:
    """See rows as visitors do, whatever is previewed or planned."""
    with preview_context.preview_as(None), plan.public_state():
        yield


def concerned_rows(written: Keys) -> Keys:
    """Return the rows that changes of these rows can publish or take back. One query."""
    concerned: Keys = {}
    queries = []
    for model, keys in written.items():
        for owner, path in affected_by(model):
            if not path:
                concerned.setdefault(owner, set()).update(keys)
                continue
            rows = owner._base_manager.filter(AnyOf(path, keys))
            number = Value(identified_models().index(owner), BigIntegerField())
            queries.append(rows.order_by().annotate(model_number=number).values_list("model_number", "pk"))
    for number, key in queries[0].union(*queries[1:]).order_by() if queries else ():
        concerned.setdefault(identified_models()[number], set()).add(key)
    return concerned


def public_rows(rows: Keys) -> PublicRows:
    """Return those of the rows that are public. One query."""
    queries = []
    with _as_public():
        for model, keys in rows.items():
            if keys:
                queries.append(_public_columns(model, keys))
        found = list(queries[0].union(*queries[1:], all=True).order_by()) if queries else []
    public: PublicRows = {}
    for number, key, edition, slug, uid, title in found:
        model = identified_models()[number]
        address = Address(model._meta.label_lower, slug or "", str(uid))
        public[model, key] = PublicRow(address, edition, title)
    return public


def _public_columns(model: Any, keys: Iterable[int]) -> Any:
    edition, title = model.edition_lookup, next((name for name in TITLES if name in _columns(model)), "")
    is_titled = title and not model.has_personal_address
    rows = model._default_manager.published(timezone.now()).filter(AnyOf("pk", keys)).order_by()
    return rows.annotate(
        model_number=Value(identified_models().index(model), BigIntegerField()),
        its_edition=F(edition) if edition else Cast(Value(None), BigIntegerField()),
        its_slug=F(f"{edition}__slug") if edition else Value("", CharField()),
        its_uid=Cast(model.identity, CharField(max_length=200)),
        its_title=Cast(title, TextField()) if is_titled else Value("", TextField()),
    ).values_list("model_number", "pk", "its_edition", "its_slug", "its_uid", "its_title")


def _columns(model: type[Model]) -> set[str]:
    return {field.name for field in model._meta.concrete_fields}


def _open_gates(keys: Iterable[int], at: datetime) -> dict[int, dict[str, bool]]:
    rows = get_edition_model()._base_manager.filter(AnyOf("pk", keys)).values_list("pk", *GATES)
    return {
        key: {gate: moment is not None and moment <= at for gate, moment in zip(GATES, moments, strict=True)}
        for key, *moments in rows
    }


def _lock(rows: Keys) -> None:
    """Lock rows against other writers, those that others are within first. A query for each model."""
    if connection.features.has_select_for_update:
        for model in identified_models():
            if keys := rows.get(model):
                locked = model._base_manager.filter(AnyOf("pk", keys)).order_by("pk")
                list(locked.select_for_update(no_key=True).values_list("pk"))


def _lock_shared(rows: Keys, asked: Keys) -> None:
    """Lock the rows whose publicity several writers may decide, each with a row of their own.

    Rows within several others were locked when they were asked for.
    """
    _lock(
        {
            model: keys if is_shown_by_others(model) else keys - asked.get(model, set())
            for model, keys in rows.items()
            if is_shown_by_others(model) or is_within_several(model)
        }
    )


def lock_gates(edition: int) -> None:
    """Wait for other changes of the edition's rows whose publicity its gates decide.

    Others wait then until the gates are changed. Call it before the edition is locked otherwise.
    """
    if connection.features.has_select_for_update:
        list(get_edition_model()._base_manager.filter(pk=edition).select_for_update().values_list("pk"))


def _exhume(addresses: set[Address]) -> set[Address]:
    """Remove the tombstones at these addresses; return where there were any. One query, and one for these."""
    if not addresses:
        return set()
    found = {row.pk: row.address for row in Tombstone.objects.at_addresses(addresses)}
    keys = [key for key, address in found.items() if address in addresses]
    if keys:
        Tombstone.objects.filter(AnyOf("pk", keys)).delete()
    return {found[key] for key in keys}


def _tombstones(gone: PublicRows, at: datetime) -> Iterator[Tombstone]:
    """Yield a tombstone for each row that ceased to be public. A query for each model."""
    withdrawn: set[tuple[type[Model], int]] = set()
    for model in identified_models():
        keys = [key for owner, key in gone if owner is model]
        if not keys:
            continue
        names = [model.identity, *({"status", "merged_into"} & _columns(model))]
        within = model.public_when.within if model.public_when else ()
        rows = {
            key: dict(zip([*names, *within], values, strict=True))
            for key, *values in model._base_manager.filter(AnyOf("pk", keys)).values_list(
                "pk", *names, *within
            )
        }
        survivors = _survivors(model, rows.values())
        secret = model.secret_addresses({key: gone[model, key].address.uid for key in keys})
        for key in sorted({*keys} - secret):
            buried, stored = gone[model, key], rows.get(key)
            reason, moved_to = _reason(model, buried, stored)
            containers = [(related_model(model, name), (stored or {}).get(name)) for name in within]
            has_own_reason = reason in (Tombstone.Reason.DELETED, Tombstone.Reason.WITHDRAWN)
            if reason == Tombstone.Reason.HIDDEN and any(owner in withdrawn for owner in containers):
                reason = Tombstone.Reason.WITHDRAWN
            if reason == Tombstone.Reason.WITHDRAWN:
                withdrawn.add((model, key))
            if reason == Tombstone.Reason.MERGED:
                moved_to = survivors.get((stored or {})["merged_into"], "")
            yield Tombstone(
                model=buried.address.model,
                edition=buried.address.edition,
                edition_key=buried.edition,
                uid=buried.address.uid,
                gone_at=at,
                reason=reason,
                moved_to=moved_to,
                title=buried.title if has_own_reason else "",
            )


def _reason(model: Any, buried: PublicRow, stored: dict[str, Any] | None) -> tuple[str, str]:
    """Return why a row is no longer public, and where it is now."""
    if stored is None:
        return Tombstone.Reason.DELETED, ""
    if stored.get("merged_into"):
        return Tombstone.Reason.MERGED, ""
    if str(stored[model.identity]) != buried.address.uid:
        # Who has a new uid does not want the old one to be known.
        if model.has_personal_address:
            return Tombstone.Reason.HIDDEN, ""
        return Tombstone.Reason.MOVED, str(stored[model.identity])
    if stored.get("status") == "withdrawn":
        return Tombstone.Reason.WITHDRAWN, ""
    return Tombstone.Reason.HIDDEN, ""


def _survivors(model: Any, rows: Iterable[dict[str, Any]]) -> dict[int, str]:
    """Return the uids of the rows that these were merged into, by key."""
    keys = {row["merged_into"] for row in rows if row.get("merged_into")}
    if not keys:
        return {}
    return dict(model._base_manager.filter(Q(AnyOf("pk", keys))).values_list("pk", model.identity))
