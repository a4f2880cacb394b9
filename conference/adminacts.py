"""Taking back what an action did, in the admin: a page that says what goes back and what stays."""

from collections.abc import Callable
from itertools import batched
from typing import Any

from django.apps import apps
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from conference.adminaccess import access_for
from conference.adminactions import NAMED, with_way_back
from conference.bulk import light
from conference.bulkundo import Allowed, Reversal, planned, undo
from conference.history import ChangeSet, Origin
from conference.rowvalues import BATCH

# Acts of people over many rows; an import has a page of its own.
UNDOABLE = (Origin.ACTION, Origin.UNDO)
# Upper floors say here where to look after an act of theirs; an empty address for all others.
AFTERWARDS: list[Callable[[ChangeSet], str]] = []


def take_back(request: HttpRequest, act: int, site: Any) -> HttpResponse:
    """Say what taking back would do; with POST, do it."""
    acts = ChangeSet.objects.filter(origin__in=UNDOABLE, reference="")
    change_set = get_object_or_404(acts, pk=act)
    allowed = allowed_for(request, site)
    if not any(allowed(model, "change", keys) for model, keys in touched(change_set).items()):
        raise PermissionDenied
    if request.method == "POST":
        found, done = undo(change_set, request.user, allowed)
        if found.count:
            messages.success(request, with_way_back(said(found), done))
        else:
            messages.warning(request, _("Nothing was taken back."))
        return redirect(list_of(change_set))
    found = planned(change_set, allowed)
    context = {
        **site.each_context(request),
        "title": _("Take back: %(act)s") % {"act": change_set.detail or change_set},
        "act": change_set,
        "count": found.count,
        "back": told(found),
        "kept": reasons(found),
        "list": list_of(change_set),
    }
    return TemplateResponse(request, "admin/take_back.html", context)


def touched(change_set: ChangeSet) -> dict[Any, list[int]]:
    """Return the keys of the rows that an act changed or added, by model."""
    found: dict[Any, list[int]] = {}
    for label, key in change_set.rows.values_list("model", "object_id"):
        found.setdefault(apps.get_model(label), []).append(key)
    return found


def list_of(change_set: ChangeSet) -> str:
    """Return the page on which to look at what an act changed: the list of its first row, if no other."""
    if address := next(filter(None, (page_of(change_set) for page_of in AFTERWARDS)), ""):
        return address
    row = change_set.rows.order_by("pk").first()
    return reverse(f"admin:{row.model.replace('.', '_')}_changelist") if row else reverse("admin:index")


def allowed_for(request: HttpRequest, site: Any) -> Allowed:
    """Return a function that tells which rows of a model the user may have changed as wholes, or deleted."""
    access = access_for(request)

    def allowed(model: Any, what: str, keys: list[int]) -> set[int]:
        desk: Any = site.get_model_admin(model)
        may = getattr(desk, f"has_{what}_permission")
        rows = [
            row
            for batch in batched(keys, BATCH, strict=False)
            for row in light(desk.get_queryset(request).filter(pk__in=batch))
        ]
        return {row.pk for row in rows if may(request, row) and access.fields(model, row) is None}

    return allowed


def said(found: Reversal) -> str:
    """Return what is told after taking back."""
    sentence = ngettext("%(count)d row taken back.", "%(count)d rows taken back.", found.count)
    stay = ngettext("%(count)d stays as it is.", "%(count)d stay as they are.", len(found.kept))
    sentences = [sentence % {"count": found.count}]
    return " ".join([*sentences, *([stay % {"count": len(found.kept)}] if found.kept else [])])


def told(found: Reversal) -> list[dict[str, Any]]:
    """Return what goes back, kind by kind."""
    groups = [
        {
            "says": _("%(count)d %(rows)s go back to what they were")
            % {"count": len(lines), "rows": model._meta.verbose_name_plural},
            "names": [str(line.row) for line in lines[:NAMED]],
            "more": max(0, len(lines) - NAMED),
        }
        for model, lines in found.lines.items()
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
