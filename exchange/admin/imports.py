"""Admin of imports: uploads, runs with their provenance, and reverting."""

import json
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db import DatabaseError, transaction
from django.db.models import Model, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.tasks import default_task_backend
from django.template.loader import render_to_string
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html, format_html_join
from django.utils.http import urlencode
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django_tasks_db.models import DBTaskResult

from accounts.access_scope import current_access
from conference.models import Edition
from content.history.revert import CannotRevertError
from content.storage.failures import failed_save
from content.storage.uploads import upload_failure
from content.unreleased.plan import planned
from editorial.access import ScopedAdmin, access_for
from editorial.current_edition import editions_for, format_moment, requested_edition, working_on
from editorial.desk import ADD_LINKS, AddLink
from editorial.failed_saves import STATUS
from editorial.lists import with_count
from editorial.model_admin import render_response
from editorial.sections import DeskSection
from exchange.admin import columns, preview_page
from exchange.admin.preview_page import OUTCOME_LABELS, count_table, total_counts
from exchange.formats import formats, readable
from exchange.imports.kinds import KINDS
from exchange.imports.publication import Publication
from exchange.jobs import progress, tasks, uploads
from exchange.jobs.column_choice import describe_tables
from exchange.jobs.import_permissions import check_undo_permissions, may_import_all
from exchange.jobs.preview import kind_name, row_address
from exchange.jobs.undo import plan_undo, summarize_undo, undo
from exchange.jobs.upload_form import UploadForm, file_name
from exchange.models import ColumnMapping, ImportJob, ImportRun, Provenance, with_run
from exchange.problems import Note, note_sections

# The names of the stages of writing are this prefix and the kind of rows.
WRITING_PREFIX = "writing "
State = ImportJob.State
# Buttons of the page of columns: continue with these columns, store them, delete the stored mapping.
COLUMN_ACTIONS = ("map", "show", "forget")
RESTARTABLE_STATES = (State.REFUSED, State.FAILED)


def describe_stage(job: ImportJob) -> str:
    """Return a description of a job's stage, empty if it is not being processed."""
    if not job.is_working:
        return ""
    if job.is_unclaimed():
        return gettext("No worker has taken this import.")
    if job.progress is None:
        return gettext("Waiting for the worker")
    return gettext("The worker has stopped.") if job.is_lost() else _stage_label(job.progress.what)


def _stage_label(stage: str) -> str:
    kind_names = {kind.plural or name: name for name, kind in KINDS.items()}
    written = stage.removeprefix(WRITING_PREFIX)
    if stage.startswith(WRITING_PREFIX) and written in kind_names:
        return gettext("Writing: %(rows)s") % {"rows": kind_name(kind_names[written])}
    if stage in kind_names:
        return gettext("Comparing: %(rows)s") % {"rows": kind_name(kind_names[stage])}
    labels = {
        "fetched": gettext("Fetching the program"),
        "checking": gettext("Checking the rows"),
        "storing": gettext("Preparing the preview"),
    }
    return labels.get(stage, gettext("Reading the files"))


def job_context(job: ImportJob) -> dict[str, object]:
    """Return the common context of the pages of a job. Makes no queries."""
    fmt, sums = formats().get(job.format), total_counts(job.counts)
    return {
        "uploaded": format_moment(job.created_at, job.edition),
        "format": fmt.label if fmt else job.format,
        **count_table(job.counts),
        "sums": sums,
        "changes": sums["new"] + sums["changed"],
        "sections": note_sections(Note.restored(*note) for note in job.notes),
    }


ADD_LINKS.append(
    AddLink(ImportJob, _("Import"), "admin:exchange_importjob_add", fills_edition=True, position=50)
)


