"""Taking an import back in the admin: a page that says what will happen, and a button."""

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.utils.translation import gettext as _

from content.revert import CannotRevertError
from editorial.access import ScopedAdmin, access_for
from exchange.jobs.import_permissions import permit_undo
from exchange.jobs.undo import CannotUndoError, plan, summary, undo
from exchange.models import ImportRun


def may_undo(model_admin: ScopedAdmin, request: HttpRequest, run: ImportRun) -> bool:
    """Return whether the user may revert this import."""
    return access_for(request).may("delete", ImportRun, run) and model_admin.has_view_permission(request, run)


def undo_view(model_admin: ScopedAdmin, request: HttpRequest, key: int) -> HttpResponse:
    """Say what will happen; with POST, do it."""
    run = get_object_or_404(model_admin.get_queryset(request), pk=key)
    if not may_undo(model_admin, request, run):
        raise PermissionDenied
    found, reasons = None, []
    try:
        found = plan(run)
        permit_undo(found, request.user)
        if request.method == "POST":
            done = undo(run, request.user, check=permit_undo)
            messages.success(request, _("The import was reverted: %s.") % (", ".join(summary(done)) or "-"))
            return redirect("admin:exchange_importrun_change", run.pk)
    except CannotUndoError as error:
        reasons = [str(error)]
    except CannotRevertError as error:
        reasons = error.reasons
    context = {
        **model_admin.admin_site.each_context(request),
        "title": _("Take an import back: %(run)s") % {"run": run},
        "opts": model_admin.opts,
        "run": run,
        "reasons": reasons,
        "lines": summary(found) if found else [],
        "kept": found.kept if found else [],
        "can_go": found is not None and not reasons,
    }
    return TemplateResponse(request, "admin/exchange/importrun/undo.html", context)
