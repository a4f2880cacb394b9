"""The pages of imports, from the upload to the result: what one job is at, what it counted."""

from dataclasses import dataclass
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db import transaction
from django.db.models import Model, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from conference.models import Edition
from editorial.access import ScopedAdmin, access_for
from editorial.current_edition import asked_edition, editions_for
from exchange.formats import formats, readable
from exchange.imports.kinds import KINDS
from exchange.jobs import private_files, tasks
from exchange.jobs.import_permissions import may_import_all
from exchange.jobs.preview import kind_name, shown
from exchange.jobs.upload_form import UploadForm, file_name
from exchange.models import ImportJob, RecordKind

# Stages that are no kind of rows.
WRITING = "writing "
NOTES_SHOWN = 100
# What became of rows, in words: after a number or above a column.
COUNTED = {
    "new": pgettext_lazy("imported rows", "new"),
    "changed": pgettext_lazy("imported rows", "changed"),
    "kept": pgettext_lazy("imported rows", "kept"),
    "conflicting": pgettext_lazy("imported rows", "conflicting"),
    "skipped": pgettext_lazy("imported rows", "skipped"),
}


@dataclass(frozen=True, slots=True)
class Stage:
    """How far a job is: words, and a number out of a number, or none."""

    words: str
    done: int = 0
    total: int = 0
    is_lost: bool = False
    is_neglected: bool = False

    @property
    def percent(self) -> int:
        return 100 * self.done // self.total if self.total else 0


def progress_of(job: ImportJob) -> Stage | None:
    """Return how far a job is; nothing if it is not at work."""
    if not job.is_working:
        return None
    if job.is_neglected():
        return Stage(_("No worker has taken this import."), is_neglected=True)
    if job.progress is None:
        return Stage(_("Waiting for the worker"))
    if job.is_lost():
        return Stage(_("The worker has stopped."), is_lost=True)
    return Stage(_words(job.progress.what), job.progress.done, job.progress.total)


def _words(what: str) -> str:
    known = {kind.many or name: name for name, kind in KINDS.items()}
    if what.startswith(WRITING) and what.removeprefix(WRITING) in known:
        return _("Writing: %(rows)s") % {"rows": kind_name(known[what.removeprefix(WRITING)])}
    if what in known:
        return _("Comparing: %(rows)s") % {"rows": kind_name(known[what])}
    others = {
        "fetched": _("Fetching the program"),
        "checking": _("Checking the rows"),
        "storing": _("Preparing the preview"),
    }
    return others.get(what, _("Reading the files"))


def facts(job: ImportJob) -> dict[str, object]:
    """Return what every page of a job can show of it. No query."""
    fmt = formats().get(job.format)
    counts = [
        {
            "kind": kind,
            "name": kind_name(kind),
            "cells": [(word, counts[word]) for word in COUNTED],
        }
        for kind, counts in job.counts.items()
    ]
    sums = {word: sum(one[word] for one in job.counts.values()) for word in COUNTED}
    return {
        "format": fmt.label if fmt else job.format,
        "counts": counts,
        "sums": sums,
        "changes": sums["new"] + sums["changed"],
        "words": COUNTED,
        "notes": job.notes[:NOTES_SHOWN],
        "more_notes": job.notes[NOTES_SHOWN:],
    }


PER_PAGE = 50
State = ImportJob.State
# What a job can be started again from.
STOPPED = (State.REFUSED, State.FAILED)


