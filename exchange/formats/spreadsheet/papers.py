"""Convert rows of papers and of authors to records."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from functools import cached_property
from typing import Any

from django.utils.translation import gettext

import markup
from exchange.files import Context
from exchange.formats.spreadsheet.bylines import BylineReader, split_list
from exchange.formats.spreadsheet.cell_tests import POSITION, STATUSES
from exchange.formats.spreadsheet.cells import Row
from exchange.formats.spreadsheet.fields import FIELDS, MATERIAL_FIELDS
from exchange.formats.spreadsheet.schedule import ScheduleReader, is_program_row
from exchange.formats.spreadsheet.sessions import fold_title
from exchange.problems import Findings, Where, short
from exchange.reading.links import MAX_MATERIAL_URL_CHARS, is_web_address
from exchange.reading.papers import (
    ACCEPTED,
    DECLINED,
    PaperParts,
    clean_email,
    escape_markdown,
    make_uid,
    parse_authors,
    shorten_list,
)
from exchange.reading.person_names import is_placeholder, note_placeholder, written_name
from exchange.reading.values import tidy
from exchange.records import (
    UNSTATED,
    AuthorRecord,
    AwardRecord,
    GrantRecord,
    MaterialRecord,
    PaperRecord,
    Stated,
    is_stated,
    stated,
)

# Cells of a paper that are read of its first row alone.
PAPER_CELLS = (
    *("authors", "affiliation", "orcid", "abstract", "lay_summary", "topic", "more_topics", "keywords"),
    *("track", "doi", "pages", "license", *MATERIAL_FIELDS),
)
TRUE_WORDS = {"yes", "true", "1", "x", "y", "*", "✔", "✓"}
# HotCRP lists the contacts of a paper behind its authors.
CONTACT_ONLY = "contact_only"
# One unusual name is no sign of a wrong column.
MIN_UNUSUAL_NAMES = 2


class PaperReader:
    """Reader of tables of papers and authors. `finish` adds the authors to their papers."""

    def __init__(self, context: Context, findings: Findings, *, is_markdown: bool) -> None:
        self.context, self.findings = context, findings
        self.source: Callable[[str], str] = (lambda text: text) if is_markdown else escape_markdown
        self.parts = PaperParts(findings)
        self.bylines = BylineReader(self.parts)
        self.schedule = ScheduleReader(context, self.parts, findings, self.source)
        self.papers: dict[str, PaperRecord] = {}
        self.declined: set[str] = set()
        # The papers of rows that a column marks as deleted.
        self.deleted: set[str] = set()
        # The first row of each paper that isn't deleted.
        self._first_rows: dict[str, Row] = {}
        self.undecided: list[str] = []
        self.authors: dict[str, list[tuple[int, AuthorRecord]]] = defaultdict(list)
        self.titles: dict[str, tuple[str, Where]] = {}
        self.awards: dict[str, AwardRecord] = {}
        # The papers of contacts who are no authors.
        self.contacts: list[str] = []
        self.author_marks: list[tuple[str, str, str, Where]] = []
        self.has_papers = False
        self._topic_rows: dict[str, list[Row]] = defaultdict(list)
        # Rows of papers are read after those of sessions, which they may name.
        self._paper_rows: list[Row] = []
        self.known_papers = {paper.key for paper in context.known("paper")}
        self.known_awards: dict[str, str] = {}
        for award in context.known("award"):
            self.known_awards.setdefault(fold_title(award.name), award.key)
        self.topics = {
            name: topic.key
            for topic in context.known("topic")
            for name in (topic.key, markup.fold(topic.name))
        }

    def add(self, rows: Iterable[Row], role: str) -> None:
        self.has_papers = self.has_papers or role == "papers"
        for row in rows:
            if role == "authors":
                self._add_author(row)
            elif role == "topics":
                self._topic_rows[make_uid(row.get("uid"))].append(row)
            elif role == "sessions" or is_program_row(row):
                self.schedule.add_session(row)
            else:
                self._paper_rows.append(row)

    # Papers

    def _add_paper(self, row: Row) -> None:
        title = tidy(self.parts.text(row.get("title"), row.where, "title"))
        uid = make_uid(row.get("uid")) or self._uid_of_title(title)
        if not title and (row.has("title") or not uid):
            self.findings.problem(row.where, "title", gettext("The title is missing."))
            return
        if row.get("deleted").casefold() in TRUE_WORDS:
            self.deleted.add(uid)
            message = gettext("Left out because it is marked as deleted: %(key)s.")
            self.findings.note("warning", row.where, message, key=short(uid))
            return
        word = self._find_rejection(row)
        first = self._first_rows.setdefault(uid, row)
        if (uid in self.declined) != bool(word) and first is not row:
            message = gettext(
                "“%(uid)s” is declined in one row and not in another (%(place)s). Keep the one that holds."
            )
            self.findings.problem(row.where, "decision", message, uid=uid, place=first.where)
            return
        if word:
            self.declined.add(uid)
            # The word is part of the pattern, so that decisions are grouped apart.
            message = gettext("Left out because of the decision “%(word)s”: %(key)s.")
            message = message.replace("%(word)s", short(tidy(word)).replace("%", "%%"))
            self.findings.note("warning", row.where, message, key=short(uid))
            return
        if uid in self.papers:
            if not self._is_further_row(uid, title, row):
                return
        else:
            self.papers[uid] = self._paper(uid, title, row)
        self.schedule.add(uid, row)
        for name in ("presenter", "corresponding"):
            if row.get(name):
                self.author_marks.append((uid, name, row.get(name), row.where))
        self._add_award(uid, row)

    def _is_further_row(self, uid: str, title: str, row: Row) -> bool:
        """Return whether a row is another presentation of a paper. Report what else it says of the paper."""
        first = self._first_rows[uid]
        other_names = {markup.fold(written_name(author.name).name) for author in self.bylines.names(row)}
        names = {markup.fold(author.person.name) for author in stated(self.papers[uid].authors, ())}
        has_other_title = title and fold_title(title) != fold_title(tidy(first.get("title")))
        if has_other_title or (names and other_names and names.isdisjoint(other_names)):
            message = gettext(
                "Another paper has “%(uid)s” too (%(place)s). "
                "Give the papers of each table numbers of their own, such as with a prefix."
            )
            self.findings.problem(row.where, "uid", message, uid=uid, place=first.where)
            return False
        if not self.schedule.is_another_presentation(uid, row):
            message = gettext("Another row has “%(uid)s” too. Each paper has one row of its own.")
            self.findings.problem(row.where, "uid", message, uid=uid)
            return False
        differing = [name for name in PAPER_CELLS if any(row.all(name)) and row.all(name) != first.all(name)]
        if differing:
            message = gettext(
                "Of a further row of “%(uid)s”, only the presentation was taken. "
                "It differs from the first one (%(place)s) in: %(fields)s."
            )
            labels = ", ".join(str(FIELDS[name].label) for name in differing)
            self.findings.note("warning", row.where, message, uid=uid, place=first.where, fields=labels)
        return True

    def _find_rejection(self, row: Row) -> str:
        cells = (row.get("decision"), row.get("kind"))
        return next((cell for cell in cells if DECLINED.search(cell)), "")

    def _uid_of_title(self, title: str) -> str:
        """Return the uid of the edition's paper of this title, else one made from the title."""
        if not title:
            return ""
        uids = self._known_uids_by_title.get(fold_title(self.source(title)), [])
        return uids[0] if len(uids) == 1 else make_uid(title)

    @cached_property
    def _known_uids_by_title(self) -> dict[str, list[str]]:
        uids_by_title: dict[str, list[str]] = defaultdict(list)
        for paper in self.context.known("paper"):
            uids_by_title[fold_title(paper.name)].append(paper.key)
        return uids_by_title

    def _paper(self, uid: str, title: str, row: Row) -> PaperRecord:
        where = row.where
        texts = {
            name: self.parts.text(row.get(name), where, name)
            for name in ("track", "decision", "doi", "pages", "license")
            if row.has(name)
        }
        status = row.get("status").casefold()
        if status and status not in STATUSES:
            message = gettext("“%(word)s” is not a status: write draft, published or withdrawn.")
            self.findings.problem(where, "status", message, word=short(status))
        is_accepted = bool(ACCEPTED.search(row.get("decision") or row.get("kind")))
        if is_accepted and (word := next(filter(DECLINED.search, row.other_decisions), "")):
            is_accepted = False
            message = gettext("Another column says “%(word)s”, so a new paper stays a draft: %(key)s.")
            self.findings.note("warning", where, message, word=short(word), key=short(uid))
        if not (is_accepted or status or uid in self.known_papers):
            self.undecided.append(uid)
        topics = split_list(row.get("topic"), is_list=True)
        more_topics = [*topics[1:]]
        for cell in row.all("more_topics"):
            more_topics += split_list(cell, is_list=True)
        keywords = [word for cell in row.all("keywords") for word in split_list(cell)]
        cleaned_keywords = (self.parts.text(word, where, "keywords") for word in (*keywords, *more_topics))
        authors = self.bylines.authors(row)
        return PaperRecord(
            where=where,
            uid=uid,
            title=self.source(title) if title else UNSTATED,
            abstract=self._source(row, "abstract"),
            lay_summary=self._source(row, "lay_summary"),
            **texts,
            topic=self._topic(topics[0], where) if topics else UNSTATED,
            keywords=tuple(dict.fromkeys(cleaned_keywords))
            if row.has("keywords") or more_topics
            else UNSTATED,
            status=status or ("published" if is_accepted else UNSTATED),
            authors=authors or UNSTATED,
            materials=tuple(self._materials(row)) or UNSTATED,
        )

    def _source(self, row: Row, name: str) -> Stated[str]:
        return self.source(self.parts.text(row.get(name), row.where, name)) if row.has(name) else UNSTATED

    def _topic(self, name: str, where: Where) -> str | None:
        known_key = self.topics.get(name) or self.topics.get(markup.fold(name))
        return known_key or self.parts.topic(name, where)

    def _materials(self, row: Row) -> Iterable[MaterialRecord]:
        for kind in MATERIAL_FIELDS:
            link = row.get(kind)
            if is_web_address(link, MAX_MATERIAL_URL_CHARS):
                yield MaterialRecord(where=row.where, kind=kind, url=link)
            elif link:
                message = gettext("This is no address and was left out: %(link)s")
                self.findings.note("warning", row.where, message, link=link[:60])

    def _add_award(self, uid: str, row: Row) -> None:
        for name in split_list(row.get("award"), is_list=True):
            known_key = self.known_awards.get(fold_title(name))
            key = known_key or make_uid(name)
            award = self.awards.get(key) or AwardRecord(
                where=row.where, uid=key, name=UNSTATED if known_key else self.source(name), grants=()
            )
            grants = stated(award.grants, ())
            # A paper has a row for each of its presentations.
            if uid not in [grant.paper for grant in grants]:
                grants = (*grants, GrantRecord(where=row.where, paper=uid))
            self.awards[key] = replace(award, grants=grants)

    # Rows of authors

    def _add_author(self, row: Row) -> None:
        uid = make_uid(row.get("uid"))
        if not uid:
            self.findings.problem(row.where, "uid", gettext("Say to which paper the author belongs."))
            return
        if row.get("corresponding").casefold() == CONTACT_ONLY:
            self.contacts.append(uid)
            return
        texts = {name: self.parts.text(row.get(name), row.where, name) for name in row.cells}
        first, last = texts.get("first", ""), texts.get("last", "")
        name = texts.get("name") or tidy(f"{first} {last}")
        if is_placeholder(name):
            note_placeholder(name, row.where, self.findings)
            return
        affiliation, country = texts.get("affiliation", ""), texts.get("country", "")
        if affiliation and country:
            affiliation = f"{affiliation}, {country}"
        position = texts.get("position", "")
        author = self.parts.author(
            name,
            row.where,
            affiliations=[affiliation],
            corresponding=texts.get("corresponding", "").casefold() in TRUE_WORDS,
            orcid=texts.get("orcid", ""),
            key=f"{row.where.file} {texts['person_key']}" if texts.get("person_key") else "",
            email=texts.get("email", "") or clean_email(name),
            given="" if texts.get("name") else first,
            family="" if texts.get("name") else last,
        )
        author = replace(author, presenting=texts.get("presenter", "").casefold() in TRUE_WORDS)
        match = POSITION.match(position)
        order = int(match[1]) if match else 0
        self.authors[uid].append((order, author))
        self.titles.setdefault(uid, (tidy(texts.get("title", "")), row.where))

    # The end

    def finish(self) -> tuple[PaperRecord, ...]:
        """Add the papers, and their authors to them, and report what was left out."""
        self.schedule.sessions.match_known()
        for row in self._paper_rows:
            self._add_paper(row)
        # A paper with a further row that isn't deleted stays.
        left_out = (self.declined | self.deleted) - self.papers.keys()
        uids_without_row = [uid for uid in self.authors if uid not in self.papers and uid not in left_out]
        for uid in uids_without_row:
            title, where = self.titles[uid]
            if self.has_papers and uid not in self.known_papers:
                message = gettext("There is no paper “%(uid)s” in these files.")
                self.findings.problem(where, "uid", message, uid=uid)
                continue
            self.papers[uid] = PaperRecord(
                where=where, uid=uid, title=self.source(title) if title else UNSTATED
            )
            if title and uid not in self.known_papers:
                self.undecided.append(uid)
        for uid, rows in self.authors.items():
            if uid in self.papers:
                authors = tuple(author for _, author in sorted(rows, key=lambda row: row[0]))
                self.papers[uid] = replace(self.papers[uid], authors=authors)
        for uid, topic_rows in self._topic_rows.items():
            self._add_topics(uid, topic_rows, left_out)
        self._mark_authors()
        self._keep_unusual_names_back()
        self._note_omissions(left_out)
        return tuple(self.papers.values())

    def _note_omissions(self, left_out: Collection[str]) -> None:
        for uid, rows in self.authors.items():
            for _, author in rows if uid in left_out else ():
                message = gettext("The author was left out with the paper %(key)s.")
                self.findings.note("warning", author.where, message, key=short(uid))
        if self.contacts:
            message = gettext("Left out because they are contacts, not authors: %(count)s (%(keys)s).")
            count, keys = len(self.contacts), shorten_list(self.contacts)
            self.findings.note("warning", Where(), message, count=count, keys=keys)
        if self.undecided:
            message = gettext(
                "Without a decision that accepts them, new papers are drafts: %(count)s (%(keys)s)."
            )
            count, keys = len(self.undecided), shorten_list(self.undecided)
            self.findings.note("warning", Where(), message, count=count, keys=keys)

    def _add_topics(self, uid: str, rows: list[Row], left_out: Collection[str]) -> None:
        """Add the topics of a table with a row for each: the first is the paper's, the others keywords."""
        if uid in left_out:
            for row in rows:
                message = gettext("The topic was left out with the paper %(key)s.")
                self.findings.note("warning", row.where, message, key=short(uid))
            return
        for row in rows:
            if not row.get("topic"):
                self.findings.note("warning", row.where, gettext("Left out: the row names no topic."))
        if uid not in self.papers:
            if self.has_papers and uid not in self.known_papers:
                message = gettext("There is no paper “%(uid)s” in these files.")
                self.findings.problem(rows[0].where, "uid", message, uid=uid)
                return
            self.papers[uid] = PaperRecord(where=rows[0].where, uid=uid)
        paper = self.papers[uid]
        names = [self.parts.text(row.get("topic"), row.where, "topic") for row in rows]
        topics = [name for cell in names for name in split_list(cell, is_list=True)]
        topic = paper.topic
        if topics and not is_stated(topic):
            topic, *topics = self._topic(topics[0], rows[0].where), *topics[1:]
        keywords = tuple(dict.fromkeys((*stated(paper.keywords, ()), *topics))) if topics else paper.keywords
        self.papers[uid] = replace(paper, topic=topic, keywords=keywords)

    def _keep_unusual_names_back(self) -> None:
        """Publish nothing if most names of authors are unusual: another column was taken for them."""
        authors = [author for paper in self.papers.values() for author in stated(paper.authors, ())]
        names = [author.person.name for author in authors]
        unusual_names = set(filter(self.context.is_unusual_name, {*names}))
        unusual = [name for name in names if name in unusual_names]
        if len(unusual) < MIN_UNUSUAL_NAMES or 2 * len(unusual) <= len(names):
            return
        for uid, paper in self.papers.items():
            if paper.status == "published":
                self.papers[uid] = replace(paper, status=UNSTATED)
        message = gettext(
            "Most names of authors are unusual: %(count)s of %(total)s (%(names)s). Check which columns are "
            "taken for the names. New papers stay drafts."
        )
        count, total = len(unusual), len(names)
        examples = shorten_list(map(short, dict.fromkeys(unusual)))
        self.findings.note("alarm", Where(), message, count=count, total=total, names=examples)

    def _mark_authors(self) -> None:
        """Mark presenting and corresponding authors, among those of the file, else of the database."""
        uids_without_authors = [
            uid for uid, *_ in self.author_marks if not is_stated(self.papers[uid].authors)
        ]
        existing_authors = self.context.authors(uids_without_authors) if uids_without_authors else {}
        for uid, mark, cell, where in self.author_marks:
            authors = stated(self.papers[uid].authors, ()) or existing_authors.get(uid, ())
            for marked_author in parse_authors(cell):
                index = _find_author(written_name(marked_author.name).name, authors)
                if index is None:
                    message = gettext(
                        "“%(name)s” is not an author of the paper, so no author is marked as %(what)s."
                    )
                    role = gettext("presenting") if mark == "presenter" else gettext("corresponding")
                    self.findings.note("warning", where, message, name=short(marked_author.name), what=role)
                    continue
                flag: dict[str, Any] = {"presenting" if mark == "presenter" else "corresponding": True}
                authors = (*authors[:index], replace(authors[index], **flag), *authors[index + 1 :])
            if authors:
                self.papers[uid] = replace(self.papers[uid], authors=authors)


def _find_author(name: str, authors: tuple[AuthorRecord, ...]) -> int | None:
    """Return the index of the author with this name, else of the only one with family name and initial."""
    folded_name = markup.fold(name)
    names = [markup.fold(author.person.name) for author in authors]
    if names.count(folded_name) == 1:
        return names.index(folded_name)
    parts = folded_name.split()
    if not parts:
        return None
    matches = [
        index
        for index, other in enumerate(names)
        if other.split()[-1:] == parts[-1:] and (len(parts) == 1 or other[:1] == folded_name[:1])
    ]
    return matches[0] if len(matches) == 1 else None
