"""Forms whose save failed for a full disk or the like come back with their values, and say why."""

from typing import Any

from django import forms
from django.contrib.admin import ModelAdmin
from django.http import HttpRequest, HttpResponse

from content.storage.failures import failed_save
from content.storage.uploads import upload_failure

# The attribute of a request that is answered with the form, and the reason.
FAILURE = "failed_save"
STATUS, RETRY_SECONDS = 503, "30"


class FailedForm(forms.ModelForm[Any]):
    """A form that is invalid, because it could not be saved."""

    failure: str

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean()
        self.add_error(None, self.failure)
        return cleaned


def failure_of(request: HttpRequest) -> str:
    """Return why the form of a request could not be saved, while it is shown again."""
    reason: str = vars(request).get(FAILURE, "")
    return reason


class FailedSaveAdmin[M: Any](ModelAdmin[M]):
    """Shows a form with its values and 503 if a disk or the database is full, read-only or locked."""

    def get_form(
        self, request: HttpRequest, obj: M | None = None, change: bool = False, **kwargs: Any
    ) -> type[forms.ModelForm[M]]:
        form = super().get_form(request, obj, change=change, **kwargs)
        reason = failure_of(request)
        return type(form.__name__, (FailedForm, form), {"failure": reason}) if reason else form

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        if request.method != "POST":
            return self.open_form(request, object_id, form_url, extra_context)
        reason = upload_failure(request)
        if reason is None:
            try:
                return self.open_form(request, object_id, form_url, extra_context)
            except Exception as error:
                reason = failed_save(error)
                if reason is None:
                    raise
        vars(request)[FAILURE] = reason
        rewind(request)
        response = self.open_form(request, object_id, form_url, extra_context)
        response.status_code = STATUS
        response.headers["Retry-After"] = RETRY_SECONDS
        return response

    def open_form(
        self, request: HttpRequest, object_id: str | None, form_url: str, extra: dict[str, Any] | None
    ) -> HttpResponse:
        """Show or save the form."""
        return super().changeform_view(request, object_id, form_url, extra)


def rewind(request: HttpRequest) -> None:
    """Let uploaded files be read again."""
    for _name, files in request.FILES.lists():
        for file in files:
            if not file.closed:
                file.seek(0)
