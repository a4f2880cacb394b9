"""Lets pages of the admin show working copies and turns their changes into pending changes."""

import re
from collections.abc import Callable
from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils import timezone

from editorial.access import access_for
from editorial.model_admin import render_response
from editorial.site import PAGE_STATES
from schedule.models import Session, WorkingCopy
from schedule.working_copy.block import edit_working_copy, open_copies, show_working_copy
from schedule.working_copy.release import release_due

# Regular expressions for URL names, to which higher apps add theirs.
WORKING_PAGES: list[str] = [
    # All pages except live notices, which change the public schedule at once.
    r"schedule_(room|session|presentation|sessionrole|speaker)_(?!announce).*",
    r"papers_paper_(changelist|add|change|history|restore)",
    r"conference_edition_change",
    r"index",
    r"autocomplete",
]
# Pages that also write other rows, which are public at once.
PAGES_WITH_OTHER_WRITES: list[str] = []
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
    visible_copies = [copy for copy in copies if can_view_sessions(request, copy)]
    if not copies or not _concerns_working_copy(request, url_name or ""):
        return view()
    if request.method in SAFE_METHODS:
        with show_working_copy(visible_copies):
            return render_response(view())
    keeps_others = any(re.fullmatch(pattern, url_name or "") for pattern in PAGES_WITH_OTHER_WRITES)
    with edit_working_copy(copies, keeps_others=keeps_others):
        return render_response(view())


def can_view_sessions(request: HttpRequest, copy: WorkingCopy) -> bool:
    """Return whether the user may see some sessions of the copy's edition."""
    access = access_for(request)
    return access.may_everywhere("view", Session) or copy.edition_id in access.editions_with_any(
        "view", Session
    )


def _concerns_working_copy(request: HttpRequest, url_name: str) -> bool:
    """Return whether the request concerns working copies, not only public rows."""
    return request.method in SAFE_METHODS or (url_name, request.POST.get("action")) != DELETES_PAPERS


PAGE_STATES.append(in_working_state)
