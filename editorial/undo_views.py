"""Taking back what an action did, in the admin: a page that says what goes back and what stays."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import batched
from typing import TYPE_CHECKING, Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.access_scope import SCOPES
from content.bulk_undo import Reversal, planned, undo
from content.history import ChangeSet, Origin
from content.restoring import CannotRestoreError, Step
from content.row_values import BATCH_ROWS
from editorial.access import access_for
from editorial.actions import NAMED, with_way_back
from editorial.history_views import NEEDED, may_take

if TYPE_CHECKING:
    from content.models import Content

# Acts of people over many rows; an import has a page of its own.
UNDOABLE = (Origin.ACTION, Origin.UNDO)
# Upper floors say here where to look after an act of theirs; an empty address for all others.
AFTERWARDS: list[Callable[[ChangeSet], str]] = []


def take_back(request: HttpRequest, act: int, site: Any) -> HttpResponse:
    """Say what taking back would do; with POST, do it."""
    acts = ChangeSet.objects.filter(origin__in=UNDOABLE, reference="")
    change_set = get_object_or_404(acts, pk=act)
    judge = Hand(request, site, change_set)
    errors: list[str] = []
    if request.method == "POST":
        try:
            return taken_back(request, change_set, judge)
        except CannotRestoreError as error:
            errors = error.reasons
    found = planned(change_set, judge)
    if not found.is_theirs:
        raise PermissionDenied
    context = {
        "errors": errors,
        **site.each_context(request),
        "title": _("Take back: %(act)s") % {"act": change_set.detail or change_set},
        "act": change_set,
        "count": found.count,
        "back": told(found),
        "kept": reasons(found),
        "list": list_of(change_set),
    }
    return TemplateResponse(request, "admin/take_back.html", context)


def taken_back(request: HttpRequest, change_set: ChangeSet, judge: "Hand") -> HttpResponse:
    """Take an act back, and say so."""
    found, done = undo(change_set, request.user, judge)
    if not found.is_theirs:
        raise PermissionDenied
    if found.count:
        messages.success(request, with_way_back(said(found), done))
    else:
        messages.warning(request, _("Nothing was taken back."))
    return redirect(list_of(change_set))


def list_of(change_set: ChangeSet) -> str:
    """Return the page on which to look at what an act changed: the list of its first row, if no other."""
    if address := next(filter(None, (page_of(change_set) for page_of in AFTERWARDS)), ""):
        return address
    row = change_set.rows.order_by("pk").first()
    return reverse(f"admin:{row.model.replace('.', '_')}_changelist") if row else reverse("admin:index")


@dataclass(frozen=True, slots=True)
class Hand:
    """Who takes an act back: they may do each of its steps with the row as a whole."""

    request: HttpRequest
    site: Any
    act: ChangeSet

    def __call__(self, steps: list[Step]) -> list[Step]:
        """Return the steps that the user may take. A query or two for 500 rows of one model."""
        keys: dict[tuple[Any, str], list[int]] = {}
        for step in steps:
            keys.setdefault((step.model, NEEDED[step.kind]), []).append(step.key)
        seen = {(model, action): self.seen(model, action, wanted) for (model, action), wanted in keys.items()}
        return [
            step
            for step in steps
            if (step.row is None or step.key in seen[step.model, NEEDED[step.kind]]) and self.may(step)
        ]

    def seen(self, model: "type[Content]", action: str, keys: list[int]) -> set[int]:
        """Return those of the rows that the user sees in lists."""
        rows = self.site.get_model_admin(model).get_queryset(self.request).order_by()
        found: set[int] = set()
        for batch in batched(keys, BATCH_ROWS, strict=False):
            found.update(rows.filter(pk__in=batch).values_list("pk", flat=True))
            access_for(self.request).ask_all(action, model, batch)
        return found

    def may(self, step: Step) -> bool:
        """Tell whether a step may be taken. What belongs to no edition comes back for whoever deleted it."""
        access, action = access_for(self.request), NEEDED[step.kind]
        desk = self.site.get_model_admin(step.model)
        if not getattr(desk, f"has_{action}_permission")(self.request, step.row):
            return False
        if step.row is None and step.model in SCOPES and not access.everywhere(action, step.model):
            return bool(self.act.user_id == self.request.user.pk)
        return may_take(access, step)


def said(found: Reversal) -> str:
    """Return what is told after taking back."""
    sentence = ngettext("%(count)d row taken back.", "%(count)d rows taken back.", found.count)
    stay = ngettext("%(count)d stays as it is.", "%(count)d stay as they are.", len(found.kept))
    sentences = [sentence % {"count": found.count}]
    return " ".join([*sentences, *([stay % {"count": len(found.kept)}] if found.kept else [])])


def told(found: Reversal) -> list[dict[str, Any]]:
    """Return what goes back, kind by kind."""
    back, returning = _("%(count)d %(rows)s go back to what they were"), _("%(count)d %(rows)s come back")
    named = {(model, back): [str(line.row) for line in lines] for model, lines in found.lines.items()}
    for step in found.removal.steps:
        named.setdefault((step.model, returning if step.row is None else back), []).append(step.label)
    groups = [
        {
            "says": says % {"count": len(names), "rows": model._meta.verbose_name_plural},
            "names": names[:NAMED],
            "more": max(0, len(names) - NAMED),
        }
        for (model, says), names in named.items()
    ]
    for model, keys in found.removal.removed.items():
        if keys:
            rows = model._base_manager.filter(pk__in=sorted(keys)[:NAMED])
            says = _("%(count)d %(rows)s go again") % {
                "count": len(keys),
                "rows": model._meta.verbose_name_plural,
            }
            groups.append(
                {"says": says, "names": [str(row) for row in rows], "more": max(0, len(keys) - NAMED)}
            )
    return groups


def reasons(found: Reversal) -> list[dict[str, Any]]:
    """Return what stays, by reason."""
    groups: dict[str, list[str]] = {}
    for label, reason in found.kept:
        groups.setdefault(reason, []).append(label)
    return [
        {
            "says": reason,
            "count": len(names),
            # What somebody may not touch may not even be theirs to see.
            "names": [name for name in names[:NAMED] if name],
            "more": max(0, len(names) - NAMED),
        }
        for reason, names in groups.items()
    ]
