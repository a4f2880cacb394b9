"""Taking back what an action did, in the admin: a page that says what goes back and what stays."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import batched
from typing import TYPE_CHECKING

from django.contrib import messages
from django.contrib.admin import AdminSite
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.access_scope import SCOPES
from content.history import ChangeSet, Origin
from content.revert import CannotRevertError, RevertPlan, RevertStep, undo, undo_plan
from content.row_values import BATCH_ROWS
from editorial.access import access_for
from editorial.actions import NAMED, with_undo_link
from editorial.history_views import ACTIONS, may_take

if TYPE_CHECKING:
    from content.models import Content

# Acts of people over many rows; an import has a page of its own.
UNDOABLE = (Origin.ACTION, Origin.UNDO)
# Upper floors say here where to look after an act of theirs; an empty address for all others.
AFTERWARDS: list[Callable[[ChangeSet], str]] = []


def take_back(request: HttpRequest, act: int, site: AdminSite) -> HttpResponse:
    """Say what taking back would do; with POST, do it."""
    acts = ChangeSet.objects.filter(origin__in=UNDOABLE, reference="")
    change_set = get_object_or_404(acts, pk=act)
    permitted = Permitted(request, site, change_set)
    errors: list[str] = []
    if request.method == "POST":
        try:
            found, done = undo(change_set, request.user, permitted, by_row=True)
        except CannotRevertError as error:
            errors = error.reasons
        else:
            if not found.is_permitted:
                raise PermissionDenied
            if found.steps:
                messages.success(request, with_undo_link(done_words(found), done))
            else:
                messages.warning(request, _("Nothing was reverted."))
            return redirect(list_of(change_set))
    found = undo_plan(change_set, permitted, by_row=True)
    if not found.is_permitted:
        raise PermissionDenied
    context = {
        "errors": errors,
        **site.each_context(request),
        "title": _("Revert: %(act)s") % {"act": change_set.detail or change_set},
        "act": change_set,
        "count": len(found.steps),
        "back": reverted_groups(found),
        "kept": kept_groups(found),
        "list": list_of(change_set),
    }
    return TemplateResponse(request, "admin/take_back.html", context)


def list_of(change_set: ChangeSet) -> str:
    """Return the page on which to look at what an act changed: the list of its first row, if no other."""
    if address := next(filter(None, (page_of(change_set) for page_of in AFTERWARDS)), ""):
        return address
    row = change_set.rows.order_by("pk").first()
    return reverse(f"admin:{row.model.replace('.', '_')}_changelist") if row else reverse("admin:index")


@dataclass(frozen=True, slots=True)
class Permitted:
    """Which steps the user may take: with each row as a whole."""

    request: HttpRequest
    site: AdminSite
    act: ChangeSet

    def __call__(self, steps: list[RevertStep]) -> list[RevertStep]:
        """Return the steps that the user may take. A query or two for 500 rows of one model."""
        keys: dict[tuple[type[Content], str], list[int]] = {}
        for step in steps:
            keys.setdefault((step.model, ACTIONS[step.kind]), []).append(step.key)
        seen = {(model, action): self.seen(model, action, wanted) for (model, action), wanted in keys.items()}
        return [
            step
            for step in steps
            if (step.row is None or step.key in seen[step.model, ACTIONS[step.kind]]) and self.may(step)
        ]

    def seen(self, model: "type[Content]", action: str, keys: list[int]) -> set[int]:
        """Return those of the rows that the user sees in lists."""
        rows = self.site.get_model_admin(model).get_queryset(self.request).order_by()
        found: set[int] = set()
        for batch in batched(keys, BATCH_ROWS, strict=False):
            found.update(rows.filter(pk__in=batch).values_list("pk", flat=True))
            access_for(self.request).ask_all(action, model, batch)
        return found

    def may(self, step: RevertStep) -> bool:
        """Return whether a step is allowed. Users may restore rows without an edition that they deleted."""
        access, action = access_for(self.request), ACTIONS[step.kind]
        model_admin = self.site.get_model_admin(step.model)
        if not getattr(model_admin, f"has_{action}_permission")(self.request, step.row):
            return False
        if step.row is None and step.model in SCOPES and not access.everywhere(action, step.model):
            return bool(self.act.user_id == self.request.user.pk)
        return may_take(access, step)


def done_words(found: RevertPlan) -> str:
    """Return what is said after taking back."""
    done, stay = len(found.steps), len(found.kept)
    words = ngettext("%(count)d row reverted.", "%(count)d rows reverted.", done) % {"count": done}
    if stay:
        words += " " + ngettext("%(count)d stays as it is.", "%(count)d stay as they are.", stay) % {
            "count": stay
        }
    return words


def reverted_groups(found: RevertPlan) -> list[dict[str, object]]:
    """Return what goes back, model by model."""
    words = {
        "change": _("%(count)d %(rows)s go back to what they were"),
        "bring back": _("%(count)d %(rows)s come back"),
        "remove": _("%(count)d %(rows)s go again"),
    }
    labels: dict[tuple[type[Content], str], list[str]] = {}
    for step in found.steps:
        labels.setdefault((step.model, step.kind), []).append(step.label)
    return [
        group(words[kind] % {"count": len(names), "rows": model._meta.verbose_name_plural}, names)
        for (model, kind), names in labels.items()
    ]


def kept_groups(found: RevertPlan) -> list[dict[str, object]]:
    """Return what stays, by reason. What somebody may not touch may not even be theirs to see."""
    groups: dict[str, list[str]] = {}
    for row in found.kept:
        groups.setdefault(row.reason, []).append(row.words)
    return [group(reason, names) for reason, names in groups.items()]


def group(words: str, names: list[str]) -> dict[str, object]:
    """Return rows of which the same is said, as a page shows them."""
    shown = [name for name in names[:NAMED] if name]
    return {"says": words, "count": len(names), "names": shown, "more": max(0, len(names) - NAMED)}