@admin.register(ImportJob)
class ImportJobAdmin(ScopedAdmin):
    """Uploads: previews, progress and results."""

    desk_section = DeskSection.IMPORTS
    desk_order = 10
    list_display = ["__str__", "edition", "shown_state", "format", "user", "uploaded"]
    list_filter = ["edition", "state"]
    list_select_related = ["edition", "user"]
    show_full_result_count = False

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.progress_view)
        return [path("<int:key>/progress/", view, name="exchange_importjob_progress"), *super().get_urls()]

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    @admin.display(description=_("state"), ordering="state")
    def shown_state(self, job: ImportJob) -> str:
        return gettext("Stopped") if job.is_lost() else job.get_state_display()

    @admin.display(description=_("uploaded at"), ordering="created_at")
    def uploaded(self, job: ImportJob) -> str:
        return format_moment(job.created_at, job.edition)

    # Permissions

    def editions(self, request: HttpRequest) -> list[Edition]:
        """Return the editions that the account may import into, by a role or by Django permissions."""
        access = access_for(request)
        edition_keys = access.editions("add", ImportJob)
        may_all = may_import_all(access)
        return [edition for edition in editions_for(request) if may_all or edition.pk in edition_keys]

    def may_add_edition(self, request: HttpRequest) -> bool:
        return self.admin_site.get_model_admin(Edition).has_add_permission(request)

    def may_continue(self, request: HttpRequest, job: ImportJob) -> bool:
        if not self.has_change_permission(request, job):
            return False
        if job.edition is None:
            return self.may_add_edition(request)
        return job.edition in self.editions(request)

    # Upload

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, object] | None = None
    ) -> HttpResponse:
        if not self.has_add_permission(request):
            raise PermissionDenied
        if request.method != "POST":
            tasks.sweep()
        editions = self.editions(request)
        may_add = self.may_add_edition(request)
        failure = upload_failure(request) if request.method == "POST" else None
        if request.method == "POST":
            form = UploadForm(request.POST, request.FILES, editions=editions, may_add=may_add)
            if failure:
                form.add_error(None, failure)
            elif form.is_valid():
                try:
                    tasks.sweep()
                    job = self.create_job(request, form.cleaned_data)
                except (DatabaseError, OSError) as error:
                    failure = failed_save(error)
                    if failure is None:
                        raise
                    form.add_error(None, failure)
                else:
                    return redirect("admin:exchange_importjob_change", job.pk)
        else:
            requested = requested_edition(request)
            initial: dict[str, object] = {"edition": requested.pk if requested in editions else None}
            form = UploadForm(initial=initial, editions=editions, may_add=may_add)
        context = self.page_context(
            request,
            gettext("Import a program"),
            form=form,
            formats=readable().values(),
            sees_memory=self.admin_site.get_model_admin(ColumnMapping).has_view_permission(request),
        )
        status = STATUS if failure else 200
        return TemplateResponse(request, "admin/exchange/importjob/upload.html", context, status=status)

    def create_job(self, request: HttpRequest, data: dict[str, Any]) -> ImportJob:
        files = data["uploads"]
        names = [file_name(upload) for upload in files]
        job = ImportJob(edition=data["edition"], format=data["format"], files=names, url=data["url"])
        job.user = job.uploaded_by = request.user  # type: ignore[assignment]  # login required
        job.state = State.MAPPING if data["is_mapped"] else State.READING
        with transaction.atomic():
            job.save()
            uploads.store(job, (upload.chunks() for upload in files))
        if data["is_mapped"]:
            describe_tables(job).store(job)
            return job
        if data["url"] and data["token"]:
            progress.store_token(job.pk, data["token"])
        tasks.preview.enqueue(job.pk)
        return job

    # One job

    def job(self, request: HttpRequest, key: int | str) -> ImportJob:
        if not self.has_view_permission(request):
            raise PermissionDenied
        job: ImportJob | None = self.get_object(request, str(key))
        if job is None:
            raise Http404("No such import.")
        if not self.has_view_permission(request, job):
            raise PermissionDenied
        return job

    def get_queryset(self, request: HttpRequest) -> QuerySet[ImportJob]:
        return with_run(super().get_queryset(request).select_related("edition", "user"))

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, object] | None = None,
    ) -> HttpResponse:
        """Show the state of a job; with POST, continue it."""
        job = self.job(request, object_id)
        may_continue = self.may_continue(request, job)
        if request.method == "POST":
            if not may_continue:
                raise PermissionDenied
            self.continue_job(request, job, request.POST.get("do", ""))
            return redirect("admin:exchange_importjob_change", job.pk)
        page = "progress" if job.is_working else job.state
        page_values: dict[str, object] = {}
        if job.state == State.READY:
            page_values = preview_page.page_context(request, job)
        elif job.state == State.MAPPING:
            page_values = columns.page_context(job)
        elif job.state == State.REFUSED:
            page_values = preview_page.problems_context(job)
        context = self.page_context(
            request,
            gettext("Import: %(job)s") % {"job": job},
            job=job,
            may=may_continue,
            stage=describe_stage(job),
            runs_again=default_task_backend.supports_defer,
            **job_context(job),
            **page_values,
        )
        return TemplateResponse(request, f"admin/exchange/importjob/{page}.html", context)

    def continue_job(self, request: HttpRequest, job: ImportJob, action: str) -> None:
        """Perform the action of a button of the job's page. Pressing it twice performs it once."""
        is_over = job.is_lost() or job.is_unclaimed() or job.state in RESTARTABLE_STATES
        # The import runs with the permissions of the account that confirms it.
        new_values: dict[str, Any] = {"user": request.user, "is_again": False}
        if action in COLUMN_ACTIONS and job.state == State.MAPPING:
            self.choose_columns(request, job)
        elif (
            action == "columns"
            and job.columns
            and job.has_files
            and job.state in (State.READY, *RESTARTABLE_STATES)
            and job.change_state(State.MAPPING, before=job.state, problems=[], **new_values)
        ):
            progress.delete_progress(job.pk)
        elif action == "confirm" and job.question and "confirmed" not in request.POST:
            messages.error(request, gettext("Nothing was imported: confirm first that the dates are right."))
        elif action == "confirm" and job.change_state(State.WRITING, before=State.READY, **new_values):
            tasks.write.enqueue(job.pk)
        elif action == "leave_out" and not request.POST.getlist("left_out"):
            messages.error(request, gettext("Nothing was left out: tick the rows first."))
        elif (preview_values := self.preview_values(request, job, action, is_over)) is not None and (
            job.change_state(State.READING, before=job.state, problems=[], **preview_values, **new_values)
        ):
            # Another account does not use the token of the first one.
            progress.delete_job_entries(job.pk)
            tasks.preview.enqueue(job.pk)
        elif action == "drop" and (is_over or job.state in (State.READY, State.MAPPING)):
            if job.change_state(State.DROPPED, before=job.state):
                tasks.sweep()
                messages.success(request, gettext("The import was canceled. Nothing was changed."))
        else:
            messages.warning(
                request, gettext("This import has continued in the meantime. Its current state is below.")
            )

    def preview_values(
        self, request: HttpRequest, job: ImportJob, action: str, is_over: bool
    ) -> dict[str, Any] | None:
        """Return what a new preview stores in the job; `None` if the button asks for none now."""
        choice = request.POST.get("publication", "")
        if action == "publish" and job.state == State.READY and choice in Publication.values:
            return {"publication": choice}
        if action == "leave_out" and job.state in (State.READY, State.REFUSED):
            left_out = columns.without_ticked_rows(job, request)
            return {"columns": left_out} if left_out else None
        return {} if action == "again" and is_over else None

    def choose_columns(self, request: HttpRequest, job: ImportJob) -> None:
        """Store the fields of the columns; start the preview if the form asks for it and is valid."""
        try:
            can_continue = columns.store_choice(job, request)
        except uploads.FilesLostError as error:
            messages.error(request, str(error))
            return
        if can_continue:
            job.user = request.user  # type: ignore[assignment]  # login required
            if job.change_state(State.READING, before=State.MAPPING, user=job.user, is_again=False):
                tasks.preview.enqueue(job.pk)

    def progress_view(self, request: HttpRequest, key: int) -> HttpResponse:
        job = self.job(request, key)
        runs_again = default_task_backend.supports_defer
        context = {"job": job, "stage": describe_stage(job), "runs_again": runs_again}
        response = TemplateResponse(request, "admin/exchange/importjob/_progress.html", context)
        response["Cache-Control"] = "no-store"
        return response


