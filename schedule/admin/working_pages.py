"""Lets pages of the admin show working copies and turns their changes into pending changes."""

import re
from collections.abc import Callable
from typing import Any

from django.contrib import admin, messages
from django.contrib.admin import AdminSite
from django.core.exceptions import PermissionDenied
from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from conference.models import Edition
from content.history import ChangeSet
from editorial.access import access_for
from editorial.current_edition import format_moment
from editorial.history_views import PENDING_CHANGES, UNDO_HANDLERS
from editorial.model_admin import render_response
from editorial.site import PAGE_STATES
from schedule.models import PendingChanges, Release, Session, WorkingCopy
from schedule.working_copy.block import edit_working_copy, open_copies, pending_rows, show_working_copy
from schedule.working_copy.release import RefusedError, drop_changes, release_due
from schedule.working_copy.statuses import StatusTiming

# Regular expressions for URL names, to which higher apps add theirs.
WORKING_PAGES: list[str] = [
    # All pages except live notices, which change the public schedule at once.
    r"schedule_(room|session|presentation|sessionrole|speaker)_(?!announce).*",
    r"papers_paper_(changelist|add|change|history|restore)",
    r"conference_edition_change",
    r"index",
    r"autocomplete",
    r"take_back",
]
# Pages that also write other rows, which are public at once.
PAGES_WITH_OTHER_WRITES: list[str] = []
ADD_PAGES = r"(schedule_(session|presentation)|papers_paper)_add"
SAFE_METHODS = frozenset(("GET", "HEAD", "OPTIONS"))
# The bulk deletion of papers is public at once, as on the page of a paper.
DELETES_PAPERS = ("papers_paper_changelist", "delete_selected")


def in_working_state(request: HttpRequest, view: Callable[[], Any]) -> Any:
    """Run the view in the working state if the page supports it and a working copy is open."""
    url_name = request.resolver_match.url_name if request.resolver_match else ""
    is_page = any(
        re.fullmatch(pattern, url_name or "") for pattern in (*WORKING_PAGES, *PAGES_WITH_OTHER_WRITES)
    )
    # Without permission, the view redirects to the sign-in page, so do not lock anything.
    if not is_page or not admin.site.has_permission(request):
        return view()
    copies = open_copies()
    if any(copy.release_at and copy.release_at <= timezone.now() for copy in copies):
        release_due(timezone.now())
        copies = open_copies()
    vars(request)["working_copies"] = copies
    visible_copies = vars(request)["shown_working_copies"] = [
        copy for copy in copies if can_view_sessions(request, copy)
    ]
    if not copies or not _concerns_working_copy(request, url_name or ""):
        return view()
    vars(request)["status_timings"] = status_timings(request)
    if request.method in SAFE_METHODS:
        with show_working_copy(visible_copies):
            return render_response(view())
    timing = chosen_timing(request)
    if timing == StatusTiming.NOW and re.fullmatch(ADD_PAGES, url_name or ""):
        # A row that is new in the public program doesn't wait.
        return view()
    keeps_others = any(re.fullmatch(pattern, url_name or "") for pattern in PAGES_WITH_OTHER_WRITES)
    with edit_working_copy(copies, keeps_others=keeps_others, timing=timing):
        return render_response(view())


def status_timings(request: HttpRequest) -> list[StatusTiming]:
    """Return when a status can take effect, for accounts that may release all working copies they see."""
    copies = vars(request).get("shown_working_copies", ())
    may_choose = bool(copies) and all(may_release(request, copy.edition) for copy in copies)
    return [*StatusTiming] if may_choose else []


def chosen_timing(request: HttpRequest) -> StatusTiming:
    """Return the choice of the form, for accounts that have it."""
    chosen = request.POST.get("_status_timing")
    return next((timing for timing in status_timings(request) if timing == chosen), StatusTiming.USUAL)


def can_view_sessions(request: HttpRequest, copy: WorkingCopy) -> bool:
    """Return whether the user may see some sessions of the copy's edition."""
    access = access_for(request)
    return access.may_everywhere("view", Session) or copy.edition_id in access.editions_with_any(
        "view", Session
    )


def _concerns_working_copy(request: HttpRequest, url_name: str) -> bool:
    """Return whether the request concerns working copies, not only public rows."""
    if url_name == "take_back" and request.resolver_match:
        act = request.resolver_match.kwargs["act"]
        # A public change set since then is reverted publicly. `undo_pending_view()` drops pending changes.
        since = min(copy.opened_at for copy in vars(request)["working_copies"])
        is_public = ChangeSet.objects.filter(pk=act, at__gte=since).exists()
        return not is_public and not PendingChanges.objects.filter(act=act).exists()
    return request.method in SAFE_METHODS or (url_name, request.POST.get("action")) != DELETES_PAPERS


PAGE_STATES.append(in_working_state)


def may_release(request: HttpRequest, edition: Edition) -> bool:
    """Return whether the user may release, discard, and switch the working copy on and off."""
    return access_for(request).may_inline("add", Release, edition)


# Reverting pending changes


def undo_pending_view(request: HttpRequest, act: int, site: AdminSite) -> HttpResponse | None:
    """Drop pending changes, for their author and for users who may release."""
    if not vars(request).get("working_copies"):
        return None
    pending_sets = list(PendingChanges.objects.filter(act=act).select_related("working_copy__edition"))
    if not pending_sets:
        return None
    edition = pending_sets[0].working_copy.edition
    if not all(may_undo(request, pending) for pending in pending_sets):
        raise PermissionDenied
    errors: list[str] = []
    if request.method == "POST":
        try:
            count = sum(drop_changes(pending) for pending in pending_sets)
        except RefusedError as error:
            errors = error.reasons
        else:
            message = ngettext(
                "%(count)d change taken back from the working copy.",
                "%(count)d changes taken back from the working copy.",
                count,
            )
            messages.success(request, message % {"count": count})
            return redirect(working_copy_address(edition))
    labels = [
        row["label"] or f"{row['model']} {row['key']}" for pending in pending_sets for row in pending.rows
    ]
    context = {
        **site.each_context(request),
        "errors": errors,
        "title": _("Take back from the working copy: %(act)s")
        % {"act": pending_sets[0].detail or pending_sets[0]},
        "change_set": pending_sets[0],
        "done_at": format_moment(pending_sets[0].at, edition),
        "count": len(labels),
        "reverted_groups": [
            {"sentence": _("These rows go back to what they were before"), "names": labels, "more": 0}
        ],
        "kept_groups": [],
        "list_url": working_copy_address(edition),
    }
    return TemplateResponse(request, "admin/take_back.html", context)


def may_undo(request: HttpRequest, pending: PendingChanges) -> bool:
    edition = pending.working_copy.edition
    is_own = pending.user_id is not None and pending.user_id == request.user.pk
    return may_release(request, edition) or (is_own and access_for(request).may("change", Session, None))


def working_copy_address(edition: Edition) -> str:
    return reverse("admin:schedule_release_working_copy", query={"edition": edition.pk})


UNDO_HANDLERS.append(undo_pending_view)


def pending_address(request: HttpRequest, row: Model) -> str:
    """Return the address of the working copy with changes of a row, if the user may open it."""
    row_key = row._meta.label_lower, row.pk
    for copy in vars(request).get("shown_working_copies", ()):
        if access_for(request).may_all_rows("view", Session, copy.edition) and row_key in pending_rows(
            [copy]
        ):
            return working_copy_address(copy.edition)
    return ""


PENDING_CHANGES.append(pending_address)
