"""Imports in the admin, to read: what came in, and what is remembered of it."""

from typing import Any

from django.contrib import admin
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django_tasks_db.models import DBTaskResult

from editorial.pages import page_urls
from exchange.admin.conflicts import ConflictAdmin
from exchange.admin.job_pages import COUNTED
from exchange.admin.jobs import ImportJobAdmin
from exchange.admin.read_only import ReadOnlyAdmin, in_words, row_link
from exchange.admin.undo import may_undo, undo_view
from exchange.exports import list_files
from exchange.imports.compare import WORDS
from exchange.imports.kinds import KINDS
from exchange.models import ImportJob, ImportRun, Provenance

__all__ = ["ConflictAdmin", "ImportJobAdmin", "list_files"]

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
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        run = self.get_object(request, object_id)
        can_undo = run is not None and run.undone_at is None and may_undo(self, request, run)
        more = {"can_undo": can_undo, **(extra_context or {})}
        return super().change_view(request, object_id, form_url, more)

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        jobs = self.admin_site.get_model_admin(ImportJob)
        may = {
            "can_import": jobs.has_add_permission(request),
            "sees_uploads": jobs.has_view_permission(request),
        }
        return super().changelist_view(request, {**may, **(extra_context or {})})

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        still_open = Count("conflicts", filter=Q(conflicts__resolved_at__isnull=True))
        rows: Any = super().get_queryset(request)
        counted: QuerySet[Any] = rows.annotate(open_count=still_open)
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
        return row_link(provenance.kind, provenance.object_id, str(provenance))

    @admin.display(description=_("values as imported"))
    def remembered(self, provenance: Provenance) -> SafeString:
        pairs = ((name, in_words(value)) for name, value in provenance.values.items())
        return format_html("<dl>{}</dl>", format_html_join("", "<dt>{}</dt><dd>{}</dd>", pairs))
