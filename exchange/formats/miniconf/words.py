"""What words in titles and cells tell: the kind of a session, the names of people."""

import html
import re

from exchange.reading.bylines import parsed
from exchange.reading.gathering import tidy
from exchange.reading.textfiles import scalar

TAG = re.compile(r"<[^<>]*>")
# The first word that is found decides.
KINDS = (
    ("registration", r"registration"),
    ("opening", r"opening|welcome"),
    ("panel", r"panel"),
    ("award_ceremony", r"award"),
    ("town_hall", r"business meeting|town ?hall|open discussion"),
    ("invited_talk", r"keynote|invited|plenary talk|speakers?\.ya?ml"),
    ("tutorial", r"tutorial"),
    ("workshop", r"workshop"),
    ("meal", r"\b(lunch|dinner|breakfast)\b"),
    ("break", r"\b(coffee )?break\b"),
    ("other", r"sponsor"),
    ("social", r"social|reception|party|mixer|mentoring|affinity|meetup"),
    ("spotlight", r"spotlight"),
    ("poster", r"poster|gather"),
    ("oral", r"\boral\b|q ?& ?a|\bqa\b"),
)
# The kinds whose sessions show papers: what such a session is called may hold any subject.
SHOWING = frozenset(("poster", "oral", "spotlight"))
PRESENTED = {"poster": "poster", "spotlight": "spotlight"}


def kind_of(words: str, default: str, among: frozenset[str] | None = None) -> str:
    """Return the kind of session that a title, a type or a file's name tells, `among` these if given."""
    known = [(kind, pattern) for kind, pattern in KINDS if among is None or kind in among]
    found = (kind for kind, pattern in known if re.search(pattern, words, re.IGNORECASE))
    return next(found, default)


def presentation_kind(session_kind: str) -> str:
    return PRESENTED.get(session_kind, "oral")


def without_tags(title: str) -> str:
    """Return a title without the HTML that calendars put into it."""
    return tidy(html.unescape(TAG.sub(" ", title)))


def names_in(value: object) -> list[str]:
    """Return the people of a text such as `A, B and C`, or of a list of names."""
    if isinstance(value, list):
        names = [scalar(one.get("name")) if isinstance(one, dict) else scalar(one) for one in value]
    else:
        names = [one.name for one in parsed(scalar(value).replace("|", ";"))]
    return list(dict.fromkeys(filter(None, map(tidy, names))))