@admin.register(ImportJob)
class ImportJobAdmin(ScopedAdmin):
    """Uploads: what they would do, how far they are, what came of them."""

    desk_order = 10
    list_display = ["__str__", "edition", "shown_state", "format", "user", "created_at"]
    list_filter = ["edition", "state"]
    list_select_related = ["edition", "user"]
    show_full_result_count = False

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.progress_view)
        return [path("<int:key>/progress/", view, name="exchange_importjob_progress"), *super().get_urls()]

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    @admin.display(description=gettext_lazy("state"), ordering="state")
    def shown_state(self, job: ImportJob) -> str:
        return _("Stopped") if job.is_lost() else job.get_state_display()

    # Who may import

    def editions(self, request: HttpRequest) -> list[Edition]:
        """Return the editions that somebody may import into: by a role there, or who may change all."""
        access = access_for(request)
        theirs = access.editions("add", ImportJob)
        may_all = may_import_all(access)
        return [one for one in editions_for(request) if may_all or one.pk in theirs]

    def may_add_edition(self, request: HttpRequest) -> bool:
        return self.admin_site.get_model_admin(Edition).has_add_permission(request)

    def may_go_on(self, request: HttpRequest, job: ImportJob) -> bool:
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
        tasks.sweep()
        editions = self.editions(request)
        may_add = self.may_add_edition(request)
        if request.method == "POST":
            form = UploadForm(request.POST, request.FILES, editions=editions, may_add=may_add)
            if form.is_valid():
                job = self.begun(request, form.cleaned_data)
                return redirect("admin:exchange_importjob_change", job.pk)
        else:
            asked = asked_edition(request)
            initial: dict[str, object] = {"edition": asked.pk if asked in editions else None}
            form = UploadForm(initial=initial, editions=editions, may_add=may_add)
        context = self.frame(request, _("Import a program"), form=form, formats=readable().values())
        return TemplateResponse(request, "admin/exchange/importjob/upload.html", context)

    def begun(self, request: HttpRequest, data: dict[str, Any]) -> ImportJob:
        uploads = data["uploads"]
        names = [file_name(one) for one in uploads]
        job = ImportJob(edition=data["edition"], format=data["format"], files=names, url=data["url"])
        job.user = request.user  # type: ignore[assignment]  # login required
        with transaction.atomic():
            job.save()
            private_files.keep(job.pk, (one.chunks() for one in uploads))
            if data["url"] and data["token"]:
                private_files.hide_token(job.pk, data["token"])
        tasks.preview.enqueue(job.pk)
        return job

    # One job

    def job(self, request: HttpRequest, key: int | str) -> ImportJob:
        if not self.has_view_permission(request):
            raise PermissionDenied
        found = self.get_object(request, str(key))
        if found is None:
            raise Http404("No such upload.")
        if not self.has_view_permission(request, found):
            raise PermissionDenied
        job: ImportJob = found
        return job

    def get_queryset(self, request: HttpRequest) -> QuerySet[ImportJob]:
        return super().get_queryset(request).select_related("edition", "run__edition", "user")

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, object] | None = None,
    ) -> HttpResponse:
        """Show what the job is at; with POST, let it go on."""
        job = self.job(request, object_id)
        may = self.may_go_on(request, job)
        if request.method == "POST":
            if not may:
                raise PermissionDenied
            self.go_on(request, job, request.POST.get("do", ""))
            return redirect("admin:exchange_importjob_change", job.pk)
        stage = progress_of(job)
        page = "progress" if job.is_working else job.state
        more = self.preview(request, job) if job.state == State.READY else {}
        context = self.frame(
            request, _("Import: %(job)s") % {"job": job}, job=job, may=may, stage=stage, **facts(job), **more
        )
        return TemplateResponse(request, f"admin/exchange/importjob/{page}.html", context)

    def go_on(self, request: HttpRequest, job: ImportJob, wanted: str) -> None:
        """Do what a button of the job's page says; one that was pressed twice does it once."""
        is_over = job.is_lost() or job.is_neglected() or job.state in STOPPED
        # Permissions are those of the account that confirms the import.
        theirs: dict[str, Any] = {"user": request.user, "is_again": False}
        if wanted == "confirm" and job.pass_to(State.WRITING, before=State.READY, **theirs):
            tasks.write.enqueue(job.pk)
        elif (
            wanted == "again"
            and is_over
            and job.pass_to(State.READING, before=job.state, problems=[], **theirs)
        ):
            private_files.start_anew(job.pk)
            tasks.preview.enqueue(job.pk)
        elif wanted == "drop" and (is_over or job.state == State.READY):
            if job.pass_to(State.DROPPED, before=job.state):
                tasks.sweep()
                messages.success(request, _("The import was dropped. Nothing was changed."))
        else:
            messages.warning(request, _("This import has gone on meanwhile: see below what it is at."))

    def preview(self, request: HttpRequest, job: ImportJob) -> dict[str, object]:
        """Return what a page of the preview shows: rows of a kind, or of one fate."""
        what, kind = request.GET.get("what", ""), request.GET.get("kind", "")
        rows = job.rows.all() if what == "all" else job.rows.not_skipped()
        rows = job.rows.what(what) if what in COUNTED else rows
        rows = rows.filter(kind=kind) if kind in RecordKind.values else rows
        page = Paginator(rows, PER_PAGE).get_page(request.GET.get("p"))
        return {"what": what, "kind": kind, "page_obj": page, "planned": list(shown(page.object_list))}

    def progress_view(self, request: HttpRequest, key: int) -> HttpResponse:
        job = self.job(request, key)
        context = {"job": job, "stage": progress_of(job)}
        response = TemplateResponse(request, "admin/exchange/importjob/_progress.html", context)
        response["Cache-Control"] = "no-store"
        return response

    def frame(self, request: HttpRequest, title: str, **more: object) -> dict[str, object]:
        runs = reverse("admin:exchange_importrun_changelist")
        return {
            **self.admin_site.each_context(request),
            "title": title,
            "opts": self.opts,
            "runs": runs,
            **more,
        }
