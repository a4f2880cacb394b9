"""OpenReview: notes of its API (version 2), saved as JSON or fetched page by page. Read only.

Only accepted papers are imported; notes say what was left out and why.
"""

import json
import re
from collections import defaultdict
from collections.abc import Sequence
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from exchange.files import Context, Format, Page, Pages, Source, total_size
from exchange.problems import Findings, Where, short
from exchange.reading.links import MAX_MATERIAL_URL_CHARS, is_web_address
from exchange.reading.papers import (
    PAPER_KINDS,
    PaperParts,
    escape_markdown,
    openreview_uid,
    shorten_list,
)
from exchange.reading.person_names import is_placeholder, note_placeholder
from exchange.reading.textfiles import (
    JsonObject,
    describe_place,
    describe_type,
    read_head,
    read_list,
    top_level_names,
)
from exchange.reading.values import check_program, clean_text, tidy_each
from exchange.records import UNSTATED, AuthorRecord, MaterialRecord, PaperRecord, Program, Stated

MAX_PAGE_ROWS = 1000


def page_url(url: str, offset: int) -> str:
    """Return the address of the page that begins at this note."""
    parts = urlsplit(url)
    parameters = parse_qsl(parts.query, keep_blank_values=True)
    limit = dict(parameters).get("limit", "")
    requested_limit = int(limit) if limit.isdecimal() and len(limit) < 6 else 0
    page = {"limit": str(min(requested_limit or MAX_PAGE_ROWS, MAX_PAGE_ROWS)), "offset": str(offset)}
    # Others may be repeated, such as several venues.
    query = [(name, value) for name, value in parameters if name not in page] + [*page.items()]
    return urlunsplit(parts._replace(query=urlencode(query), fragment=""))


def read_page(content: bytes) -> Page:
    """Return the counts of notes of a page and of all. Raises `ValueError` if the content is not a page."""
    try:
        page = json.loads(content)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    notes = page.get("notes") if isinstance(page, dict) else None
    if not isinstance(notes, list):
        raise ValueError('it holds no "notes"')
    count = page.get("count")
    return Page(len(notes), count if type(count) is int and count >= 0 else None)


PAGES = Pages(page_url, read_page, token="OPENREVIEW_TOKEN")  # noqa: S106 - the name of a variable

SITE = "https://openreview.net"
SCHEME = "openreview.net"
# The last part of `venueid` of a submission that is left out -> the reason in words.
OMISSION_REASONS = {
    "rejected_submission": _("rejected"),
    "withdrawn_submission": _("withdrawn"),
    "desk_rejected_submission": _("desk-rejected"),
    "retracted_acceptance": _("retracted"),
    "submission": _("not decided"),
}
# In names of venues, words that mean the same.
OMITTED_VENUE = re.compile(
    r"(?P<desk_rejected_submission>desk.?reject)|(?P<rejected_submission>reject)"
    r"|(?P<withdrawn_submission>withdraw)|(?P<retracted_acceptance>retract)|(?P<submission>^submitted to\b)",
    re.IGNORECASE,
)
# The group of all readers. What others alone may read is not public there.
EVERYONE = "everyone"
# The fields that are lists; lists in other fields are joined to text.
LIST_FIELDS = ("keywords", "authors", "authorids")


