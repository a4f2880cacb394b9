"""The preview of one session in the admin, for accounts that may not preview the whole edition."""

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.translation import gettext

from content.preview_context import PreviewScope, preview_as
from content.unreleased.plan import planned
from editorial.access import access_for
from editorial.model_admin import ContentAdmin
from schedule.models import Session
from schedule.querysets import MAX_LISTED_TALKS
from schedule.rows import attach_talks


def preview_view(model_admin: ContentAdmin, request: HttpRequest, key: int) -> HttpResponse:
    """Show a session as visitors will see it, drafts included, without links to pages of the site.

    Only presentations that the user may see are listed.
    """
    row: Session = get_object_or_404(model_admin.get_queryset(request).select_related("edition"), pk=key)
    if not model_admin.has_view_permission(request, row):
        raise PermissionDenied
    edition, at = row.edition, timezone.now()
    with preview_as(PreviewScope(edition.pk, drafts=True)), planned(edition):
        session = edition.sessions.published(at).for_timetable(at).filter(pk=row.pk).first()
        if session is None:
            raise Http404("The session is not in the program.")
        talks = access_for(request).rows(edition.presentations.published(at))
        has_abstracts = session.talk_count <= MAX_LISTED_TALKS
        attach_talks(
            [session],
            talks,
            at,
            max_talks=MAX_LISTED_TALKS,
            full_session=session,
            abstracts=has_abstracts,
        )
        title = gettext("Preview: %(session)s") % {"session": session}
        context = model_admin.page_context(request, title, session=session, edition=edition)
        return TemplateResponse(request, "admin/schedule/session/preview.html", context).render()
