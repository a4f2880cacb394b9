"""Admin of releases, and the page that announces one."""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from types import MappingProxyType
from typing import Any, ClassVar

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.template.loader import render_to_string
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from conference.models import Edition
from content import times
from editorial.access import AdminPage
from editorial.current_edition import editions_for, format_moment, requested_edition
from editorial.forms import ContentForm
from editorial.model_admin import ContentAdmin
from editorial.sections import DeskSection
from editorial.text_help import HelpedText
from schedule.models import Release
from schedule.releases import PendingRelease, ProgramChange, TimeAndRoom, announce, pending_release

CHANGED_SINCE = _(
    "The program changed after you opened this page. Review the changes again before you announce them."
)

LINES_HELP = _(
    "Clear the changes that visitors don’t need to see. Notes appear below their change and may use Markdown."
)
MAX_NOTE_CHARS = 500
# The maximum number of changes that a form lists.
MAX_LISTED_LINES = 500

# Names of the rows that change, inside a sentence.
MODEL_LABELS = {"session": _("session"), "presentation": _("presentation"), "paper": _("paper")}


def describe_time_and_room(time_and_room: TimeAndRoom, edition: Edition, rooms: dict[str, str]) -> str:
    """Return text such as "Tue 6 Apr, 08:00 to 09:00 PDT, Hall A"."""
    text = gettext("not scheduled")
    if time_and_room.start:
        text = times.day_and_time_range(
            time_and_room.start, time_and_room.end or time_and_room.start, edition.zone
        )
    room = rooms.get(time_and_room.room, time_and_room.room)
    return f"{text}, {room}" if room else text


def describe_change(change: ProgramChange, edition: Edition, rooms: dict[str, str]) -> str:
    """Return a change as one line: kind of change, title, old and new time and room."""
    kind = change.key.partition(":")[0]
    before, after = (
        time_and_room and describe_time_and_room(time_and_room, edition, rooms)
        for time_and_room in (change.before, change.after)
    )
    placements = f"{before} → {after}" if before and after else after or before or ""
    params = {"change": change.label, "kind": MODEL_LABELS.get(kind, kind), "title": change.title}
    parts = [
        gettext("%(change)s: %(kind)s “%(title)s”") % params,
        change.was and gettext("before “%(title)s”") % {"title": change.was},
        placements,
    ]
    return "; ".join(filter(None, parts))


def with_note(row: dict[str, object], note: str) -> dict[str, Any]:
    values = {name: value for name, value in row.items() if name != "note"}
    return {**values, "note": note} if note else values


class LinesWidget(forms.Widget):
    """Widget with a checkbox and a note for each change. The value is the ticked changes' notes by line.

    Changes beyond `MAX_LISTED_LINES` are counted, and stay as they are.
    """

    # Name and text of each line.
    choices: Sequence[tuple[str, str]] = ()
    # The stored notes by line, which the page posts again to detect changes by others.
    stored: Mapping[str, str] = MappingProxyType({})

    def render(self, name: str, value: Any, attrs: object = None, renderer: object = None) -> SafeString:
        notes: dict[str, str] = value or {}
        rows = [
            (line, text, line in notes, notes.get(line, ""), self.stored.get(line))
            for line, text in self.choices[:MAX_LISTED_LINES]
        ]
        context = {"name": name, "rows": rows, "more": len(self.choices) - len(rows)}
        return render_to_string("admin/schedule/release/_lines.html", context)

    def value_from_datadict(self, data: Any, files: object, name: str) -> dict[str, str]:
        ticked_lines = {*data.getlist(name)}
        listed = {
            line: str(data.get(f"{name}-note-{line}", ""))
            for line, _text in self.choices[:MAX_LISTED_LINES]
            if line in ticked_lines
        }
        more = {line: self.stored.get(line, "") for line, _text in self.choices[MAX_LISTED_LINES:]}
        return {**listed, **more}

    def value_omitted_from_data(self, data: object, files: object, name: str) -> bool:
        return False


class LinesField(forms.Field):
    widget = LinesWidget

    def to_python(self, value: Any) -> dict[str, str]:
        notes = {line: " ".join(str(note).split()) for line, note in (value or {}).items()}
        if any(len(note) > MAX_NOTE_CHARS for note in notes.values()):
            raise ValidationError(
                gettext("A note has at most %(maximum)d characters.") % {"maximum": MAX_NOTE_CHARS}
            )
        return notes


class AnnounceForm(forms.Form):
    """Form of a release to announce; unticked lines are left out."""

    title = forms.CharField(
        max_length=200,
        required=False,
        label=_("Title"),
        widget=forms.TextInput(attrs={"class": "vTextField"}),
        help_text=_("Leave empty to use “Release” and its number."),
    )
    text = forms.CharField(
        label=_("Text"),
        required=False,
        widget=HelpedText(attrs={"rows": 6, "class": "vLargeTextField"}),
        help_text=_("Markdown."),
    )
    lines = LinesField(label=_("Changes"), required=False, help_text=LINES_HELP)
    seen = forms.CharField(widget=forms.HiddenInput)

    def __init__(self, pending: PendingRelease, edition: Edition, data: QueryDict | None = None) -> None:
        rooms = dict(edition.rooms.values_list("slug", "name"))
        # The widget shows no further texts.
        listed, more = pending.changes[:MAX_LISTED_LINES], pending.changes[MAX_LISTED_LINES:]
        choices = [(change.line, describe_change(change, edition, rooms)) for change in listed]
        choices += [(change.line, "") for change in more]
        self.state = sha256(repr([pending.number, choices, more]).encode()).hexdigest()
        initial: dict[str, object] = {"title": pending.title, "text": pending.text}
        posted: QueryDict | dict[str, str] = data or {}
        if data is not None and data.get("seen") != self.state:
            initial, data = {name: posted.get(name, "") for name in initial}, None
        notes = {line: posted.get(f"lines-note-{line}", "") for line, _text in choices}
        super().__init__(data, initial={**initial, "seen": self.state, "lines": notes})
        text_field: Any = self.fields["text"]
        text_field.widget.label = str(text_field.label)
        lines_field: Any = self.fields["lines"]
        lines_field.widget.choices = choices
        if not choices:
            del self.fields["lines"]
        self.known_lines = {line for line, _text in choices}

    @property
    def announcement(self) -> dict[str, Any]:
        """The arguments of `announce()`: title, text, notes, and the lines that are left out."""
        cleaned = self.cleaned_data
        notes: dict[str, str] = cleaned.get("lines", {})
        omitted_lines = sorted(self.known_lines - notes.keys())
        return {"title": cleaned["title"], "text": cleaned["text"], "without": omitted_lines, "notes": notes}


