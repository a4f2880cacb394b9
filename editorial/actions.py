"""Bulk actions: a page previews the exact changes; they are applied as one change set that can be reverted.

Subclasses in the apps above define what an action does (`BulkAction.plan`), in terms of `content.bulk`.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from django import forms
from django.contrib import messages
from django.contrib.admin import ModelAdmin
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.admin.options import ActionLocation
from django.contrib.admin.utils import model_format_dict
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse, QueryDict
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext, ngettext_lazy

from content import bulk, revision
from content.array_lookup import AnyOf
from content.bulk import BulkChange, BulkPlan, Values, defer_long_texts, plan_changes
from content.history import ChangeSet, Origin
from content.history.recording import recording
from content.ordering import lock_owners_of
from editorial.access import ScopedAdmin

if TYPE_CHECKING:
    from django_stubs_ext import StrPromise

    from content.models import Content


type Text = "StrPromise | str"

CONFIRMED, SUBMITTED = "_confirmed", "_asked"
# The maximum number of rows listed in a group; the counts include all.
MAX_NAMED_ROWS = 200


@dataclass(frozen=True, slots=True)
class ActionTexts:
    """The texts of an action."""

    name: Text
    # Formatted with `amount`, such as "3 papers".
    success: Text
    # Formatted with `count`, the number of unchanged rows.
    unchanged: Text
    button: Text


class BulkAction(ABC):
    """An action of an admin's list. A subclass plans the changes, and may show a form first."""

    allowed_permissions: ClassVar[list[str]] = ["change"]
    locations: ClassVar[list[ActionLocation]] = [ActionLocation.CHANGE_LIST]
    form_class: type["ActionForm"] | None = None
    help: Text = ""

    def __init__(self, name: str, texts: ActionTexts) -> None:
        self.__name__ = name
        self.texts = texts
        self.short_description = self.plural_description = texts.name

    @abstractmethod
    def plan(
        self, model_admin: ScopedAdmin, request: HttpRequest, rows: list[Any], values: Values
    ) -> BulkPlan:
        """Return the changes to the rows that the user may change."""

    def write(self, lines: list[BulkChange]) -> None:
        bulk.create_rows(lines)
        bulk.write(lines)

    def __call__(
        self, model_admin: ScopedAdmin, request: HttpRequest, queryset: QuerySet[Model]
    ) -> HttpResponse | None:
        rows, refused = self.rows(model_admin, request, queryset)
        form = self.form(model_admin, request, rows)
        if form is not None and not (form.is_bound and form.is_valid()):
            return self.render_page(model_admin, request, rows, form, None)
        plan = self.plan(model_admin, request, rows, form.cleaned_data if form else {})
        plan.skipped += [(row, _("You don’t have permission to change it.")) for row in refused]
        confirmed = request.POST.get(CONFIRMED)
        if confirmed == plan.digest and plan.lines and not plan.problems:
            self.carry_out(model_admin, request, plan)
            return None
        return self.render_page(model_admin, request, rows, form, plan, again=bool(confirmed))

    def rows(
        self, model_admin: ScopedAdmin, request: HttpRequest, queryset: QuerySet[Model]
    ) -> tuple[list[Any], list[Any]]:
        """Return the chosen rows that the user may change, and the others, in the order of the list."""
        positions = {key: position for position, key in enumerate(queryset.values_list("pk", flat=True))}
        chosen = queryset.order_by().values("pk")
        rows = defer_long_texts(
            model_admin.get_queryset(request).filter(pk__in=chosen), *self.long_texts(model_admin.model)
        )
        if CONFIRMED in request.POST:
            lock_owners_of(model_admin.model._base_manager.filter(AnyOf("pk", positions)))
            rows = rows.select_for_update(of=("self",))
        changeable: list[Model] = []
        refused: list[Model] = []
        for row in sorted(rows.order_by("pk"), key=lambda row: positions.get(row.pk, 0)):
            (changeable if model_admin.may_change_all_fields(request, row) else refused).append(row)
        return changeable, refused

    def long_texts(self, model: object) -> Iterable[str]:
        """Return the names of long text fields that the plan needs."""
        return ()

    def form(
        self, model_admin: ScopedAdmin, request: HttpRequest, rows: "list[Content]"
    ) -> "ActionForm | None":
        """Return the form shown before the plan; `None` if the action needs no input."""
        if self.form_class is None:
            return None
        data = request.POST if SUBMITTED in request.POST else None
        return self.form_class(data, model_admin=model_admin, request=request, rows=rows)

    def carry_out(self, model_admin: ScopedAdmin, request: HttpRequest, plan: BulkPlan) -> None:
        """Apply the plan as one change set and report it with a link to revert it."""
        detail = str(self.texts.name % model_format_dict(model_admin.opts))
        with recording(Origin.ACTION, request.user, detail) as log, revision.lock():
            self.write(plan.lines)
            log.write()
            change_set = log.change_set
        sentences = [str(self.texts.success % {"amount": count_label(model_admin, len(plan.lines))})]
        if plan.same:
            sentences.append(str(self.texts.unchanged % {"count": len(plan.same)}))
        if count := len(plan.skipped):
            message = ngettext("%(count)d was left unchanged.", "%(count)d were left unchanged.", count)
            sentences.append(message % {"count": count})
        model_admin.message_user(request, with_undo_link(" ".join(sentences), change_set), messages.SUCCESS)

    def render_page(
        self,
        model_admin: ScopedAdmin,
        request: HttpRequest,
        rows: "list[Content]",
        form: "ActionForm | None",
        plan: BulkPlan | None,
        *,
        again: bool = False,
    ) -> HttpResponse:
        context = {
            "form": form,
            "plan": plan,
            "groups": plan_context(model_admin, plan) if plan else {},
            "again": again,
            "help": self.help,
            "chosen": count_label(model_admin, len(rows)),
            "button": self.texts.button % {"amount": count_label(model_admin, len(plan.lines))}
            if plan
            else "",
            "same": self.texts.unchanged % {"count": len(plan.same)} if plan else "",
            "changes_status": any("status" in line.values for line in plan.lines) if plan else False,
            "hidden_fields": hidden_fields(request, self.__name__),
            "back": request.get_full_path(),
            "media": model_admin.media + (form.media if form else forms.Media()),
        }
        title = str(self.texts.name % model_format_dict(model_admin.opts))
        page_context = model_admin.page_context(request, title, **context)
        # Here, as an action may read the planned state.
        return TemplateResponse(request, "admin/bulk.html", page_context).render()


