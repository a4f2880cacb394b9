"""Taking back what an action did, in the admin: a page that says what goes back and what stays."""

from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import path
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from conference.adminaccess import access_for
from conference.adminactions import NAMED, with_way_back
from conference.bulkundo import Reversal, planned, undo
from conference.history import ChangeSet, Origin

# Acts of people over many rows; an import has a page of its own.
UNDOABLE = (Origin.ACTION, Origin.UNDO)


class ActsAdmin(admin.ModelAdmin[Any]):
    """The page on which an action over a list is taken back."""

    def get_urls(self) -> list[Any]:
        view = self.admin_site.admin_view(self.take_back_view)
        name = f"{self.opts.app_label}_{self.opts.model_name}_take_back"
        return [path("acts/<int:act>/take-back/", view, name=name), *super().get_urls()]

    def take_back_view(self, request: HttpRequest, act: int) -> HttpResponse:
        """Say what taking back would do; with POST, do it."""
        if not self.has_change_permission(request):
            raise PermissionDenied
        acts = ChangeSet.objects.filter(origin__in=UNDOABLE, reference="")
        change_set = get_object_or_404(acts, pk=act)
        allowed = self._allowed(request)
        if request.method == "POST":
            found, done = undo(change_set, request.user, allowed)
            if found.count:
                self.message_user(request, with_way_back(self, said(found), done), messages.SUCCESS)
            else:
                self.message_user(request, _("Nothing was taken back."), messages.WARNING)
            return redirect(f"admin:{self.opts.app_label}_{self.opts.model_name}_changelist")
        found = planned(change_set, allowed)
        context = {
            **self.admin_site.each_context(request),
            "title": _("Take back: %(act)s") % {"act": change_set.detail or change_set},
            "opts": self.opts,
            "act": change_set,
            "count": found.count,
            "back": told(found),
            "kept": reasons(found),
        }
        return TemplateResponse(request, "admin/take_back.html", context)

    def _allowed(self, request: HttpRequest) -> Any:
        """Return a function that tells which rows of a model the user may have changed, or deleted."""

        def allowed(model: Any, what: str, keys: list[int]) -> set[int]:
            desk: Any = self.admin_site.get_model_admin(model)
            may = getattr(desk, f"has_{what}_permission")
            rows = desk.get_queryset(request).filter(pk__in=keys)
            access = access_for(request)
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
