"""The vocabulary of frab schedules and the cleaning of their texts, for the reader and the writers."""

import re
from urllib.parse import urlsplit

from exchange.files import Context
from exchange.reading.papers import OTHER_KINDS, PAPER_KINDS, guess_session_kind
from exchange.reading.values import tidy

# Characters that XML 1.0 forbids, and invisible control characters.
INVALID_XML_CHARS = re.compile("[^\t\n\r\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
BLANK_LINE = re.compile(r"\n[ \t]*\n\s*")
LINE_END = re.compile(r"\r\n?")
CANCELLED_PREFIX = "Cancelled: "
NO_ROOM = "No room"
# The name by which files say that this site wrote them.
OWN_GENERATOR = "Plenary"
GUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\Z")
FALLBACK_SITE_URL = "https://plenary.invalid"

# Types of events that are kinds of sessions here, and the kind of the presentation in such a session.
BUILT_IN_TYPES = {**{kind: kind for kind in PAPER_KINDS}, **dict.fromkeys((*OTHER_KINDS, "other"), "talk")}
# Built-in kinds by words that occur in other types, such as "Talk 30 min + 10 min Q&A".
COUNTS_AS = {
    **{name.replace("_", " "): name for name in BUILT_IN_TYPES},
    **dict.fromkeys(("lecture", "talk", "vortrag", "presentation"), "oral"),
    **dict.fromkeys(("keynote", "invited lecture", "plenary"), "invited_talk"),
    **dict.fromkeys(("lightning", "lightning talk"), "spotlight"),
    **dict.fromkeys(("hands on", "hackathon", "sprint"), "workshop"),
    **dict.fromkeys(("training", "course"), "tutorial"),
    **dict.fromkeys(("podium", "discussion", "debate", "round table", "fishbowl"), "panel"),
    **dict.fromkeys(("lunch", "dinner", "breakfast"), "meal"),
    **dict.fromkeys(("pause", "coffee"), "break"),
    **dict.fromkeys(("concert", "djset", "performance", "party", "game", "film"), "social"),
}
# The longest words are tried first, so that "lightning talk" does not match "talk".
TYPE_WORDS = sorted(COUNTS_AS, key=len, reverse=True)
DEMO = "demo"

# Type of a link, whether it is an attachment -> kind of the material.
LINK_TYPES = {
    "pdf": ("paper", True),
    "slides": ("slides", True),
    "poster": ("media", True),
    "video": ("media", False),
    "code": ("related", False),
    "data": ("related", False),
    "review": ("related", False),
    "project": ("web", False),
    "other": ("related", False),
}
# Links that are fields of a session, in the order in which they are written.
SESSION_LINKS = {
    ("Stream", "media"): "stream_url",
    ("Recording", "media"): "recording_url",
    ("Chat", "related"): "chat_url",
}
LINK_TITLES = {"pdf": "Paper", "other": "Link", "review": "Reviews"}


def guess_built_in_kind(key: str) -> str:
    """Return the built-in kind of sessions that a type suggests. The type is given as a slug."""
    text = key.replace("-", " ")
    return next(
        (COUNTS_AS[word] for word in TYPE_WORDS if re.search(rf"\b{word}s?\b", text)),
        guess_session_kind(text, "other"),
    )


def pick_language(value: object) -> str:
    """Return a text; of a text in several languages the English one, else the first."""
    if isinstance(value, dict):
        texts = {name: text for name, text in value.items() if isinstance(text, str) and text.strip()}
        value = texts.get("en") or next(iter(texts.values()), "")
    return value.strip() if isinstance(value, str) else ""


def clean_line(text: str) -> str:
    """Return a text on one line, without invalid characters."""
    return tidy(INVALID_XML_CHARS.sub("", text))


def clean_text(text: str) -> str:
    """Return a text of several lines, without invalid characters."""
    return LINE_END.sub("\n", INVALID_XML_CHARS.sub("", text)).strip()


def split_first_paragraph(text: str) -> tuple[str, str]:
    """Split a text into its first paragraph and the rest: an event's abstract and its description."""
    first, *others = BLANK_LINE.split(text, maxsplit=1)
    return first, others[0] if others else ""


def join_paragraphs(*texts: str) -> str:
    return "\n\n".join(filter(None, texts))


def classify_link(link_type: str, title: str, is_attachment: bool) -> tuple[str, str]:
    """Return the kind and label of the material for a link of this type and title."""
    for kind, link in LINK_TYPES.items():
        if link == (link_type, is_attachment) and title == LINK_TITLES.get(kind, kind.capitalize()):
            return kind, ""
    kind_by_type = {"media": "video", "web": "project"}
    if is_attachment:
        kind_by_type = {"paper": "pdf", "slides": "slides", "media": "poster"}
    return kind_by_type.get(link_type, "other"), title


def get_site_url(context: Context) -> str:
    """Return the site's address without a slash at its end."""
    return context.site_url.rstrip("/") or FALLBACK_SITE_URL


def get_host(address: str) -> str:
    """Return the host of an address, the namespace of the numbers of its people."""
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""


def is_web_url(address: str) -> bool:
    return address.startswith(("https://", "http://"))
