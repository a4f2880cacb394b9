"""The page on which the columns of a spreadsheet are mapped, before it is read as a program."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from django.contrib import admin, messages
from django.db.models import Model
from django.http import HttpRequest
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext, pgettext
from django.utils.translation import gettext_lazy as _

import markup
from conference.models import Edition
from editorial.access import ScopedAdmin
from editorial.current_edition import format_moment
from editorial.sections import DeskSection
from exchange.formats.spreadsheet.fields import FIELDS, GROUPS
from exchange.formats.spreadsheet.mapping import MAX_PREFIX_CHARS, describe_role
from exchange.imports.kinds import PAPER, PRESENTATION, SESSION, Kind
from exchange.imports.known_rows import reading_context
from exchange.jobs.column_choice import (
    ROW_PLACE,
    ColumnChoice,
    Table,
    add_left_out_rows,
    apply_answers,
    delete_mappings,
    read_again,
    read_first_rows,
    save_mappings,
)
from exchange.jobs.preview import record_field_label
from exchange.models import ColumnMapping, ImportJob
from exchange.reading.grids import ENCODINGS, SEPARATORS
from exchange.reading.workbooks import MAX_COLUMNS
from exchange.records import AuthorRecord, MaterialRecord, Program, Record, RoleRecord, stated

# Rows that are shown by name, where files and addresses have keys.
NAMED_KINDS = ("room", "topic", "session")
# By their places in `SEPARATORS`.
SEPARATOR_NAMES = (_("Comma"), _("Semicolon"), _("Tab"), _("Bar"))


def store_choice(job: ImportJob, request: HttpRequest) -> bool:
    """Store the choices of the form. Return whether the job can continue with them."""
    stored_choice = ColumnChoice.from_job(job)
    choice, must_reread = apply_answers(stored_choice, request.POST)
    if must_reread:
        choice, problems = read_again(job, choice, stored_choice)
        for problem in problems:
            messages.error(request, problem)
    if request.POST.get("do") == "forget":
        choice = delete_mappings(job, choice)
    choice.store(job)
    can_continue = request.POST.get("do") == "map" and not must_reread and not choice.complaints(job.edition)
    if can_continue:
        save_mappings(job, choice)
    return can_continue


def without_ticked_rows(job: ImportJob, request: HttpRequest) -> dict[str, Any]:
    """Return the columns of a job that leave out the ticked rows, too; empty if none is ticked."""
    choice = ColumnChoice.from_job(job)
    return asdict(choice) if add_left_out_rows(choice, request.POST.getlist("left_out")) else {}


def can_leave_out(job: ImportJob, place: str) -> bool:
    """Return whether a place in the files of a job is a row that can be left out."""
    return bool(job.columns and job.has_files and ROW_PLACE.fullmatch(place))


# The context of the page


def page_context(job: ImportJob) -> dict[str, object]:
    choice = ColumnChoice.from_job(job)
    program, problems = read_first_rows(job, choice)
    options = _options()
    tables = [_table_context(table, number, options) for number, table in enumerate(choice.tables)]
    return {
        "tables": tables,
        "has_several": len(tables) > 1,
        "is_markdown": choice.is_markdown,
        "unread": choice.problems,
        "complaints": choice.complaints(job.edition),
        "memories": [table for table in choice.wanted if table.memory],
        "first_rows": list(_first_rows(program, job.edition)) if program else [],
        "row_problems": problems,
        "zone": job.edition.zone_label if job.edition else "UTC",
        "most_columns": MAX_COLUMNS,
        "max_prefix": MAX_PREFIX_CHARS,
    }


def _table_context(table: Table, number: int, options: str) -> dict[str, object]:
    prefix = f"t{number}"
    rows = [
        {
            "heading": table.headings[index],
            "samples": table.samples[index],
            "name": f"{prefix}-c{index}",
            "is_left_out": not table.columns[index],
            "options": _select_option(options, table.columns[index]),
        }
        for index in table.places
    ]
    return {
        "table": table,
        "name": prefix,
        "rows": rows,
        "separators": [
            (index, SEPARATOR_NAMES[index], separator == table.separator)
            for index, separator in enumerate(SEPARATORS)
        ],
        "encodings": [(encoding, encoding.upper(), encoding == table.encoding) for encoding in ENCODINGS],
        "what": describe_role(table.role),
        "left_out_rows": [(row, f"{prefix}-out-{row}") for row in table.left_out_rows],
        "has_numbers": "uid" in table.columns,
    }


def _options() -> str:
    """Return the fields as grouped options of a select, which all columns of a page share."""
    groups = (
        format_html(
            '<optgroup label="{}">{}</optgroup>',
            label,
            format_html_join(
                "", '<option value="{}">{}</option>', ((field.name, field.label) for field in fields)
            ),
        )
        for label, fields in GROUPS.items()
    )
    empty_option = format_html('<option value="">{}</option>', gettext("Leave out"))
    return empty_option + "".join(groups)


def _select_option(options: str, name: str) -> SafeString:
    """Select one of the options. A form widget for each of hundreds of columns would take seconds."""
    return mark_safe(options.replace(f'value="{name}"', f'value="{name}" selected', 1))


# The first rows as they will be imported


def _first_rows(program: Program, edition: Edition | None) -> Iterator[dict[str, object]]:
    """Yield the stated values of papers with their presentations and awards, then of sessions."""
    known = reading_context(edition).known
    names = {row.key: markup.plain(row.name) for kind in NAMED_KINDS for row in known(kind)}
    names |= {room.slug: stated(room.name, room.slug) for room in program.rooms}
    names |= {topic.slug: stated(topic.name, topic.slug) for topic in program.topics}
    names |= {session.uid: markup.plain(stated(session.title, session.uid)) for session in program.sessions}
    awards = {
        grant.paper: stated(award.name, award.uid)
        for award in program.awards
        for grant in stated(award.grants, ())
    }
    for paper in program.papers:
        presentations = [
            presentation for presentation in program.presentations if presentation.paper == paper.uid
        ]
        facts = [(FIELDS["uid"].label, paper.uid), *_labeled_values(PAPER, [paper], names, edition)]
        facts += [(FIELDS["award"].label, awards[paper.uid])] if paper.uid in awards else []
        title = markup.plain(stated(paper.title, "")) or paper.uid
        yield {
            "title": title,
            "place": paper.where.place,
            "facts": [*facts, *_labeled_values(PRESENTATION, presentations, names, edition)],
        }
    for session in program.sessions:
        title = f"{gettext('Session')}: {names[session.uid]}"
        facts = list(_labeled_values(SESSION, [session], names, edition))
        yield {"title": title, "place": session.where.place, "facts": facts}


def _labeled_values(
    kind: Kind, records: Sequence[Record], names: Mapping[str, str], edition: Edition | None
) -> Iterator[tuple[object, str]]:
    for record in records:
        for name in kind.fields:
            value = stated(getattr(record, name), None)
            if value and name not in ("title", "paper"):
                yield record_field_label(kind, name), _display_value(value, names, edition)


def _display_value(value: object, names: Mapping[str, str], edition: Edition | None) -> str:
    match value:
        case tuple():
            return "; ".join(_display_value(item, names, edition) for item in value)
        case AuthorRecord():
            affiliations = f" ({'; '.join(value.affiliations)})" if value.affiliations else ""
            marks = [gettext("presenting")] if value.presenting else []
            marks += [gettext("corresponding")] if value.corresponding else []
            return ", ".join([f"{value.person.name}{affiliations}", *marks])
        case RoleRecord():
            return f"{value.person.name} ({value.role})"
        case MaterialRecord():
            return f"{value.kind}: {value.url}"
        case datetime():
            return format_moment(value, edition)
    return names.get(str(value)) or markup.plain(str(value))


# Stored mappings


@admin.register(ColumnMapping)
class ColumnMappingAdmin(ScopedAdmin):
    """Mappings of earlier imports, to view and to delete."""

    desk_section = DeskSection.IMPORTS
    desk_order = 90
    list_display = ["name", "conference", "taken", "used_at"]
    list_filter = ["conference"]
    list_select_related = ["conference"]
    fields = ("conference", "name", "shown_columns", "used_at")
    readonly_fields = fields
    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    @admin.display(description=_("columns"))
    def taken(self, mapping: ColumnMapping) -> str:
        read_count = sum(map(bool, mapping.fields.values()))
        message = gettext("%(taken)d of %(all)d are read")
        return message % {"taken": read_count, "all": len(mapping.fields)}

    @admin.display(description=_("columns"))
    def shown_columns(self, mapping: ColumnMapping) -> SafeString:
        omitted = pgettext("column of a file", "left out")
        pairs = (
            (heading, FIELDS[name].label if name in FIELDS else omitted)
            for heading, name in mapping.fields.items()
        )
        return format_html("<dl>{}</dl>", format_html_join("", "<dt>{}</dt><dd>{}</dd>", pairs))
