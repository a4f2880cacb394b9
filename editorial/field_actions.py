"""Actions that give all chosen rows one value: a status, or what a form asks for."""

from typing import TYPE_CHECKING, Any

from django import forms
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from content.bulk import BulkPlan, Values, validated
from editorial.access import ScopedAdmin
from editorial.actions import ActionForm, BulkAction, Words, change_words

if TYPE_CHECKING:
    from content.models import Content


class SetField(BulkAction):
    """Give rows the values of some fields; what their own rules refuse is left alone and named."""

    def values(self, row: "Content", given: Values) -> Values:
        """Return what this row is to get."""
        return given

    def plan(
        self, desk: ScopedAdmin, request: HttpRequest, rows: "list[Content]", values: Values
    ) -> BulkPlan:
        return validated(rows, lambda row: self.values(row, values), change_words)


class SetStatus(SetField):
    """Give rows a status."""

    def __init__(self, status: str, name: str, words: Words) -> None:
        super().__init__(name, words)
        self.status = status

    def values(self, row: "Content", given: Values) -> Values:
        return {"status": self.status}


class ReasonForm(ActionForm):
    """Why something is cancelled."""

    reason = forms.CharField(
        label=_("reason for cancelling"),
        max_length=200,
        required=False,
        help_text=_("Shown beside each, such as “The speaker is ill.”; empty keeps what stands there."),
    )


class Cancel(SetStatus):
    """Call rows off, with one reason for all."""

    form_class = ReasonForm

    def values(self, row: "Content", given: Values) -> Values:
        reason = {"cancellation_reason": given["reason"]} if given["reason"] else {}
        return {**super().values(row, given), **reason}


class ChosenField(forms.ModelChoiceField[Any]):
    """A choice among rows of the editions in hand, called as the admin calls them."""

    def offer(self, form: ActionForm, model: "type[Content]", **narrow: object) -> None:
        """Offer the rows that the user may see, of the editions of the chosen rows unless told otherwise."""
        desk = form.desk_of(model)
        narrow = narrow or {"edition__in": form.editions()}
        self.queryset = desk.get_queryset(form.request).filter(**narrow).select_related("edition")
        self.has_editions = len(form.editions()) > 1 or "edition__in" not in narrow
        self.called = getattr(desk, "choice_label", str)

    def label_from_instance(self, obj: Any) -> str:
        label = str(self.called(obj))
        return f"{label}, {obj.edition}" if self.has_editions and obj.edition.slug not in label else label


SAME = ngettext_lazy("%(count)d has it already.", "%(count)d have it already.", "count")

publish = SetStatus(
    "published",
    "publish",
    Words(
        _("Publish selected %(verbose_name_plural)s"),
        _("%(amount)s published."),
        ngettext_lazy("%(count)d was published already.", "%(count)d were published already.", "count"),
        _("Publish %(amount)s"),
    ),
)
unpublish = SetStatus(
    "draft",
    "unpublish",
    Words(
        _("Unpublish selected %(verbose_name_plural)s"),
        _("%(amount)s unpublished."),
        ngettext_lazy("%(count)d was unpublished already.", "%(count)d were unpublished already.", "count"),
        _("Unpublish %(amount)s"),
    ),
)
withdraw = SetStatus(
    "withdrawn",
    "withdraw",
    Words(
        _("Withdraw selected %(verbose_name_plural)s"),
        _("%(amount)s withdrawn."),
        ngettext_lazy("%(count)d was withdrawn already.", "%(count)d were withdrawn already.", "count"),
        _("Withdraw %(amount)s"),
    ),
)
cancel = Cancel(
    "cancelled",
    "cancel",
    Words(
        _("Cancel selected %(verbose_name_plural)s"),
        _("%(amount)s cancelled."),
        ngettext_lazy("%(count)d was cancelled already.", "%(count)d were cancelled already.", "count"),
        _("Call off %(amount)s"),
    ),
)
back_to_draft = SetStatus(
    "draft",
    "back_to_draft",
    Words(
        _("Put selected %(verbose_name_plural)s back to draft"),
        _("%(amount)s put back to draft."),
        ngettext_lazy(
            "%(count)d was put back to draft already.", "%(count)d were put back to draft already.", "count"
        ),
        _("Put %(amount)s back to draft"),
    ),
)