class ActionForm(forms.Form):
    """Base form for the input of an action. `rows` are the chosen rows that the user may change."""

    def __init__(
        self, data: QueryDict | None, *, model_admin: ScopedAdmin, request: HttpRequest, rows: "list[Content]"
    ) -> None:
        super().__init__(data)
        self.model_admin, self.request, self.rows = model_admin, request, rows
        self.prepare()

    def prepare(self) -> None:
        """Set the choices of the fields."""

    def editions(self) -> set[int | None]:
        return {row.get_edition_key() for row in self.rows}


def count_label(model_admin: ScopedAdmin, count: int) -> str:
    """Return "1 paper", "3 papers", "No paper"."""
    opts = model_admin.opts
    if not count:
        return _("No %(name)s") % {"name": opts.verbose_name}
    return f"{count:,} {opts.verbose_name_plural if count > 1 else opts.verbose_name}"


def hidden_fields(request: HttpRequest, action: str) -> list[tuple[str, str]]:
    """Return the fields that the page of an action posts again to select the same rows."""
    chosen = request.POST.getlist(ACTION_CHECKBOX_NAME)
    across = request.POST.get("select_across") == "1"
    fields = [("action", action), ("select_across", "1" if across else "0")]
    return fields + [(ACTION_CHECKBOX_NAME, key) for key in (chosen[:1] if across else chosen)]


def plan_context(model_admin: ScopedAdmin, plan: BulkPlan) -> dict[str, object]:
    """Return the plan for the template, grouped by sentence, largest group first."""
    changes = group_by_sentence(model_admin, [(line.row, line.summary) for line in plan.lines])
    skipped = group_by_sentence(model_admin, plan.skipped)
    return {
        "lines": changes[:MAX_NAMED_ROWS],
        "more_lines": sum(group["count"] for group in changes[MAX_NAMED_ROWS:]),
        "skipped": skipped[:MAX_NAMED_ROWS],
        "more_skipped": sum(group["count"] for group in skipped[MAX_NAMED_ROWS:]),
    }


def group_by_sentence(
    model_admin: ScopedAdmin, sentences: "Iterable[tuple[Content, str]]"
) -> list[dict[str, Any]]:
    """Group rows by the sentence about them; each group has its count and up to `MAX_NAMED_ROWS` links."""
    groups: dict[str, list[Content]] = {}
    for row, sentence in sentences:
        groups.setdefault(sentence, []).append(row)
    return [
        {
            "sentence": sentence,
            "count": len(rows),
            "rows": [(str(row), model_admin.page_address("change", row.pk)) for row in rows[:MAX_NAMED_ROWS]],
            "more": max(0, len(rows) - MAX_NAMED_ROWS),
        }
        for sentence, rows in sorted(groups.items(), key=lambda group: -len(group[1]))
    ]


def with_undo_link(sentence: str, change_set: ChangeSet | None) -> str:
    """Return the sentence with a link that reverts the change set."""
    if change_set is None:
        return sentence
    address = reverse("admin:take_back", args=[change_set.pk])
    return format_html('{} <a href="{}">{}</a>', sentence, address, _("Revert"))


