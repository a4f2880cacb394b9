"""HotCRP's JSON of papers, as tables of papers and of authors with HotCRP's own headings."""

import csv
import io
import json
from collections.abc import Iterable

from exchange.files import Source
from exchange.reading.textfiles import extension, read_head

PAPER_HEADINGS = ("Paper ID", "Title", "Abstract", "Decision", "Track", "Topics")
AUTHOR_HEADINGS = ("paper", "first", "last", "email", "affiliation", "country", "iscontact")
# The names of the parts of a name, older and newer.
GIVEN_NAMES, FAMILY_NAMES = ("first", "given_name", "firstName"), ("last", "family_name", "lastName")
type Content = dict[str, object]


def is_hotcrp(source: Source) -> bool:
    """Return whether a file is a list of papers of HotCRP, or one of its papers."""
    if extension(source.name) != "json":
        return False
    head = read_head(source).lstrip()
    return head.startswith(("[", "{")) and '"pid"' in head and '"title"' in head


def hotcrp_tables(source: Source) -> list[Source]:
    """Return the tables of papers and authors. Raises `ValueError` for content that isn't HotCRP's JSON."""
    content = json.loads(source.content)
    rows = content if isinstance(content, list) else [content]
    if not all(isinstance(row, dict) for row in rows):
        raise ValueError
    authors = [(paper, author) for paper in rows for author in _objects(paper.get("authors"))]
    return [
        _table(f"{source.name}: papers.csv", PAPER_HEADINGS, map(_paper_row, rows)),
        _table(f"{source.name}: authors.csv", AUTHOR_HEADINGS, (_author_row(*pair) for pair in authors)),
    ]


def _paper_row(paper: Content) -> list[str]:
    decision = _text(paper.get("decision"))
    if paper.get("withdrawn") or paper.get("status") == "withdrawn":
        decision = "withdrawn"
    texts = [_text(paper.get(name)) for name in ("pid", "title", "abstract")]
    return [*texts, decision or _text(paper.get("status")), _track(paper), "; ".join(_topics(paper))]


def _author_row(paper: Content, author: Content) -> list[str]:
    given, family = (_first_text(author, names) for names in (GIVEN_NAMES, FAMILY_NAMES))
    contact = "yes" if author.get("contact") is True else ""
    name = [given, family] if given or family else ["", _text(author.get("name"))]
    details = [_text(author.get(key)) for key in ("email", "affiliation", "country")]
    return [_text(paper.get("pid")), *name, *details, contact]


def _track(paper: Content) -> str:
    return _text(paper.get("submission_class") or paper.get("sclass"))


def _topics(paper: Content) -> list[str]:
    """Return the topics: a list, or an object whose values say whether a topic is one of the paper."""
    topics = paper.get("topics")
    if isinstance(topics, dict):
        return [str(name) for name, is_chosen in topics.items() if is_chosen]
    return [topic for topic in topics if isinstance(topic, str)] if isinstance(topics, list) else []


def _objects(value: object) -> list[Content]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _first_text(content: Content, names: Iterable[str]) -> str:
    return next(filter(None, (_text(content.get(name)) for name in names)), "")


def _text(value: object) -> str:
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""


def _table(name: str, headings: Iterable[str], rows: Iterable[Iterable[str]]) -> Source:
    text = io.StringIO()
    csv.writer(text).writerows([headings, *rows])
    return Source(name, text.getvalue().encode("utf-8", "replace"))
