"""Help for Markdown texts in forms: a preview, and warnings that never prevent saving."""

from collections.abc import Iterator

from django import forms
from django.contrib import admin, messages
from django.db import models
from django.forms.renderers import BaseRenderer
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, JsonResponse
from django.template.loader import render_to_string
from django.template.response import TemplateResponse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

import markup
from content.versions import Form, FormSet
from markup.advice import advice

BLOCK, LINE = "block", "line"
# The field that lists the texts of a form, each as kind, field and label: "block abstract Abstract".
TEXTS_FIELD = "_text"
MAX_TEXT_CHARS = 200_000
MAX_LISTED_PROBLEMS = 5


def text_kind(field: models.Field[object, object]) -> str:
    """Return whether a field is rendered as paragraphs or as one line; empty if it is not rendered."""
    names = (
        {column.name for column in field.model._meta.concrete_fields} if hasattr(field, "model") else set()
    )
    if f"{field.name}_html" not in names:
        return ""
    return BLOCK if isinstance(field, models.TextField) else LINE


class Helped(forms.Widget):
    """A text input with warnings below it; a script adds the preview."""

    kind = BLOCK
    label = ""

    def render(
        self,
        name: str,
        value: object,
        attrs: dict[str, object] | None = None,
        renderer: BaseRenderer | None = None,
    ) -> SafeString:
        attrs = dict(attrs or {})
        key = attrs.get("id") or f"id_{name}"
        described_by = f"{attrs.get('aria-describedby', '')} {key}_advice".strip()
        field = super().render(name, value, {**attrs, "aria-describedby": described_by}, renderer)
        warnings = advice(str(value), is_title=self.kind == LINE) if value else []
        context = {"key": key, "name": name, "kind": self.kind, "label": self.label, "advice": warnings}
        return format_html("{}{}", field, render_to_string("admin/_text_help.html", context))

    @property
    def media(self) -> forms.Media:
        return forms.Media(js=["js/admin-text.js"])


class HelpedText(Helped, forms.Textarea):
    pass


class HelpedLine(Helped, forms.TextInput):
    kind = LINE


def add_text_help(field: forms.Field, db_field: models.Field[object, object]) -> None:
    """Replace the widget of a form field if its text is rendered."""
    kind = text_kind(db_field)
    if kind and not field.widget.is_hidden:
        widget = (HelpedText if kind == BLOCK else HelpedLine)(field.widget.attrs)
        widget.label = str(field.label or db_field.name)
        field.widget = widget


class TextHelpAdmin[M: models.Model = models.Model](admin.ModelAdmin[M]):
    """Forms that warn of problems in changed texts after saving."""

    def has_texts(self) -> bool:
        form_models = [self.model, *(inline.model for inline in self.inlines)]
        return any(text_kind(field) for model in form_models for field in model._meta.concrete_fields)

    def save_related(self, request: HttpRequest, form: Form, formsets: list[FormSet], change: bool) -> None:
        super().save_related(request, form, formsets, change)
        all_forms = [form, *(row for formset in formsets for row in formset.forms)]
        problems = [problem for changed_form in all_forms for problem in problem_texts(changed_form)]
        if problems:
            listed = format_html_join(" ", "{}: {}", problems[:MAX_LISTED_PROBLEMS])
            more = _("And more like this.") if len(problems) > MAX_LISTED_PROBLEMS else ""
            message = format_html("{} {} {}", _("Worth a look:"), listed, more)
            self.message_user(request, message, messages.WARNING)


def problem_texts(form: Form) -> Iterator[tuple[str, str]]:
    """Yield label and sentence of each problem in the changed texts of a form."""
    if form.instance.pk is None:
        return
    for name in form.changed_data:
        field = form.fields.get(name)
        if field is not None and isinstance(field.widget, Helped):
            value = str(form.cleaned_data.get(name) or "")
            for sentence in advice(value, is_title=field.widget.kind == LINE):
                yield str(field.label), sentence


def render_text(source: str, kind: str) -> dict[str, object]:
    """Return HTML and warnings of a text."""
    if len(source) > MAX_TEXT_CHARS:
        message = _("Longer than %(maximum)s characters: not shown here.")
        return {"html": "", "advice": [message % {"maximum": f"{MAX_TEXT_CHARS:,}"}]}
    is_line = kind == LINE
    html = markup.inline(source) if is_line else markup.block(source)
    return {"html": html, "advice": advice(source, is_title=is_line)}


def text_help_view(request: HttpRequest) -> HttpResponse:
    """Return one rendered text as JSON for the script, or a page with all texts of a form."""
    if request.method != "POST":
        return HttpResponseNotAllowed(["POST"])
    # The forms of news and releases have a field named `text`, too.
    if "text" in request.POST and TEXTS_FIELD not in request.POST:
        source = request.POST["text"]
        status = 413 if len(source) > MAX_TEXT_CHARS else 200
        return JsonResponse(render_text(source, request.POST.get("kind", BLOCK)), status=status)
    texts = []
    for entry in request.POST.getlist(TEXTS_FIELD):
        kind, name, label = [*entry.split(" ", 2), "", ""][:3]
        if source := request.POST.get(name, "").strip():
            texts.append({"label": label or name, **render_text(source, kind)})
    context = {**admin.site.each_context(request), "title": _("Texts as readers see them"), "texts": texts}
    return TemplateResponse(request, "admin/text_preview.html", context)
