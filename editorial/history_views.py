"""History in the admin: a row's timeline, going back to a version, bringing back what was deleted."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, ClassVar

from django.contrib import messages
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.access_scope import Access
from content.editions import get_edition_model
from content.history import ChangeSet, Origin, RowChange
from content.revert import CannotRevertError, RevertStep, return_plan, revert, version_plan
from content.row_values import recorded_fields
from content.timeline import RowLabels, change_set_rows, field_changes, target_of
from editorial.access import ScopedAdmin, access_for
from editorial.current_edition import edition_of, working_on

if TYPE_CHECKING:
    from django.db.models import Model
    from django.urls import URLPattern

    from conference.models import Edition
    from content.models import Content

PAGE = 25


class HistoryAdmin[M: Model = Model](ScopedAdmin[M]):
    """The pages of a model's history."""

    # Whether only users who may change a row see its history: former names, e-mail addresses.
    private_history: ClassVar[bool] = False

    def get_urls(self) -> list[URLPattern]:
        wrap = self.admin_site.admin_view
        name = f"{self.opts.app_label}_{self.opts.model_name}"
        own = [
            path("deleted/", wrap(self.deleted_view), name=f"{name}_deleted"),
            path("deleted/<int:change>/", wrap(self.bring_back_view), name=f"{name}_bring_back"),
            path("<path:object_id>/history/<int:version>/", wrap(self.restore_view), name=f"{name}_restore"),
        ]
        return [*own, *super().get_urls()]

    def named(self, page: str, *args: object) -> str:
        """Return the address of a page of this model."""
        return reverse(f"admin:{self.opts.app_label}_{self.opts.model_name}_{page}", args=args)

    def frame(self, request: HttpRequest, title: str, **more: object) -> dict[str, object]:
        """Return what every page of the admin needs."""
        return {**self.admin_site.each_context(request), "title": title, "opts": self.opts, **more}

    # The timeline

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, object] | None = None
    ) -> HttpResponse:
        if object_id.isdecimal() and self.get_object(request, object_id) is None:
            gone = self.deleted_rows(request).filter(object_id=object_id).first()
            if gone is not None:
                return redirect(self.named("bring_back", gone.pk))
        row = self.history_row(request, object_id)
        changes = self.told_changes(request, RowChange.objects.about(self.model, row.pk))
        about = changes.filter(change_set=OuterRef("pk"))
        sets = ChangeSet.objects.filter(Exists(about)).select_related("user")
        page = Paginator(sets, PAGE).get_page(request.GET.get("p"))
        edition = edition_of(row)
        for one in page:
            vars(one)["link"] = self.reference_link(one)
            vars(one)["is_action"] = one.origin == Origin.ACTION
        found = list(changes.filter(change_set__in=[one.pk for one in page]))
        context = self.frame(
            request,
            _("Change history: %(row)s") % {"row": row},
            object=row,
            acts=change_set_rows(page, found, edition),
            page_obj=page,
            edition=edition,
            can_restore=self.may_whole(request, "change", row),
            reference_links={one.pk: self.reference_link(one) for one in page},
            **(extra_context or {}),
        )
        with working_on(edition):
            return TemplateResponse(request, "admin/history.html", context).render()

    def history_row(self, request: HttpRequest, object_id: str) -> M:
        """Return the row, which the user may see, or refuse."""
        if not self.has_view_or_change_permission(request):
            raise PermissionDenied
        row = self.get_object(request, unquote(object_id))
        if row is None:
            raise Http404("No such row.")
        asked = self.has_change_permission if self.private_history else self.has_view_or_change_permission
        if not asked(request, row):
            raise PermissionDenied
        return row

    def told_changes(self, request: HttpRequest, changes: QuerySet[RowChange]) -> QuerySet[RowChange]:
        """Return the changes that the user may read: those in other editions are not theirs."""
        access = access_for(request)
        if access.everywhere("view", self.model):
            return changes
        return changes.filter(Q(edition_key__in=access.roles) | Q(edition_key__isnull=True))

    def reference_link(self, change_set: ChangeSet) -> str:
        """Return the address of what the act left behind, such as the run of an import."""
        label, _sep, key = change_set.reference.partition(":")
        return reverse(f"admin:{label.replace('.', '_')}_change", args=[key]) if key else ""

    # Going back

    def restore_view(self, request: HttpRequest, object_id: str, version: int) -> HttpResponse:
        """Show what going back to a version would change; with POST, do it."""
        row = self.history_row(request, object_id)
        if not self.may_whole(request, "change", row):
            raise PermissionDenied
        change_set = get_object_or_404(ChangeSet, pk=version)
        plan = version_plan(row, change_set.pk)
        title = _("Revert to a version: %(row)s") % {"row": row}
        return self.confirmed(
            request, title, plan, edition_of(row), change_set, self.named("history", row.pk)
        )

    def confirmed(
        self,
        request: HttpRequest,
        title: str,
        plan: list[RevertStep],
        edition: Edition | None,
        change_set: ChangeSet,
        back: str,
    ) -> HttpResponse:
        """Ask before anything is restored, and report what came of it."""
        reasons = refuse(access_for(request), plan)
        if request.method == "POST" and plan and not reasons:
            try:
                revert(plan, Origin.RESTORE, request.user, f"{change_set.at:%Y-%m-%d %H:%M} UTC")
            except CannotRevertError as error:
                reasons = error.reasons
            else:
                rows = ngettext("%(n)d row reverted.", "%(n)d rows reverted.", len(plan)) % {"n": len(plan)}
                messages.success(request, rows)
                return redirect(self.restored_at(plan) or back)
        told = {"plan": previewed(plan, edition), "change_set": change_set, "back": back, "reasons": reasons}
        context = self.frame(request, title, edition=edition, **told)
        with working_on(edition):
            return TemplateResponse(request, "admin/restore.html", context).render()

    def restored_at(self, plan: list[RevertStep]) -> str:
        """Return the form of what came back."""
        found = [step.key for step in plan if step.kind == "bring back" and step.model is self.model]
        return self.named("change", found[0]) if found else ""

    # What was deleted

    def deleted_rows(self, request: HttpRequest) -> QuerySet[RowChange]:
        """Return the deletions of this model that the user may see and take back."""
        gone = RowChange.objects.gone().filter(model=self.opts.label_lower).select_related("change_set")
        access = access_for(request)
        if access.everywhere("view", self.model):
            return gone
        # What belonged to no edition is shown to those who deleted it.
        own = Q(edition_key__isnull=True, change_set__user=request.user.pk)
        return gone.filter(Q(edition_key__in=access.editions("add", self.model)) | own)

    def deleted_view(self, request: HttpRequest) -> HttpResponse:
        """List what was deleted, the latest first."""
        if not self.has_view_or_change_permission(request):
            raise PermissionDenied
        page = Paginator(self.deleted_rows(request), PAGE).get_page(request.GET.get("p"))
        here = set(
            self.model._default_manager.filter(pk__in=[one.object_id for one in page]).values_list("pk")
        )
        title = _("Deleted: %(rows)s") % {"rows": self.opts.verbose_name_plural}
        context = self.frame(
            request,
            title,
            page_obj=page,
            here={key for (key,) in here},
            can_restore=self.has_add_permission(request),
        )
        return TemplateResponse(request, "admin/deleted.html", context)

    def bring_back_view(self, request: HttpRequest, change: int) -> HttpResponse:
        """Show what came along with a deleted row; with POST, bring all of it back."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        gone = get_object_or_404(self.deleted_rows(request), pk=change)
        plan = return_plan(gone)
        edition = get_edition_model().objects.filter(pk=gone.edition_key or 0).first()
        title = _("Revert a deletion: %(row)s") % {"row": gone.label}
        return self.confirmed(request, title, plan, edition, gone.change_set, self.named("deleted"))


ACTIONS = {"remove": "delete", "bring back": "add", "change": "change"}


def refuse(access: Access, plan: list[RevertStep]) -> list[str]:
    """Say which steps the user may not do: an old version can reach rows that are not theirs."""
    return [
        _("You may not change this: %(kind)s “%(name)s”.")
        % {"kind": step.model._meta.verbose_name, "name": step.label}
        for step in plan
        if not may_take(access, step)
    ]


def may_take(access: Access, step: RevertStep) -> bool:
    """Judge a step by the row as it is and as it would be: it may leave an edition, or come into one."""
    action = ACTIONS[step.kind]
    if access.everywhere(action, step.model):
        return True
    rows = [step.row, restored_version(step) if step.kind != "remove" else None]
    return all(access.may_whole(action, step.model, row) for row in rows if row is not None)


def restored_version(step: RevertStep) -> Content:
    """Return the row in memory below those to which a step takes it."""
    row = copy(step.row) if step.row is not None else step.model()
    for name, field in recorded_fields(step.model).items():
        if field.is_relation and name in step.pairs:
            setattr(row, field.attname, step.pairs[name][1])
    return row


def previewed(plan: list[RevertStep], edition: Edition | None) -> list[dict[str, object]]:
    """Return the steps as a page shows them."""
    wanted = [
        (target, key)
        for step in plan
        for name, pair in step.pairs.items()
        if (target := target_of(step.model._meta.label_lower, name))
        for one in pair
        for key in (one if isinstance(one, list) else [one])
        if key
    ]
    names = RowLabels(wanted)
    verbs = {"remove": _("is removed"), "bring back": _("comes back"), "change": _("is changed")}
    return [
        {
            "what": step.model._meta.verbose_name,
            "label": step.label,
            "verb": verbs[step.kind],
            "lines": field_changes(step.model._meta.label_lower, step.pairs, names, edition)
            if step.kind == "change"
            else [],
        }
        for step in plan
    ]