def describe_value(row: "Content", name: str, value: object) -> str:
    field = row._meta.get_field(name)
    if value in (None, ""):
        return "–"
    choices = dict(getattr(field, "flatchoices", ()) or ())
    return str(choices.get(value, value))


class SetField(BulkAction):
    """Set fields of rows. Rows whose validation fails are not changed, but listed."""

    def values(self, row: "Content", values: Values) -> Values:
        return values

    def describe(self, row: Any, new_values: Values) -> str:
        """Return the old and new values of the fields, such as "Draft → Published"."""
        return ", ".join(
            f"{describe_value(row, name, getattr(row, name))} → {describe_value(row, name, value)}"
            for name, value in new_values.items()
        )

    def plan(
        self, model_admin: ScopedAdmin, request: HttpRequest, rows: "list[Content]", values: Values
    ) -> BulkPlan:
        return plan_changes(rows, lambda row: self.values(row, values), self.describe)


class SetStatus(SetField):
    def __init__(self, status: str, name: str, texts: ActionTexts) -> None:
        super().__init__(name, texts)
        self.status = status

    def values(self, row: "Content", values: Values) -> Values:
        return {"status": self.status}


class ReasonForm(ActionForm):
    reason = forms.CharField(
        label=gettext_lazy("reason for cancellation"),
        max_length=200,
        required=False,
        help_text=gettext_lazy(
            "Shown next to each, such as “The speaker is ill.” Leave empty to keep the current reasons."
        ),
    )


class Cancel(SetStatus):
    """Cancel rows, with one reason for all."""

    form_class = ReasonForm

    def values(self, row: "Content", values: Values) -> Values:
        reason = {"cancellation_reason": values["reason"]} if values["reason"] else {}
        return {**super().values(row, values), **reason}


class ChosenField(forms.ModelChoiceField[Any]):
    """A choice among rows of the editions of the chosen rows, labeled as in the admin."""

    def offer_rows(self, form: ActionForm, model: "type[Content]", **filters: object) -> None:
        """Offer rows that the user may see: those matching `filters`, or of the chosen rows' editions."""
        model_admin: ModelAdmin[Model] = form.model_admin.admin_site.get_model_admin(model)
        filters = filters or {"edition__in": form.editions()}
        self.queryset = model_admin.get_queryset(form.request).filter(**filters).select_related("edition")
        self.has_editions = len(form.editions()) > 1 or "edition__in" not in filters
        self.make_label = getattr(model_admin, "choice_label", str)

    def label_from_instance(self, obj: Any) -> str:
        label = str(self.make_label(obj))
        return f"{label}, {obj.edition}" if self.has_editions and obj.edition.slug not in label else label


HAS_IT_ALREADY = ngettext_lazy("%(count)d has it already.", "%(count)d have it already.", "count")

publish = SetStatus(
    "published",
    "publish",
    ActionTexts(
        gettext_lazy("Publish selected %(verbose_name_plural)s"),
        gettext_lazy("%(amount)s published."),
        ngettext_lazy("%(count)d was already published.", "%(count)d were already published.", "count"),
        gettext_lazy("Publish %(amount)s"),
    ),
)
unpublish = SetStatus(
    "draft",
    "unpublish",
    ActionTexts(
        gettext_lazy("Unpublish selected %(verbose_name_plural)s"),
        gettext_lazy("%(amount)s unpublished."),
        ngettext_lazy("%(count)d was already unpublished.", "%(count)d were already unpublished.", "count"),
        gettext_lazy("Unpublish %(amount)s"),
    ),
)
withdraw = SetStatus(
    "withdrawn",
    "withdraw",
    ActionTexts(
        gettext_lazy("Withdraw selected %(verbose_name_plural)s"),
        gettext_lazy("%(amount)s withdrawn."),
        ngettext_lazy("%(count)d was already withdrawn.", "%(count)d were already withdrawn.", "count"),
        gettext_lazy("Withdraw %(amount)s"),
    ),
)
cancel = Cancel(
    "cancelled",
    "cancel",
    ActionTexts(
        gettext_lazy("Cancel selected %(verbose_name_plural)s"),
        gettext_lazy("%(amount)s canceled."),
        ngettext_lazy("%(count)d was already canceled.", "%(count)d were already canceled.", "count"),
        gettext_lazy("Cancel %(amount)s"),
    ),
)
back_to_draft = SetStatus(
    "draft",
    "back_to_draft",
    ActionTexts(
        gettext_lazy("Return selected %(verbose_name_plural)s to draft"),
        gettext_lazy("%(amount)s returned to draft."),
        ngettext_lazy("%(count)d was already a draft.", "%(count)d were already drafts.", "count"),
        gettext_lazy("Return %(amount)s to draft"),
    ),
)
