"""The parameters that narrow lists, and how they are read. Which resource has which: `filtersets`."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from django import forms
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db.models import Q
from django.http import QueryDict
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _
from django_filters import BooleanFilter, CharFilter, DateFilter, FilterSet, IsoDateTimeFilter, NumberFilter

from api.errors import BadValue, UnknownParameter
from api.reader import Reader

if TYPE_CHECKING:
    from django_stubs_ext import StrPromise

MAX_WORDS = 200
# Of every list, beside what narrows it.
GENERAL = ("cursor", "expand", "fields", "ordering", "page_size")
NAMED_FORM = r"^([a-z0-9][a-z0-9-]{0,119}/)?[A-Za-z0-9][A-Za-z0-9._-]{0,119}$"
NAMED = RegexValidator(NAMED_FORM.replace("$", r"\Z"), _("Write <edition>/<id>, or the id alone."))


def named(value: str, key: str, edition: str = "") -> Q:
    """Return the condition that a row is the one named; `key` and `edition` lead to its columns.

    Something of an edition is named <edition>/<id> or by its id alone, something of the whole site by its id.
    """
    slug, slash, own = value.rpartition("/")
    return Q(**{key: own}, **({edition: slug} if slash and edition else {}))


class PathFilter(CharFilter):  # type: ignore[misc]  # the package has no types
    """Rows of which the one at the end of a path is the one named."""

    def __init__(self, key: str = "", edition: str = "", **kwargs: Any) -> None:
        self.key, self.edition = key, edition
        super().__init__(validators=[NAMED], **kwargs)

    def filter(self, rows: Any, value: str) -> Any:
        return rows.filter(named(value, self.key, self.edition)) if value else rows


class StrictBooleanField(forms.CharField):
    """true or false, and nothing else."""

    def to_python(self, value: object) -> Any:
        if value in (None, ""):
            return None
        if str(value).lower() not in {"true", "false"}:
            raise forms.ValidationError(_("Write true or false."))
        return str(value).lower() == "true"


class YesNo(BooleanFilter):  # type: ignore[misc]
    field_class = StrictBooleanField


class WholeNumberFilter(NumberFilter):  # type: ignore[misc]
    """A whole number that a database can hold."""

    field_class = forms.IntegerField

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, min_value=0, max_value=2**31 - 1, **kwargs)

    def get_max_validator(self) -> None:
        return None


# Further away dates and zones cannot be reckoned with, and no conference was or will be.
EARLIEST, LATEST = datetime(1900, 1, 1, tzinfo=UTC), datetime(2200, 12, 31, tzinfo=UTC)


def program_day(help: "StrPromise | str") -> DateFilter:
    """What stands on a day; the method `on_day` says how."""
    bounds = [MinValueValidator(EARLIEST.date()), MaxValueValidator(LATEST.date())]
    return DateFilter(
        method="on_day", validators=bounds, help_text=format_lazy("{}, {}.", help, _("such as 2021-04-06"))
    )


class ResourceFilter(FilterSet):  # type: ignore[misc]
    """What narrows any list. A parameter that is unknown, malformed or given twice is an error."""

    changed_since = IsoDateTimeFilter(
        method="since",
        validators=[MinValueValidator(EARLIEST), MaxValueValidator(LATEST)],
        help_text=_(
            "Only what may have changed since a moment, such as 2021-04-06T08:00:00Z. "
            "Changes are known edition by edition: nothing that changed is left out."
        ),
    )

    base_filters: dict[str, Any]

    class Meta:
        fields: list[str] = []

    def __init__(
        self, data: QueryDict, rows: "Iterable[object]", reader: Reader, others: Iterable[str] = ()
    ) -> None:
        self.reader = reader
        self.others = {*GENERAL, *others}
        self.known = {*self.base_filters, *self.others}
        # Filters and their fields are copied for each request, so none but those that are asked for.
        self.base_filters = {name: one for name, one in self.base_filters.items() if name in data}
        super().__init__(data, rows)

    def narrowed(self) -> Any:
        """Return the rows; raise `BadValue` for what cannot be read."""
        for name, values in self.data.lists():
            if name not in self.known:
                raise UnknownParameter(name, self.known)
            if len(values) > 1:
                raise BadValue(name, ", ".join(values), _("Give it once."))
        for name, errors in self.form.errors.items():
            choices = getattr(self.form.fields[name], "choices", None)
            allowed = [str(value) for value, _ in choices if value] if choices else None
            hint = "" if allowed else " ".join(map(str, errors))
            raise BadValue(name, self.data.get(name, ""), hint, allowed=allowed)
        return self.qs

    def since(self, rows: Any, name: str, value: Any) -> Any:
        lookup = rows.model.edition_lookup
        editions = self.reader.editions().changed_since(value.astimezone(UTC), self.reader.at)
        if rows.model is editions.model:
            return editions & rows
        if not lookup:
            return rows if editions.exists() else rows.none()
        return rows.filter(Q(**{f"{lookup}__in": editions.order_by().values("pk")}))


__all__ = ["PathFilter", "ResourceFilter", "WholeNumberFilter", "YesNo", "named", "program_day"]