class ReleaseForm(ContentForm):
    """Form of an announced release: its texts, lines and notes."""

    lines = LinesField(label=_("Changes"), required=False, help_text=LINES_HELP)

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        if "lines" in self.fields:
            rows = [ProgramChange.read(row) for row in self.instance.changes]
            edition = self.instance.edition
            lines_field: Any = self.fields["lines"]
            self.initial["lines"] = {change.line: change.note for change in rows}
            self.descriptions = {change.line: describe_change(change, edition, {}) for change in rows}
            lines_field.widget.choices, lines_field.widget.stored = (
                [*self.descriptions.items()],
                self.initial["lines"],
            )

    def clean_lines(self) -> dict[str, str]:
        """Merge the notes with changes that someone else made; raise `ValidationError` on conflicts."""
        notes: dict[str, str] = self.cleaned_data["lines"]
        merged, conflicts = {}, []
        for line, note in self.initial["lines"].items():
            shown_note = self.data.get(f"{self.add_prefix('lines')}-was-{line}", note)
            mine = notes.get(line)
            if note not in (shown_note, mine) and mine != shown_note:
                conflicts.append({"line": self.descriptions[line], "note": note})
            elif mine is not None:
                merged[line] = note if mine == shown_note else mine
        if conflicts:
            message = gettext(
                "Someone else added this note to “%(line)s” in the meantime: “%(note)s”. Save again to "
                "replace it."
            )
            raise ValidationError([message % conflict for conflict in conflicts])
        return merged

    def _post_clean(self) -> None:
        super()._post_clean()  # type: ignore[misc]
        if "lines" in self.cleaned_data and "lines" in self.changed_data:
            notes = self.cleaned_data["lines"]
            self.instance.changes = [
                with_note(row, notes[line])
                for row in self.instance.changes
                if (line := ProgramChange.read(row).line) in notes
            ]


@admin.register(Release)
class ReleaseAdmin(ContentAdmin[Release]):
    desk_section = DeskSection.SCHEDULE
    desk_order = 40
    list_display = ["__str__", "number", "edition", "shown_from", "change_count"]
    list_filter = ["edition"]
    list_select_related = ["edition"]
    search_fields = ["title", "text"]
    form = ReleaseForm
    readonly_fields = ["edition", "number"]
    # Other modules add theirs, such as that of unreleased changes.
    pages: ClassVar[list[AdminPage]] = []
    fieldsets = [
        (None, {"fields": ["edition", "number", "title"]}),
        (_("Text"), {"fields": ["text", "published_at"]}),
        (_("Changes"), {"fields": ["lines"]}),
    ]

    def for_list(self, rows: QuerySet[Release]) -> QuerySet[Release]:
        return rows.defer("snapshot")

    @admin.display(description=_("shown from"), ordering="published_at")
    def shown_from(self, release: Release) -> str:
        return format_moment(release.published_at, release.edition)

    @admin.display(description=_("changes"))
    def change_count(self, release: Release) -> int:
        return len(release.changes)

    @admin.display(description=_("changes"))
    def lines(self, release: Release) -> SafeString | str:
        items = [(describe_change(ProgramChange.read(row), release.edition, {}),) for row in release.changes]
        return format_html("<ul>{}</ul>", format_html_join("", "<li>{}</li>", items)) if items else "-"

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, object] | None = None
    ) -> HttpResponse:
        """Show the changes since the last release of an edition; with POST, announce them."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        edition = requested_edition(request)
        if edition is None:
            messages.warning(request, gettext("There are no editions yet."))
            return redirect("admin:schedule_release_changelist")
        if not self.has_add_permission(request, edition):
            raise PermissionDenied
        at = timezone.now()
        pending = pending_release(edition, at)
        form = AnnounceForm(pending, edition, request.POST if request.method == "POST" else None)
        if request.method == "POST" and not form.is_bound:
            messages.warning(request, CHANGED_SINCE)
        has_news = bool(pending.changes or (pending.is_first and pending.program.rows))
        if form.is_valid() and has_news:
            release = announce(edition, at, **form.announcement)
            self.log_addition(request, release, [{"added": {}}])
            messages.success(
                request,
                gettext("%(release)s of %(edition)s was announced.")
                % {"release": release, "edition": edition},
            )
            return redirect("admin:schedule_release_changelist")
        context = self.page_context(
            request,
            gettext("Announce release %(number)d of %(edition)s")
            % {"number": pending.number, "edition": edition},
            edition=edition,
            editions=editions_for(request),
            form=form,
            ready=pending,
            has_news=has_news,
            text_help_url=reverse("admin:text_help"),
            now=format_moment(at, edition),
        )
        return TemplateResponse(request, "admin/schedule/release/announce.html", context)
