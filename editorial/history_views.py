"""History in the admin: a row's timeline, reverting to a version, reverting deletions and bulk actions."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from itertools import batched
from typing import TYPE_CHECKING, Any, ClassVar

from django.contrib import messages
from django.contrib.admin import AdminSite
from django.contrib.admin.templatetags.admin_urls import admin_urlname
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db.models import Exists, Model, OuterRef, Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.access_scope import SCOPES, Access
from content.editions import get_edition_model
from content.history import ChangeSet, Origin, RowChange
from content.history.revert import (
    CannotRevertError,
    RevertPlan,
    RevertStep,
    restore_plan,
    revert,
    undo,
    undo_plan,
    version_plan,
)
from content.history.timeline import RowLabels, change_set_rows, field_changes, referenced_keys
from content.request_keys import parse_key
from content.row_values import BATCH_ROWS, recorded_fields
from content.unreleased.plan import (
    change_model,
    has_unreleased_rows,
    public_at_once,
    publishing,
    release_model,
    target_names,
)
from content.unreleased.timing import StatusTiming, status_timing
from editorial.access import ScopedAdmin, access_for
from editorial.actions import MAX_NAMED_ROWS, with_undo_link
from editorial.current_edition import edition_of, format_moment, working_on

if TYPE_CHECKING:
    from django.urls import URLPattern

    from conference.models import Edition
    from content.models import Content


CHANGE_SETS_PER_PAGE = 25


class HistoryAdmin[M: Model = Model](ScopedAdmin[M]):
    """The pages of a model's history."""

    # Whether the history is only for users who may read private fields: former names, addresses.
    private_history: ClassVar[bool] = False

    def get_urls(self) -> list[URLPattern]:
        wrap = self.admin_site.admin_view
        name = f"{self.opts.app_label}_{self.opts.model_name}"
        history_urls = [
            path("deleted/", wrap(self.deleted_view), name=f"{name}_deleted"),
            path("deleted/<int:change>/", wrap(self.bring_back_view), name=f"{name}_bring_back"),
            path("<path:object_id>/history/<int:version>/", wrap(self.restore_view), name=f"{name}_restore"),
        ]
        return [*history_urls, *super().get_urls()]

    # The timeline

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, object] | None = None
    ) -> HttpResponse:
        if parse_key(object_id) and self.get_object(request, object_id) is None:
            deletion = self.visible_deletions(request).filter(object_id=object_id).first()
            if deletion is not None:
                return redirect(self.page_address("bring_back", deletion.pk))
        row = self.history_row(request, object_id)
        changes = self.visible_changes(request, RowChange.objects.about(self.model, row.pk))
        changes_of_set = changes.filter(change_set=OuterRef("pk"))
        change_sets = ChangeSet.objects.filter(Exists(changes_of_set)).select_related("user")
        page = Paginator(change_sets, CHANGE_SETS_PER_PAGE).get_page(request.GET.get("p"))
        edition = edition_of(row)
        for change_set in page:
            vars(change_set)["link"] = self.reference_link(change_set)
            vars(change_set)["is_action"] = change_set.origin == Origin.ACTION
        page_changes = list(changes.filter(change_set__in=[change_set.pk for change_set in page]))
        context = self.page_context(
            request,
            _("Change history: %(row)s") % {"row": row},
            object=row,
            entries=change_set_rows(page, page_changes, edition),
            page_obj=page,
            edition=edition,
            can_restore=self.may_change_all_fields(request, row),
            schedule_state="both",
            has_unreleased_changes=self.has_unreleased_changes(request, row),
            **(extra_context or {}),
        )
        with working_on(edition):
            return TemplateResponse(request, "admin/history.html", context).render()

    def has_unreleased_changes(self, request: HttpRequest, row: M) -> bool:
        """Return whether changes of the row wait on a page that the user may see. One query."""
        changes, name = change_model(), target_names().get(self.opts.label_lower)
        if name is None or not access_for(request).may_all_rows("view", changes, edition_of(row)):
            return False
        is_waiting: bool = changes._base_manager.filter(**{name: row.pk}).exists()
        return is_waiting

    def history_row(self, request: HttpRequest, object_id: str) -> M:
        """Return the row. Raises `PermissionDenied` or `Http404` if the user may not see it."""
        if not self.has_view_or_change_permission(request):
            raise PermissionDenied
        row = self.get_object(request, unquote(object_id))
        if row is None:
            raise Http404("No such row.")
        if not self.may_see_history(request, row):
            raise PermissionDenied
        return row

    def may_see_history(self, request: HttpRequest, row: M) -> bool:
        """Return whether the user may see a row and all that its history shows."""
        is_readable = not self.private_history or access_for(request).may("private", self.model, row)
        return is_readable and self.has_view_or_change_permission(request, row)

    def visible_changes(self, request: HttpRequest, changes: QuerySet[RowChange]) -> QuerySet[RowChange]:
        """Return the changes in editions in which the user has a role, and those without an edition."""
        access = access_for(request)
        if access.may_everywhere("view", self.model):
            return changes
        return changes.filter(Q(edition_key__in=access.roles) | Q(edition_key__isnull=True))

    def reference_link(self, change_set: ChangeSet) -> str:
        """Return the address of the row behind a change set, such as an import run."""
        label, _sep, key = change_set.reference.partition(":")
        return reverse(f"admin:{label.replace('.', '_')}_change", args=[key]) if key else ""

    # Reverting

    def restore_view(self, request: HttpRequest, object_id: str, version: int) -> HttpResponse:
        """Preview the revert to a version; with POST, do it."""
        row = self.history_row(request, object_id)
        if not self.may_change_all_fields(request, row):
            raise PermissionDenied
        change_set = get_object_or_404(ChangeSet, pk=version)
        plan = version_plan(row, change_set.pk)
        title = _("Revert to a version: %(row)s") % {"row": row}
        return self.confirm_or_revert(
            request, title, plan, edition_of(row), change_set, self.page_address("history", row.pk)
        )

    def confirm_or_revert(
        self,
        request: HttpRequest,
        title: str,
        plan: list[RevertStep],
        edition: Edition | None,
        change_set: ChangeSet,
        back: str,
    ) -> HttpResponse:
        """Preview a plan; with POST, carry it out and redirect."""
        reasons = refused_steps(access_for(request), plan)
        if request.method == "POST" and plan and not reasons:
            try:
                revert(plan, Origin.RESTORE, request.user, f"{change_set.at:%Y-%m-%d %H:%M} UTC")
            except CannotRevertError as error:
                reasons = error.reasons
            else:
                message = ngettext("%(n)d row reverted.", "%(n)d rows reverted.", len(plan)) % {
                    "n": len(plan)
                }
                messages.success(request, message)
                restored_keys = [
                    step.key for step in plan if step.kind == "bring back" and step.model is self.model
                ]
                return redirect(self.page_address("change", restored_keys[0]) if restored_keys else back)
        context = self.page_context(
            request,
            title,
            edition=edition,
            plan=preview_steps(plan, edition),
            change_set=change_set,
            back=back,
            reasons=reasons,
        )
        with working_on(edition):
            return TemplateResponse(request, "admin/restore.html", context).render()

    # Deleted rows

    def visible_deletions(self, request: HttpRequest) -> QuerySet[RowChange]:
        """Return the deletions of this model that the user may see and revert."""
        deletions = RowChange.objects.deleted_directly().filter(model=self.opts.label_lower)
        deletions = deletions.select_related("change_set")
        access = access_for(request)
        if access.may_everywhere("view", self.model):
            return deletions
        # Users may restore rows without an edition that they deleted.
        own_deletions = Q(edition_key__isnull=True, change_set__user=request.user.pk)
        return deletions.filter(Q(edition_key__in=access.editions("add", self.model)) | own_deletions)

    def deleted_view(self, request: HttpRequest) -> HttpResponse:
        if not self.has_view_or_change_permission(request):
            raise PermissionDenied
        page = Paginator(self.visible_deletions(request), CHANGE_SETS_PER_PAGE).get_page(request.GET.get("p"))
        editions = get_edition_model().objects.in_bulk(
            {deletion.edition_key for deletion in page if deletion.edition_key}
        )
        for deletion in page:
            vars(deletion)["when"] = format_moment(deletion.change_set.at, editions.get(deletion.edition_key))
        existing = self.model._default_manager.filter(pk__in=[deletion.object_id for deletion in page])
        title = _("Deleted: %(rows)s") % {"rows": self.opts.verbose_name_plural}
        context = self.page_context(
            request,
            title,
            can_restore=self.has_add_permission(request),
            page_obj=page,
            existing_ids=set(existing.values_list("pk", flat=True)),
        )
        return TemplateResponse(request, "admin/deleted.html", context)

    def bring_back_view(self, request: HttpRequest, change: int) -> HttpResponse:
        """Preview a deleted row and the rows deleted with it; with POST, restore all of them."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        deletion = get_object_or_404(self.visible_deletions(request), pk=change)
        plan = restore_plan(deletion)
        edition = get_edition_model().objects.filter(pk=deletion.edition_key or 0).first()
        title = _("Revert a deletion: %(row)s") % {"row": deletion.label}
        return self.confirm_or_revert(
            request, title, plan, edition, deletion.change_set, self.page_address("deleted")
        )


STEP_ACTIONS = {"remove": "delete", "bring back": "add", "change": "change"}


def refused_steps(access: Access, plan: list[RevertStep]) -> list[str]:
    """Return a sentence for each step that the user may not do."""
    refused = [step for step in plan if not is_step_allowed(access, step)]
    message = _("You don’t have permission to change this: %(kind)s “%(name)s”.")
    return [message % {"kind": step.model._meta.verbose_name, "name": step.label} for step in refused]


def is_step_allowed(access: Access, step: RevertStep) -> bool:
    """Check the row before and after the step, which may move it to another edition."""
    action = STEP_ACTIONS[step.kind]
    if access.may_everywhere(action, step.model):
        return True
    rows = [step.row, restored_version(step) if step.kind != "remove" else None]
    return all(access.may_all_fields(action, step.model, row) for row in rows if row is not None)


def restored_version(step: RevertStep) -> Content:
    """Return an unsaved copy of the row with the foreign keys that a step would give it."""
    row = copy(step.row) if step.row is not None else step.model()
    for name, field in recorded_fields(step.model).items():
        if field.is_relation and name in step.pairs:
            setattr(row, field.attname, step.pairs[name][1])
    return row


def preview_steps(plan: list[RevertStep], edition: Edition | None) -> list[dict[str, object]]:
    names = RowLabels(
        reference
        for step in plan
        for name, pair in step.pairs.items()
        for reference in referenced_keys(step.model._meta.label_lower, name, pair)
    )
    verbs = {
        "remove": _("will be removed"),
        "bring back": _("will be restored"),
        "change": _("will be changed"),
    }
    rows: list[dict[str, object]] = []
    for step in plan:
        meta, pairs = step.model._meta, step.pairs if step.kind == "change" else {}
        lines = field_changes(meta.label_lower, pairs, names, edition)
        rows.append(
            {"model_name": meta.verbose_name, "label": step.label, "verb": verbs[step.kind], "lines": lines}
        )
    return rows


# Bulk actions and their reverts; an import has its own page.
UNDOABLE = (Origin.ACTION, Origin.UNDO)
# Functions for the page to open after a change set was reverted, or an empty string. Registered by apps.
UNDO_REDIRECTS: list[Callable[[ChangeSet], str]] = []


def take_back_view(request: HttpRequest, act: int, site: AdminSite) -> HttpResponse:
    """Preview the revert of a change set; with POST, do it."""
    change_set = get_object_or_404(ChangeSet, pk=act, reference="")
    if change_set.origin not in UNDOABLE and not has_unreleased_rows(change_set):
        raise Http404("Only actions and unreleased changes can be reverted here.")
    edition, was_public = edition_changed(change_set), change_set.pk in public_at_once([change_set])
    if not may_take_back(request, change_set, edition, was_public=was_public):
        raise PermissionDenied
    # What an action hid at once comes back at once.
    timing = StatusTiming.NOW if may_release(request, edition) else StatusTiming.USUAL
    with publishing() if was_public else status_timing(timing):
        return revert_page(request, change_set, site)


def may_release(request: HttpRequest, edition: Edition | None) -> bool:
    """Return whether the user may release unreleased changes of an edition."""
    return access_for(request).may_inline("add", release_model(), edition)


def may_take_back(
    request: HttpRequest, change_set: ChangeSet, edition: Edition | None, *, was_public: bool
) -> bool:
    """Return whether the user may revert an action or own edit, or if they may release, all edits.

    `was_public` tells whether the change set was public at once.
    """
    is_own = change_set.user_id is not None and change_set.user_id == request.user.pk
    if not was_public and (is_own or change_set.origin in UNDOABLE):
        return True
    return access_for(request).may_all_rows("change", change_model(), edition)


def revert_page(request: HttpRequest, change_set: ChangeSet, site: AdminSite) -> HttpResponse:
    permitted = Permitted(request, site, change_set)
    errors: list[str] = []
    if request.method == "POST":
        try:
            plan, undo_set = undo(change_set, request.user, permitted, by_row=True)
        except CannotRevertError as error:
            errors = error.reasons
        else:
            if not plan.is_permitted:
                raise PermissionDenied
            if plan.steps:
                messages.success(request, with_undo_link(undo_message(plan), undo_set))
            else:
                messages.warning(request, _("Nothing was reverted."))
            return redirect(address_after_undo(request, change_set))
    plan = undo_plan(change_set, permitted, by_row=True)
    if not plan.is_permitted:
        raise PermissionDenied
    context = {
        "errors": errors,
        **site.each_context(request),
        "title": _("Revert: %(act)s") % {"act": change_set.detail or change_set},
        "change_set": change_set,
        "done_at": format_moment(change_set.at, edition_changed(change_set)),
        "count": len(plan.steps),
        "reverted_groups": reverted_groups(plan),
        "kept_groups": kept_groups(plan),
        "list_url": address_after_undo(request, change_set),
    }
    return TemplateResponse(request, "admin/take_back.html", context)


def edition_changed(change_set: ChangeSet) -> Edition | None:
    """Return the edition of the first changed row that has one."""
    row = change_set.rows.filter(edition_key__isnull=False).order_by("pk").first()
    return get_edition_model().objects.filter(pk=row.edition_key or 0).first() if row else None


def address_after_undo(request: HttpRequest, change_set: ChangeSet) -> str:
    """Return the page that a redirect function names, else the list of the first changed row."""
    if address := next(filter(None, (page_of(change_set) for page_of in UNDO_REDIRECTS)), ""):
        return address
    row = change_set.rows.order_by("pk").first()
    if row is None:
        return reverse("admin:index")
    model = row.model
    if model == change_model()._meta.label_lower:
        if access_for(request).may_all_rows("view", change_model(), edition_changed(change_set)):
            page = admin_urlname(release_model()._meta, SafeString("working_copy"))
            return reverse(page, query={"edition": row.edition_key})
        model = row.owner.partition(":")[0]
    return reverse(f"admin:{model.replace('.', '_')}_changelist")


@dataclass(frozen=True, slots=True)
class Permitted:
    """Filters the steps of a revert to those that the user may do."""

    request: HttpRequest
    site: AdminSite
    act: ChangeSet

    def __call__(self, steps: list[RevertStep]) -> list[RevertStep]:
        """Return the allowed steps. One or two queries for 500 rows of one model."""
        keys_by_group: dict[tuple[type[Content], str], list[int]] = {}
        for step in steps:
            keys_by_group.setdefault((step.model, STEP_ACTIONS[step.kind]), []).append(step.key)
        visible = {
            (model, action): self.visible_keys(model, action, keys)
            for (model, action), keys in keys_by_group.items()
        }
        return [
            step
            for step in steps
            if (step.row is None or step.key in visible[step.model, STEP_ACTIONS[step.kind]])
            and self.may(step)
        ]

    def visible_keys(self, model: type[Content], action: str, keys: list[int]) -> set[int]:
        """Return the keys of those rows that the user sees in lists."""
        if model is change_model():
            return {*keys}
        rows = self.site.get_model_admin(model).get_queryset(self.request).order_by()
        visible: set[int] = set()
        for batch in batched(keys, BATCH_ROWS, strict=False):
            visible.update(rows.filter(pk__in=batch).values_list("pk", flat=True))
            access_for(self.request).prefetch_scope(action, model, batch)
        return visible

    def may(self, step: RevertStep) -> bool:
        """Return whether a step is allowed. Users may restore rows without an edition that they deleted."""
        access, action = access_for(self.request), STEP_ACTIONS[step.kind]
        if step.model is change_model():
            return self.may_change_unreleased(access, step)
        model_admin = self.site.get_model_admin(step.model)
        if not getattr(model_admin, f"has_{action}_permission")(self.request, step.row):
            return False
        if step.row is None and step.model in SCOPES and not access.may_everywhere(action, step.model):
            return bool(self.act.user_id == self.request.user.pk)
        return is_step_allowed(access, step)

    def may_change_unreleased(self, access: Access, step: RevertStep) -> bool:
        """Return whether the user may release the change, or made it and may change its row."""
        change: Any = step.row or restored_version(step)
        if access.may("change", step.model, change):
            return True
        is_own = self.act.user_id is not None and self.act.user_id == self.request.user.pk
        return is_own and access.may("change", type(change.row), change.row)


def undo_message(plan: RevertPlan) -> str:
    count, kept_count = len(plan.steps), len(plan.kept)
    message = ngettext("%(count)d row reverted.", "%(count)d rows reverted.", count) % {"count": count}
    if kept_count:
        kept_message = ngettext("%(count)d stays unchanged.", "%(count)d stay unchanged.", kept_count)
        message += f" {kept_message % {'count': kept_count}}"
    return message


def reverted_groups(plan: RevertPlan) -> list[dict[str, object]]:
    """Return the reverted rows, grouped by model and kind of change."""
    sentences = {
        "change": _("%(count)d %(rows)s reverted"),
        "bring back": _("%(count)d %(rows)s restored"),
        "remove": _("%(count)d %(rows)s deleted again"),
    }
    labels: dict[tuple[type[Content], str], list[str]] = {}
    for step in plan.steps:
        labels.setdefault((step.model, step.kind), []).append(step.label)
    groups = []
    for (model, kind), names in labels.items():
        meta, count = model._meta, len(names)
        rows = meta.verbose_name if count == 1 else meta.verbose_name_plural
        groups.append(name_group(sentences[kind] % {"count": count, "rows": rows}, names))
    return groups


def kept_groups(plan: RevertPlan) -> list[dict[str, object]]:
    """Return the rows that are not reverted, grouped by reason. Names that the user may not see are empty."""
    groups: dict[str, list[str]] = {}
    for row in plan.kept:
        groups.setdefault(row.reason, []).append(row.words)
    return [name_group(reason, names) for reason, names in groups.items()]


def name_group(sentence: str, names: list[str]) -> dict[str, object]:
    """Return the template context of a group of rows."""
    visible_names = [name for name in names[:MAX_NAMED_ROWS] if name]
    return {
        "sentence": sentence,
        "count": len(names),
        "names": visible_names,
        "more": max(0, len(names) - MAX_NAMED_ROWS),
    }
