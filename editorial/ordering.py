"""Places in the admin: the number entered in a form or a list is the place of the row among its siblings.

Rows of a form's inlines are put in order by `adminforms.OrderedFormSet`.
"""

from typing import TYPE_CHECKING

from django import forms
from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest
from django.template.response import TemplateResponse

from content.models import Ordered
from content.ordering import reorder, reordered

if TYPE_CHECKING:
    from django.http import HttpResponse

POSITION = "position"
# Where a request keeps the numbers entered in a list until all of them are known.
ENTERED = "_entered_places"


class PlacesAdmin[M: Model = Model](admin.ModelAdmin[M]):
    """Ordered rows, whose positions are changed one by one in forms and together in lists."""

    def save_model(self, request: HttpRequest, obj: M, form: forms.ModelForm[M], change: bool) -> None:
        wanted = form.cleaned_data.get(POSITION) or 0
        if form.prefix is not None:
            self._note(request, obj, form, wanted)
            return
        super().save_model(request, obj, form, change)
        if POSITION in form.changed_data and isinstance(obj, Ordered):
            self.put_at(obj, wanted)

    def put_at(self, row: Ordered, wanted: int) -> None:
        """Put a row at a place among its siblings, which make room; without a place, behind them."""
        others = row.siblings().exclude(pk=row.pk).order_by(POSITION, "pk")
        keys = list(others.values_list("pk", flat=True))
        keys.insert(wanted - 1 if wanted else len(keys), row.pk)
        self._reorder(keys)
        row.refresh_from_db(fields=[POSITION])

    def _reorder(self, keys: list[int]) -> None:
        reorder(self.model._default_manager.filter(pk__in=keys), keys)

    # In lists

    def _note(self, request: HttpRequest, obj: M, form: forms.ModelForm[M], wanted: int) -> None:
        """Save a row of a list but for its number, which means nothing before the others are known."""
        setattr(obj, POSITION, form.initial[POSITION])
        if {*form.changed_data} != {POSITION}:
            super().save_model(request, obj, form, True)
        if POSITION in form.changed_data:
            vars(request).setdefault(ENTERED, {})[obj] = wanted

    def list_saved(self, request: HttpRequest) -> None:
        """Put the rows in order whose numbers were changed in a list: once for each owner."""
        entered: dict[Ordered, int] = vars(request).pop(ENTERED, {})
        below = {getattr(row, f"{row.siblings_of}_id"): row for row in entered}
        numbers = {row.pk: number for row, number in entered.items()}
        for row in below.values():
            stood = row.siblings().values_list("pk", POSITION)
            keys = sorted((*reordered(numbers.get(key, place), place), place, key) for key, place in stood)
            self._reorder([key for *_, key in keys])

    def in_order(self, response: "HttpResponse") -> bool:
        """Return whether a list shows rows of one owner in their order, so that they can be moved in it."""
        context = response.context_data if isinstance(response, TemplateResponse) else None
        shown = context.get("cl") if context else None
        if shown is None or POSITION not in self.list_editable or not shown.formset:
            return False
        first = next(iter(shown.get_ordering_field_columns().items()), None)
        owners = {getattr(row, f"{row.siblings_of}_id") for row in shown.result_list}
        return len(owners) == 1 and first == (shown.list_display.index(POSITION), "asc")
