"""Which column of somebody's spreadsheet is which: by its name, however spelt, else by a mapping file."""

import json
import re
import tomllib
from dataclasses import dataclass, field

from django.utils.translation import gettext

from exchange.files import Source
from exchange.problems import Where
from exchange.reading.findings import Findings, nearest, short
from exchange.reading.textfiles import decode

ADVICE = "Write the mapping as TOML or JSON, in UTF-8."
NOT_IN_NAMES = re.compile(r"[^0-9a-z#]+")
# What each column may be called, the names of EasyChair, CMT and HotCRP among them.
NAMES = {
    "uid": "#, id, uid, no, nr, number, pid, paper, paper id, paper #, paper no, paper number, submission, "
    "submission #, submission id, submission number, submission no, contribution id",
    "title": "title, paper title, submission title, title of paper, name of paper",
    "abstract": "abstract, paper abstract, summary, description",
    "lay_summary": "lay summary, tl dr, tldr, plain summary, teaser",
    "authors": "authors, author list, author s, all authors, author names and affiliations",
    "author_names": "author names, names of authors",
    "decision": "decision, status, outcome, acceptance, notification, paper status, result, paper decision, "
    "accept reject, final decision",
    "track": "track, track name, session type, submission type, paper type, contribution type, type, "
    "category, presentation type, format",
    "topic": "topic, topics, area, subject area, primary subject area, primary area, primary topic, "
    "main topic, subject areas",
    "more_topics": "secondary subject areas, secondary areas, secondary topics, other topics",
    "keywords": "keywords, keyword, key words, author keywords, tags, index terms",
    "doi": "doi, digital object identifier",
    "pages": "pages, page range, page numbers",
    "pdf": "pdf, pdf url, pdf link, paper url, paper link, paper pdf, file url",
    "code": "code, code url, code link, github, repository",
    "video": "video, video url, video link, recording",
    "slides": "slides, slides url",
    "project": "project, project page, website, web site, url, link, homepage",
    # One row for each author
    "first": "first name, first, given name, given, given names, firstname, forename, author first name",
    "last": "last name, last, family name, family, surname, lastname, author last name",
    "name": "author, author name, full name, name, person",
    "affiliation": "affiliation, affiliations, organization, organisation, institution, institute, "
    "university, company, author affiliation",
    "country": "country, author country",
    "corresponding": "corresponding, corresponding author, contact author, contact, is contact",
    "orcid": "orcid, orcid id, orcid identifier",
    "position": "author position, author order, order, position, author #, author number, author no",
}


def folded(name: str) -> str:
    """Return a column's name without case, blanks and punctuation; `#` counts."""
    return NOT_IN_NAMES.sub("", name.casefold())


COLUMNS = {folded(name): column for column, names in NAMES.items() for name in names.split(", ")}


@dataclass
class Mapping:
    """Which columns are which, by the user's own file first: name in the sheet -> column, or left out."""

    own: dict[str, str] = field(default_factory=dict)

    def column(self, name: str) -> str:
        key = folded(name)
        return self.own[key] if key in self.own else COLUMNS.get(key, "")

    def is_left_out(self, name: str) -> bool:
        """Whether the mapping file says that this column is not wanted."""
        return self.own.get(folded(name)) == ""

    def read(self, source: Source, findings: Findings) -> None:
        """Take a mapping file: `[columns]`, then lines such as `"Titel" = "title"`."""
        where, found = Where(source.name), _parsed(source, findings)
        columns = found.get("columns") if found is not None else {}
        if not isinstance(columns, dict):
            message = gettext('The mapping must hold "columns": names in the sheet and what they are.')
            findings.problem(where, "columns", message)
            return
        for name, column in columns.items():
            if column == "" or (isinstance(column, str) and column in NAMES):
                self.own[folded(name)] = column
                continue
            message = gettext("There is no such column: “%(column)s”. %(hint)s Known are: %(known)s.") % {
                "column": short(str(column)),
                "hint": nearest(str(column), NAMES).strip(),
                "known": ", ".join(NAMES),
            }
            findings.problem(where, f"columns.{short(name)}", message)


def _parsed(source: Source, findings: Findings) -> dict[str, object] | None:
    text = decode(source, findings, advice=ADVICE)
    if text is None:
        return None
    try:
        found = json.loads(text) if text.lstrip().startswith("{") else tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        message = gettext("The mapping cannot be read: %(error)s. %(advice)s")
        findings.problem(Where(source.name), "", message % {"error": short(str(error)), "advice": ADVICE})
        return None
    return found if isinstance(found, dict) else {}