# Imported rows


class ReadOnlyAdmin(ScopedAdmin):
    """Base of the admins of rows that only imports write."""

    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


def may_undo(model_admin: ScopedAdmin, request: HttpRequest, run: ImportRun) -> bool:
    return access_for(request).may("delete", ImportRun, run) and model_admin.has_view_permission(request, run)


def undo_view(model_admin: ScopedAdmin, request: HttpRequest, key: int) -> HttpResponse:
    """Show what reverting the run would do; with POST, revert it."""
    run = get_object_or_404(model_admin.get_queryset(request), pk=key)
    if not may_undo(model_admin, request, run):
        raise PermissionDenied
    plan, reasons = None, []
    try:
        with planned(run.edition):
            plan = plan_undo(run)
        check_undo_permissions(plan, request.user)
        if request.method == "POST":
            reverted = undo(run, request.user, check=check_undo_permissions)
            messages.success(
                request,
                gettext("The import was reverted: %s.") % (", ".join(summarize_undo(reverted)) or "-"),
            )
            return redirect("admin:exchange_importrun_change", run.pk)
    except CannotRevertError as error:
        reasons = error.reasons
    context = model_admin.page_context(
        request,
        gettext("Revert an import: %(run)s") % {"run": run},
        run=run,
        reasons=reasons,
        lines=summarize_undo(plan) if plan else [],
        kept_rows=plan.kept if plan else [],
        can_revert=plan is not None and not reasons,
    )
    return TemplateResponse(request, "admin/exchange/importrun/undo.html", context)


