"""Imports in the admin, to read: what came in, what is remembered of it, and how it is taken back."""

import json
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Count, Model, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django_tasks_db.models import DBTaskResult

from content.revert import CannotRevertError
from editorial.access import ScopedAdmin, access_for
from editorial.pages import page_urls
from exchange.admin.jobs import COUNTED
from exchange.imports.compare import WORDS
from exchange.imports.kinds import KINDS
from exchange.jobs.import_permissions import permit_undo
from exchange.jobs.undo import plan, summary, undo
from exchange.models import ImportJob, ImportRun, Provenance


class ReadOnlyAdmin(ScopedAdmin):
    """Rows that imports write and people read."""

    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


def row_address(kind: str, key: int) -> str:
    meta = KINDS[kind].model._meta
    return reverse(f"admin:{meta.app_label}_{meta.model_name}_change", args=[key])


def may_undo(model_admin: ScopedAdmin, request: HttpRequest, run: ImportRun) -> bool:
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
            messages.success(
                request, gettext("The import was reverted: %s.") % (", ".join(summary(done)) or "-")
            )
            return redirect("admin:exchange_importrun_change", run.pk)
    except CannotRevertError as error:
        reasons = error.reasons
    context = {
        **model_admin.admin_site.each_context(request),
        "title": gettext("Revert an import: %(run)s") % {"run": run},
        "opts": model_admin.opts,
        "run": run,
        "reasons": reasons,
        "lines": summary(found) if found else [],
        "kept": found.kept if found else [],
        "can_go": found is not None and not reasons,
    }
    return TemplateResponse(request, "admin/exchange/importrun/undo.html", context)


# Its list of tasks speaks to programmers; uploads say the same to chairs.
admin.site.unregister(DBTaskResult)


@admin.register(ImportRun)
class ImportRunAdmin(ReadOnlyAdmin):
    list_display = ["started_at", "edition", "format", "source", "user", "summary", "open_conflicts"]
    list_filter = ["edition", "format"]
    list_select_related = ["edition", "user"]
    date_hierarchy = "started_at"
    fieldsets = [
        (None, {"fields": ["edition", "format", "source", "user", "started_at", "finished_at", "undone_at"]}),
        (_("What came in"), {"fields": ["counted"]}),
        (_("To look at"), {"fields": ["remarks"]}),
    ]

    def get_urls(self) -> list[URLPattern]:
        return [*page_urls(self, [("<int:key>/undo/", "undo", undo_view)]), *super().get_urls()]

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, object] | None = None,
    ) -> HttpResponse:
        run = self.get_object(request, object_id)
        can_undo = run is not None and run.undone_at is None and may_undo(self, request, run)
        more = {"can_undo": can_undo, **(extra_context or {})}
        return super().change_view(request, object_id, form_url, more)

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, object] | None = None
    ) -> HttpResponse:
        jobs = self.admin_site.get_model_admin(ImportJob)
        may = {
            "can_import": jobs.has_add_permission(request),
            "sees_uploads": jobs.has_view_permission(request),
        }
        return super().changelist_view(request, {**may, **(extra_context or {})})

    def get_queryset(self, request: HttpRequest) -> QuerySet[ImportRun]:
        still_open = Count("conflicts", filter=Q(conflicts__resolved_at__isnull=True))
        counted: QuerySet[ImportRun] = super().get_queryset(request).annotate(open_count=still_open)
        return counted

    @admin.display(description=_("files"))
    def source(self, run: ImportRun) -> str:
        return ", ".join(run.files)

    @admin.display(description=_("rows"))
    def summary(self, run: ImportRun) -> str:
        sums = {word: sum(counts[word] for counts in run.counts.values()) for word in WORDS}
        return ", ".join(f"{number} {COUNTED[word]}" for word, number in sums.items() if number)

    @admin.display(description=_("open conflicts"))
    def open_conflicts(self, run: Any) -> int:
        return int(run.open_count)

    @admin.display(description=_("rows"))
    def counted(self, run: ImportRun) -> SafeString:
        head = format_html_join("", "<th>{}</th>", ((word,) for word in (_("kind"), *COUNTED.values())))
        body = format_html_join(
            "",
            "<tr><th>{}</th>{}</tr>",
            (
                (
                    KINDS[kind].model._meta.verbose_name_plural,
                    format_html_join("", "<td>{}</td>", ((counts[word],) for word in WORDS)),
                )
                for kind, counts in run.counts.items()
            ),
        )
        return format_html("<table><thead><tr>{}</tr></thead><tbody>{}</tbody></table>", head, body)

    @admin.display(description=_("remarks"))
    def remarks(self, run: ImportRun) -> SafeString | str:
        if not run.notes:
            return gettext("None.")
        return format_html("<ul>{}</ul>", format_html_join("", "<li>{}: {} {}</li>", run.notes))


@admin.register(Provenance)
class ProvenanceAdmin(ReadOnlyAdmin):
    list_display = ["__str__", "kind", "edition", "run"]
    list_filter = ["edition", "kind"]
    list_select_related = ["edition", "run__edition"]
    fields = ["row", "edition", "run", "remembered"]

    @admin.display(description=_("row"))
    def row(self, provenance: Provenance) -> SafeString:
        address = row_address(provenance.kind, provenance.object_id)
        return format_html('<a href="{}">{}</a>', address, provenance)

    @admin.display(description=_("values as imported"))
    def remembered(self, provenance: Provenance) -> SafeString:
        pairs = (
            (name, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1))
            for name, value in provenance.values.items()
        )
        return format_html("<dl>{}</dl>", format_html_join("", "<dt>{}</dt><dd>{}</dd>", pairs))
