"""Form fields and widgets of the admin: times in the edition's zone, choices without a query per row."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from functools import reduce
from operator import or_
from typing import Any, cast

from django import forms
from django.contrib.admin.widgets import AdminSplitDateTime, AutocompleteSelect, RelatedFieldWidgetWrapper
from django.core.exceptions import ValidationError
from django.db.models import Model, Q, QuerySet
from django.utils import dateformat, timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from content import times
from content.request_keys import parse_key
from editorial.current_edition import get_working_edition

# The input for names beside a choice, for browsers without JavaScript, and the mark of its value.
TYPED_SUFFIX, TYPED = "-typed", "typed:"
# Fields whose text names a row, and the most rows that an error lists.
TYPED_FIELDS, MAX_FOUND = ("name", "title", "label", "uid", "slug"), 10
SKIPPED_TIME = _("Clocks in %(zone)s go forward on %(day)s and skip %(time)s. Enter another time.")
REPEATED_TIME = _("Clocks in %(zone)s go back on %(day)s, so %(time)s occurs twice. Enter another time.")


class ZonedWidget(AdminSplitDateTime):
    """Date and time with the name of the zone."""

    def get_context(self, name: str, value: object, attrs: dict[str, object] | None) -> dict[str, object]:
        context = super().get_context(name, value, attrs)
        edition, zone = get_working_edition(), timezone.get_current_timezone_name()
        is_unsaved = edition is not None and edition.pk is None
        context["time_label"] = gettext("Time (%(zone)s):") % {"zone": zone}
        if is_unsaved:
            context["time_label"] = gettext("Time (in the zone above):")
        parts = (gettext("%(label)s, date"), gettext("%(label)s, time"))
        for widget, part in zip(context["widget"]["subwidgets"], parts, strict=True):
            if label := widget["attrs"].get("aria-label"):
                widget["attrs"]["aria-label"] = part % {"label": label}
        return context


def to_the_minute(moment: datetime) -> datetime:
    return moment.replace(second=0, microsecond=0)


def resolve_wall_time(naive: datetime, zone: tzinfo, stored: datetime | None = None) -> datetime:
    """Return the moment of a wall time. Raises `ValidationError` if the zone skips or repeats it.

    Also raises it for a year that is out of range. An unchanged time is returned as `stored`, the moment of
    the row, even if the zone repeats that time.
    """
    wall = naive.replace(tzinfo=zone)
    if stored and to_the_minute(stored).astimezone(zone).replace(tzinfo=None) == naive:
        return stored
    times.validate_year(naive)
    params = {"time": f"{wall:%H:%M}", "day": dateformat.format(wall, "d F Y"), "zone": str(zone)}
    if wall.astimezone(UTC).astimezone(zone).replace(tzinfo=None) != naive:
        raise ValidationError(SKIPPED_TIME, code="skipped", params=params)
    if wall.utcoffset() != wall.replace(fold=1).utcoffset():
        raise ValidationError(REPEATED_TIME, code="twice", params=params)
    return wall


class ZonedField(forms.SplitDateTimeField):
    """Field for a wall time in the current zone. A time that the zone skips or repeats is an error."""

    # The moment of the row, which is the value of an unchanged field even if the zone repeats that time.
    stored: datetime | None = None

    def has_changed(self, initial: object, data: object) -> bool:
        displayed = to_the_minute(initial) if isinstance(initial, datetime) else initial
        return super().has_changed(displayed, data)

    def compress(self, data_list: Any) -> datetime | None:
        if data_list and not {None, ""} & {*data_list[:2]}:
            naive = datetime.combine(*data_list)
            return resolve_wall_time(naive, timezone.get_current_timezone(), self.stored)
        moment: datetime | None = super().compress(data_list)
        return moment


class KnownChoiceField(forms.ModelChoiceField[Any]):
    """A choice field that only queries for rows that `set_known_rows()` did not provide."""

    known_rows: Mapping[str, Model] = {}

    def __init__(self, *args: Any, choice_label: Callable[[Model], str] = str, **kwargs: Any) -> None:
        # Returns a label that distinguishes rows with the same name.
        self.choice_label = choice_label
        super().__init__(*args, **kwargs)

    def set_known_rows(self, rows: Mapping[str, Model]) -> None:
        """Set the rows, by key, that a formset has fetched in one query."""
        self.known_rows = rows
        vars(getattr(self.widget, "widget", self.widget))["known_rows"] = rows

    def to_python(self, value: object) -> Model | None:
        if isinstance(value, str) and value.startswith(TYPED):
            return self.find_typed(value.removeprefix(TYPED))
        return self.known_rows.get(str(value)) or super().to_python(value)

    def find_typed(self, text: str) -> Model | None:
        """Return the row of a typed name or "#" and key. Raises `ValidationError` unless exactly one fits."""
        rows = cast(QuerySet[Any], self.queryset)
        widget, edition = getattr(self.widget, "widget", self.widget), get_working_edition()
        if getattr(widget, "is_limited", False) and edition and edition.pk:
            rows = rows.filter(edition=edition.pk)
        fields = {field.name for field in rows.model._meta.concrete_fields}
        names = [name for name in TYPED_FIELDS if name in fields]

        def matching(lookup: str) -> list[Any]:
            conditions = [Q(**{f"{name}__{lookup}": text}) for name in names]
            return [*rows.filter(reduce(or_, conditions))[: MAX_FOUND + 1]] if conditions else []

        if text.startswith("#"):
            found = [*rows.filter(pk=parse_key(text[1:]) or 0)]
        else:
            found = matching("iexact") or matching("icontains")
        if len(found) == 1:
            row: Model = found[0]
            return row
        if not found:
            raise ValidationError(
                _("Nothing that can be chosen here is called “%(text)s”."), params={"text": text}
            )
        choices = ", ".join(f"#{row.pk} {self.label_from_instance(row)}" for row in found[:MAX_FOUND])
        raise ValidationError(
            _("Several fit. Type the number of one: %(choices)s"), params={"choices": choices}
        )

    def label_from_instance(self, obj: Model) -> str:
        return self.choice_label(obj)


class EditionSelect(AutocompleteSelect):
    """An autocomplete select, limited to rows of the working edition if the rows have editions.

    Without JavaScript, a name or number is typed into an input beside it.
    """

    known_rows: Mapping[str, Model] = {}
    is_limited = False
    # Whether a new row can be created from the typed name.
    has_names = False

    def get_url(self) -> str:
        address = super().get_url()
        edition = get_working_edition()
        return f"{address}?edition={edition.pk}" if self.is_limited and edition and edition.pk else address

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        typed = value.removeprefix(TYPED) if isinstance(value, str) and value.startswith(TYPED) else ""
        return super().render(name, value, attrs, renderer) + format_html(
            '<noscript><input name="{0}{1}" value="{2}" aria-label="{3}" placeholder="{3}"></noscript>',
            name,
            TYPED_SUFFIX,
            typed,
            gettext("Or type a name, or # and a number"),
        )

    def value_from_datadict(self, data: Any, files: Any, name: str) -> Any:
        typed = data.get(f"{name}{TYPED_SUFFIX}", "").strip()
        return f"{TYPED}{typed}" if typed else super().value_from_datadict(data, files, name)

    def value_omitted_from_data(self, data: Any, files: Any, name: str) -> bool:
        is_typed = f"{name}{TYPED_SUFFIX}" in data
        return not is_typed and super().value_omitted_from_data(data, files, name)

    def build_attrs(
        self, base_attrs: dict[str, object], extra_attrs: dict[str, object] | None = None
    ) -> dict[str, object]:
        attrs = super().build_attrs(base_attrs, extra_attrs)
        if self.has_names:
            attrs["data-create"] = gettext("Create “{name}”")
        return {**attrs, "data-of-edition": "true"} if self.is_limited else attrs

    def optgroups(self, name: str, value: Sequence[str], attr: Any = None) -> Any:
        rows = {key: self.known_rows[key] for key in map(str, value) if key in self.known_rows}
        if not rows:
            return super().optgroups(name, [key for key in map(str, value) if parse_key(key)], attr)
        options = [] if self.is_required else [self.create_option(name, "", "", False, 0)]
        label = self.choices.field.label_from_instance
        options += [
            self.create_option(name, key, label(row), True, index)
            for index, (key, row) in enumerate(rows.items(), start=len(options))
        ]
        return [(None, options, 0)]


class EditionWrapper(RelatedFieldWidgetWrapper):
    """A choice widget with links to change and add rows; new rows belong to the working edition."""

    @classmethod
    def from_wrapper(cls, wrapper: RelatedFieldWidgetWrapper) -> "EditionWrapper":
        """Return a copy of the wrapper of this class, without the link that deletes."""
        return cls(
            wrapper.widget,
            wrapper.rel,
            wrapper.admin_site,
            can_add_related=wrapper.can_add_related,
            can_change_related=wrapper.can_change_related,
        )

    def get_context(self, name: str, value: object, attrs: dict[str, object] | None) -> dict[str, object]:
        context: dict[str, Any] = super().get_context(name, value, attrs)
        edition = get_working_edition()
        if edition and edition.pk and getattr(self.widget, "is_limited", False):
            context["url_params"] += f"&edition={edition.pk}"
        return context