class NoteReader:
    """Collector of the papers among notes."""

    def __init__(self, findings: Findings) -> None:
        self.findings, self.parts = findings, PaperParts(findings)
        self.papers: dict[str, PaperRecord] = {}
        self.undecided: list[str] = []
        # The papers that not everyone may read, and those of which not everyone may read a field, by field.
        self.hidden: list[str] = []
        self.hidden_fields: dict[str, list[str]] = defaultdict(list)
        self.reply_count = self.note_count = 0

    def add(self, row: object, where: Where) -> None:
        self.note_count += 1
        if not isinstance(row, dict) or not isinstance(row.get("content"), dict):
            description = describe_type(row) if not isinstance(row, dict) else "one without content"
            message = gettext("This must be a note of OpenReview, not %(what)s.")
            self.findings.problem(where, "content", message, what=description)
            return
        content = JsonObject(unwrap_values(row["content"]), where, self.findings)
        key = row.get("forum") or row.get("id")
        if not isinstance(key, str) or not key:
            self.findings.problem(where, "id", gettext("The note has no id."))
        elif row.get("replyto") or row.get("id", key) != key:
            self.reply_count += 1
        elif row.get("ddate"):
            self._note_omission(gettext("deleted"), key, where)
        elif reason := omission_reason(content):
            self._note_omission(reason, key, where)
        elif openreview_uid(key) in self.papers:
            message = gettext("This note is in the files twice; the first was taken.")
            self.findings.note("repeat", where, message)
        else:
            self.papers[openreview_uid(key)] = self._paper(row, key, where)

    def _paper(self, note: dict[str, Any], key: str, where: Where) -> PaperRecord:
        fields = note["content"]
        # A paper without its title can't be shown, but needs one here.
        is_draft = is_hidden(note) or is_hidden(fields.get("title"))
        if is_draft:
            self.hidden.append(key)
        hidden_fields = [name for name in fields if name != "title" and is_hidden(fields[name])]
        for name in hidden_fields:
            self.hidden_fields[name].append(key)
        public_fields = {name: value for name, value in fields.items() if name not in hidden_fields}
        content = JsonObject(unwrap_values(public_fields), where, self.findings)
        is_decided = bool(content.line("venue") or content.line("venueid"))
        if not is_decided:
            self.undecided.append(key)
        status: Stated[str] = "published" if is_decided else UNSTATED
        kind = next((kind for kind in PAPER_KINDS if kind in content.line("venue").lower()), "")
        decision = f"Accept ({kind})" if kind else "Accept"
        summary = content.text("lay_summary") or content.text("TLDR") or content.text("TL;DR")
        topic = content.line("primary_area") or content.line("subject_area")
        bibtex = content.text("_bibtex")
        return PaperRecord(
            where=where,
            uid=openreview_uid(key),
            title=escape_markdown(content.line("title")),
            abstract=content.text("abstract") if content.has("abstract") else UNSTATED,
            lay_summary=summary or UNSTATED,
            topic=self.parts.topic(topic, where) or UNSTATED,
            keywords=keywords(content) if content.has("keywords") else UNSTATED,
            decision=decision if is_decided else UNSTATED,
            status="draft" if is_draft else status,
            doi=_bibtex_field(bibtex, "doi") or UNSTATED,
            pages=_bibtex_field(bibtex, "pages").replace("--", "-") or UNSTATED,
            authors=authors(content, self.parts) if content.has("authors") else UNSTATED,
            materials=materials(content, key),
        )

    def _note_omission(self, reason: str, key: str, where: Where) -> None:
        # The reason is part of the pattern, so that reasons are grouped apart.
        message = gettext("Left out because it is %(reason)s: %(key)s.").replace("%(reason)s", reason)
        self.findings.note("warning", where, message, key=short(key))

    def note_omissions(self) -> None:
        if self.reply_count:
            message = gettext("Left out because they are reviews, comments or decisions: %(replies)s notes.")
            self.findings.note("warning", Where(), message, replies=self.reply_count)
        if self.hidden:
            keys = self.hidden
            message = gettext(
                "Taken as drafts because not everyone may read them on OpenReview: %(count)s (%(keys)s)."
            )
            self.findings.note("warning", Where(), message, count=len(keys), keys=shorten_list(keys))
        for name, keys in sorted(self.hidden_fields.items()):
            message = gettext(
                "The field “%(name)s” was left out because not everyone may read it on OpenReview: "
                "%(count)s (%(keys)s)."
            )
            values = {"name": short(name), "count": len(keys), "keys": shorten_list(keys)}
            self.findings.note("warning", Where(), message, **values)
        if self.undecided:
            keys = self.undecided
            message = gettext("Taken as drafts because they name no venue: %(count)s (%(keys)s).")
            self.findings.note("doubt", Where(), message, count=len(keys), keys=shorten_list(keys))


def is_hidden(part: object) -> bool:
    """Return whether a note, or a field of one, is only for certain readers."""
    readers = part.get("readers") if isinstance(part, dict) else None
    return isinstance(readers, list) and EVERYONE not in readers


def unwrap_values(content: dict[str, object]) -> dict[str, object]:
    """Return the fields of a note: `{"value": …}` as version 2 has them, or bare as version 1 had."""
    fields = {
        name: value.get("value") if isinstance(value, dict) else value for name, value in content.items()
    }
    for name, value in fields.items():
        if name in LIST_FIELDS or not isinstance(value, list):
            continue
        if all(isinstance(part, str) for part in value):
            fields[name] = "; ".join(value)
    return fields


def keywords(content: JsonObject) -> tuple[str, ...]:
    """Return the list of keywords; text is split at semicolons, else at commas."""
    value = content.content.get("keywords")
    if isinstance(value, list):
        parts = [part for part in value if isinstance(part, str)]
    else:
        text = content.text("keywords")
        parts = text.split(";" if ";" in text else ",")
    return tidy_each(clean_text(part, content.where, "keywords", content.findings) for part in parts)


