"""Imports in the admin, to read: what came in, what is remembered of it, what contradicts edits made here."""

import json
from typing import Any

from django.contrib import admin
from django.db.models import Count, Model, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext_lazy, pgettext
from django.utils.translation import gettext_lazy as _
from django_tasks_db.models import DBTaskResult

from conference.adminaccess import ScopedAdmin
from conference.desk import DUTIES, Duty
from exchange.jobadmin import ImportJobAdmin
from exchange.loading.kinds import KINDS
from exchange.loading.steps import WORDS
from exchange.models import Conflict, ImportJob, ImportRun, Provenance
from exchange.runwords import COUNTED
from exchange.undoadmin import UndoAdmin

__all__ = ["ImportJobAdmin"]

SHORT = 80
# Its list of tasks speaks to programmers; uploads say the same to chairs.
admin.site.unregister(DBTaskResult)

DUTIES.append(
    Duty(
        Conflict,
        ngettext_lazy("import conflict to decide", "import conflicts to decide", "count"),
        lambda rows: rows.undecided(),
        (("state", "open"),),
        "run__edition",
        "run__edition__id__exact",
        place=40,
    )
)


class ReadOnlyAdmin(ScopedAdmin):
    """Rows that imports write and people read."""

    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


def row_link(kind: str, key: int, words: str) -> SafeString:
    """Return a link to the form of an imported row."""
    meta = KINDS[kind].model._meta
    address = reverse(f"admin:{meta.app_label}_{meta.model_name}_change", args=[key])
    return format_html('<a href="{}">{}</a>', address, words)


def in_words(value: Any) -> str:
    """Return a remembered value as it can be read: text as text, all else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1)


def shortened(value: Any) -> str:
    text = in_words(value)
    return text if len(text) <= SHORT else f"{text[:SHORT]}…"


class OpenFilter(admin.SimpleListFilter):
    """Conflicts that wait for a decision, unless all are asked for."""

    title = _("state")
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("open", pgettext("conflicts", "Open")), ("decided", pgettext("conflicts", "Decided"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        rows: Any = queryset
        narrow = {"open": lambda: rows.undecided(), "decided": lambda: rows.decided()}
        narrowed: QuerySet[Any] = narrow.get(self.value() or "", lambda: rows)()
        return narrowed


@admin.register(ImportRun)
class ImportRunAdmin(UndoAdmin, ReadOnlyAdmin):
    list_display = ["started_at", "edition", "format", "source", "user", "summary", "open_conflicts"]
    list_filter = ["edition", "format"]
    list_select_related = ["edition", "user"]
    date_hierarchy = "started_at"
    fieldsets = [
        (None, {"fields": ["edition", "format", "source", "user", "started_at", "finished_at", "undone_at"]}),
        (_("What came in"), {"fields": ["counted"]}),
        (_("To look at"), {"fields": ["remarks"]}),
    ]

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
        head = format_html_join("", "<th>{}</th>", ((word,) for word in ("", *COUNTED.values())))
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


@admin.register(Conflict)
class ConflictAdmin(ReadOnlyAdmin):
    list_display = ["label", "kind", "field", "ours_short", "theirs_short", "created_at", "resolved_at"]
    list_filter = [OpenFilter, "run__edition", "provenance__kind", "field"]
    list_select_related = ["provenance", "run__edition"]
    search_fields = ["label"]
    fields = [
        "row",
        "field",
        "ours_whole",
        "theirs_whole",
        "base_whole",
        "run",
        "created_at",
        "resolved_at",
    ]

    @admin.display(description=_("kind"), ordering="provenance__kind")
    def kind(self, conflict: Conflict) -> str:
        return conflict.provenance.get_kind_display()

    @admin.display(description=_("row"))
    def row(self, conflict: Conflict) -> SafeString:
        return row_link(conflict.provenance.kind, conflict.provenance.object_id, conflict.label)

    @admin.display(description=_("here"))
    def ours_short(self, conflict: Conflict) -> str:
        return shortened(conflict.ours)

    @admin.display(description=_("in the file"))
    def theirs_short(self, conflict: Conflict) -> str:
        return shortened(conflict.theirs)

    @admin.display(description=_("here"))
    def ours_whole(self, conflict: Conflict) -> str:
        return in_words(conflict.ours)

    @admin.display(description=_("in the file"))
    def theirs_whole(self, conflict: Conflict) -> str:
        return in_words(conflict.theirs)

    @admin.display(description=_("as last imported"))
    def base_whole(self, conflict: Conflict) -> str:
        return in_words(conflict.base)


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
