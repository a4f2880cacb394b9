"""Unreleased changes as JSON, and the body of a request that releases them."""

from collections.abc import Collection, Iterable
from typing import Any

from django.utils.translation import gettext_lazy
from rest_framework import serializers

from api.resources import RESOURCES
from content.array_lookup import AnyOf
from content.row_values import relation_targets
from schedule.models import UnreleasedChange
from schedule.unreleased.conflicts import MINE, THEIRS
from schedule.unreleased.models import PART_OWNERS, waiting_model

NAME = "unreleased-changes"
RESOURCES_BY_MODEL = {resource.model: resource for resource in RESOURCES.values()}

type Address = dict[str, str]


class ChangeSerializer(serializers.ModelSerializer[UnreleasedChange]):
    """A row of the program, and how it will differ after the next release."""

    edition = serializers.CharField(
        source="edition.slug", help_text=gettext_lazy("The slug of its edition, such as 2021.")
    )
    row = serializers.SerializerMethodField(
        help_text=gettext_lazy("What changes; for people, their talk or session.")
    )
    on_release = serializers.SerializerMethodField(
        help_text=gettext_lazy("What becomes of the row itself with the release, if anything.")
    )
    changed = serializers.SerializerMethodField(
        help_text=gettext_lazy(
            "Each field before and after the release, with “public” if the public value was changed "
            "meanwhile and someone has to choose."
        )
    )
    by = serializers.CharField(source="by_name", help_text=gettext_lazy("Who made the last change."))
    at = serializers.DateTimeField(help_text=gettext_lazy("When it was made."))

    class Meta:
        model = UnreleasedChange
        fields = ("id", "edition", "row", "on_release", "changed", "by", "at")

    def to_representation(self, instance: UnreleasedChange) -> dict[str, Any]:
        content = super().to_representation(instance)
        # The serializer has attributes named `fields` of its own.
        content["fields"] = content.pop("changed")
        return content

    def get_row(self, change: UnreleasedChange) -> dict[str, Any]:
        name = PART_OWNERS.get(change.target, change.target)
        row = change.row if name == change.target else getattr(change.row, name)
        resource = RESOURCES_BY_MODEL[type(row)]
        url = resource.url(change.edition.slug, row.uid)
        return {"kind": resource.name, "id": row.uid, "url": url, "name": str(change.row)}

    def get_on_release(self, change: UnreleasedChange) -> str | None:
        return change.on_release or None

    def get_changed(self, change: UnreleasedChange) -> dict[str, dict[str, Any]]:
        targets = relation_targets(waiting_model(change.target))
        public = {found.field: found.public for found in self.context["conflicts"].get(change.pk, ())}

        def shown(name: str, value: Any) -> Any:
            return self.context["addresses"].get((targets[name], value)) if name in targets else value

        fields: dict[str, dict[str, Any]] = {}
        for value in change.shown_values:
            before, after = value.pair
            fields[value.name] = {
                "before": shown(value.name, before), "after": shown(value.name, after)
            }  # fmt: skip
            if value.name in public:
                fields[value.name]["public"] = shown(value.name, public[value.name])
        return fields


class ReleaseBody(serializers.Serializer[Any]):
    """Which changes become public: all of an edition, or those with these ids and what they need."""

    edition = serializers.CharField(max_length=80, help_text=gettext_lazy("The slug of the edition."))
    ids = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=2**63 - 1),
        required=False,
        max_length=10_000,
        help_text=gettext_lazy("Only these; without it all."),
    )
    version = serializers.CharField(
        max_length=40,
        required=False,
        help_text=gettext_lazy("From the list of the edition. Later changes refuse the release."),
    )
    choices = serializers.DictField(
        child=serializers.ChoiceField([MINE, THEIRS]),
        required=False,
        help_text=gettext_lazy("By “<id>:<field>”: release the change (mine) or not (theirs)."),
    )
    confirmed_clashes = serializers.ListField(
        child=serializers.CharField(max_length=200),
        required=False,
        max_length=10_000,
        help_text=gettext_lazy("The new clashes that a refusal named, if they are accepted."),
    )


def addresses(
    changes: Iterable[UnreleasedChange], conflicts: Iterable[Any]
) -> dict[tuple[Any, Any], Address]:
    """Return id and URL of the rows that the values name, by model and key. A query for each model."""
    keys: dict[Any, set[int]] = {}
    for change in changes:
        targets = relation_targets(waiting_model(change.target))
        for value in change.shown_values:
            pair: Any = value.pair
            if value.name in targets:
                keys.setdefault(targets[value.name], set()).update(filter(None, pair))
    for found in conflicts:
        targets = relation_targets(waiting_model(found.change.target))
        if found.field in targets and found.public:
            keys.setdefault(targets[found.field], set()).add(found.public)
    return {key: address for model, rows in keys.items() for key, address in _addresses_of(model, rows)}


def _addresses_of(model: Any, keys: Collection[int]) -> Iterable[tuple[tuple[Any, int], Address]]:
    resource = RESOURCES_BY_MODEL.get(model)
    if resource is None:
        return
    edition = [resource.edition] if resource.edition else []
    rows = model._base_manager.filter(AnyOf("pk", keys))
    for key, id, *slug in rows.values_list("pk", resource.key, *edition):
        yield (model, key), {"id": str(id), "url": resource.url(slug[0] if slug else None, id)}