def omission_reason(content: JsonObject) -> str:
    """Return why a submission is left out, or nothing: by the id of its venue, else by its name."""
    venue_name = content.line("venueid").rstrip("/").rpartition("/")[2].lower()
    if venue_name in OMISSION_REASONS:
        return str(OMISSION_REASONS[venue_name])
    match = OMITTED_VENUE.search(content.line("venue"))
    return str(OMISSION_REASONS[match.lastgroup or ""]) if match else ""


def authors(content: JsonObject, parts: PaperParts) -> tuple[AuthorRecord, ...]:
    """Return the authors with their profiles' names, or e-mail addresses in place of profiles."""
    rows, profiles = content.items("authors"), content.items("authorids")
    author_records = []
    for index, row in enumerate(rows):
        profile = profiles[index] if len(profiles) == len(rows) else ""
        name: object = row
        affiliations: list[str] = []
        if isinstance(row, dict):
            name, profile = row.get("fullname") or row.get("name"), row.get("username") or profile
            affiliations = institution_names(row.get("institutions"))
        if not isinstance(name, str):
            message = gettext("This must be a name, not %(name)s.")
            parts.findings.problem(content.where, f"authors[{index}]", message, name=describe_type(name))
            continue
        profile = profile if isinstance(profile, str) else ""
        ids = ((SCHEME, profile),) if profile.startswith("~") else ()
        printed_name = parts.text(name, content.where, f"authors[{index}]")
        if is_placeholder(printed_name):
            note_placeholder(printed_name, content.where, parts.findings)
            continue
        author = parts.author(printed_name, content.where, ids=ids, email=profile, affiliations=affiliations)
        author_records.append(author)
    return tuple(author_records)


def institution_names(value: object) -> list[str]:
    """Return the names in a list of institutions, else their domains."""
    institutions = value if isinstance(value, list) else []
    names = [(row.get("name") or row.get("domain")) if isinstance(row, dict) else row for row in institutions]
    return [name for name in names if isinstance(name, str)]


def materials(content: JsonObject, key: str) -> tuple[MaterialRecord, ...]:
    """Return the paper's file, its page with the reviews, its supplement, its code."""
    links = [("pdf", "pdf", ""), ("supplementary_material", "other", "Supplementary material")]
    links += [(kind, kind, "") for kind in ("code", "video", "poster", "slides")]
    material_records = [MaterialRecord(where=content.where, kind="review", url=f"{SITE}/forum?id={key}")]
    for name, kind, label in links:
        link = content.line(name)
        # Paths are relative to OpenReview.
        url = f"{SITE}{link}" if link.startswith("/") and not link.startswith("//") else link
        if is_web_address(url, MAX_MATERIAL_URL_CHARS):
            material_records.append(MaterialRecord(where=content.where, kind=kind, url=url, label=label))
        elif link:
            message = gettext("%(name)s is no address and was left out.")
            content.findings.note("warning", content.where, message, name=name)
    return tuple(material_records)


def _bibtex_field(entry: str, name: str) -> str:
    match = re.search(rf'(?im)^\s*{name}\s*=\s*[{{"]([^{{}}"\n]{{1,200}})[}}"]', entry)
    return match[1].strip() if match else ""


def read(sources: Sequence[Source], context: Context) -> Program:
    """Read files of notes, each with or without `{"notes": […]}` around them."""
    findings = Findings(total_size(sources))
    reader = NoteReader(findings)
    total = 0
    for source in sources:
        rows, count = read_list(source, "notes", findings)
        total = max(total, count)
        for index, row in enumerate(rows):
            key = row.get("id") if isinstance(row, dict) else None
            reader.add(row, Where(source.name, describe_place("notes", index, key)))
    if not (reader.note_count or findings.has_problems):
        message = gettext("There are no notes in the file. Did the address need a token?")
        findings.problem(Where(), "", message)
    if total > reader.note_count:
        message = gettext("There are %(count)s notes in all, and the files hold %(rows)s. Get the rest too.")
        findings.note("warning", Where(), message, count=total, rows=reader.note_count)
    reader.note_omissions()
    return check_program(reader.parts.program(reader.papers.values()), findings)


def recognizes(sources: Sequence[Source]) -> bool:
    beginnings = [read_head(source) for source in sources]
    return all(
        "notes" in top_level_names(text) or (text.lstrip().startswith("[") and '"forum"' in text)
        for text in beginnings
    )


FORMAT = Format(
    name="openreview",
    label=_("OpenReview (JSON)"),
    description=_("Accepted papers of a venue on OpenReview, from a saved file or by its address."),
    extensions=("json",),
    media_type="application/json",
    read=read,
    pages=PAGES,
    recognizes=recognizes,
)