# The list of tasks is for developers. The admin of imports shows the same state to chairs.
admin.site.unregister(DBTaskResult)


@admin.register(ImportRun)
class ImportRunAdmin(ReadOnlyAdmin):
    desk_section = DeskSection.IMPORTS
    list_display = ["started", "edition", "format", "source", "user", "summary", "open_conflicts"]
    list_filter = ["edition", "format"]
    list_select_related = ["edition", "user"]
    date_hierarchy = "started_at"
    fieldsets = [
        (None, {"fields": ["edition", "format", "source", "user", "started_at", "finished_at", "undone_at"]}),
        (_("What came in"), {"fields": ["counted"]}),
        (_("To review"), {"fields": ["remarks"]}),
    ]
    pages = [("<int:key>/undo/", "undo", undo_view)]

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, object] | None = None,
    ) -> HttpResponse:
        run = self.get_object(request, object_id)
        can_undo = run is not None and run.undone_at is None and may_undo(self, request, run)
        rows = f"{reverse('admin:exchange_provenance_changelist')}?{urlencode({'run__id__exact': object_id})}"
        tools = [{"label": gettext("Imported rows"), "address": rows}]
        context = {"can_undo": can_undo, "tools": tools, **(extra_context or {})}
        with working_on(run.edition if run else None):
            return render_response(super().change_view(request, object_id, form_url, context))

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, object] | None = None
    ) -> HttpResponse:
        jobs = self.admin_site.get_model_admin(ImportJob)
        permissions = {
            "can_import": jobs.has_add_permission(request),
            "sees_uploads": jobs.has_view_permission(request),
        }
        return super().changelist_view(request, {**permissions, **(extra_context or {})})

    def get_queryset(self, request: HttpRequest) -> QuerySet[ImportRun]:
        undecided = with_count(ImportRun, "conflicts", resolved_at__isnull=True)
        # The list shows neither the keys of rows nor the notes, which may be thousands.
        runs = super().get_queryset(request).defer("created", "notes")
        annotated: QuerySet[ImportRun] = runs.annotate(open_count=undecided)
        return annotated

    @admin.display(description=_("started at"), ordering="started_at")
    def started(self, run: ImportRun) -> str:
        return format_moment(run.started_at, run.edition)

    @admin.display(description=_("files"))
    def source(self, run: ImportRun) -> str:
        return ", ".join(run.files)

    @admin.display(description=_("rows"))
    def summary(self, run: ImportRun) -> str:
        return ", ".join(
            f"{number} {OUTCOME_LABELS[outcome]}"
            for outcome, number in total_counts(run.counts).items()
            if number
        )

    @admin.display(description=_("open conflicts"))
    def open_conflicts(self, run: Any) -> int:
        return int(run.open_count)

    @admin.display(description=_("rows"))
    def counted(self, run: ImportRun) -> SafeString:
        return render_to_string("admin/exchange/importjob/_counts.html", count_table(run.counts))

    @admin.display(description=_("remarks"))
    def remarks(self, run: ImportRun) -> SafeString | str:
        if not run.notes:
            return gettext("None.")
        sections = note_sections(Note.restored(*note) for note in run.notes)
        return render_to_string("admin/exchange/_remarks.html", {"sections": sections})


@admin.register(Provenance)
class ProvenanceAdmin(ReadOnlyAdmin):
    list_display = ["__str__", "kind", "edition", "run"]
    list_filter = ["edition", "kind"]
    fields = ["row", "edition", "run", "remembered"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Provenance]:
        return with_run(super().get_queryset(request).select_related("edition").defer("values"))

    @admin.display(description=_("row"))
    def row(self, provenance: Provenance) -> SafeString | str:
        access = current_access()
        row = KINDS[provenance.kind].model._base_manager.filter(pk=provenance.object_id).first()
        if row is None or (access is not None and not access.may("view", type(row), row)):
            return str(provenance)
        address = row_address(provenance.kind, provenance.object_id)
        return format_html('<a href="{}">{}</a>', address, provenance)

    @admin.display(description=_("values as imported"))
    def remembered(self, provenance: Provenance) -> SafeString:
        pairs = (
            (name, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1))
            for name, value in provenance.values.items()
        )
        return format_html("<dl>{}</dl>", format_html_join("", "<dt>{}</dt><dd>{}</dd>", pairs))
