"""Words and keys of the format: types of events, texts that every XML and JSON can hold, guids and numbers.

Guids, numbers and slugs of events, rooms and people are made of lasting uids, so they last as long.
"""

import re
from collections.abc import Iterable
from urllib.parse import urlsplit
from uuid import NAMESPACE_URL, UUID, uuid5

from exchange.files import Context
from exchange.records import MaterialRecord, SessionRecord

# Everything that XML 1.0 cannot hold, and invisible control characters.
UNFIT = re.compile("[^\t\n\r\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
BLANK_LINE = re.compile(r"\n[ \t]*\n\s*")
LINE_END = re.compile(r"\r\n?")
CANCELLED = "Cancelled: "
NO_ROOM = "No room"
NO_TITLE = "\u2026"
GUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\Z")
NOT_IN_ACRONYMS = re.compile(r"[^a-z0-9_]+")
# Apps keep numbers in 32 bits with a sign; small ones are left out, so that slugs are long enough.
FIRST_NUMBER, LAST_NUMBER = 100_000, 2**31 - 1
NOWHERE = "https://plenary.invalid"

# Kinds that apps call as we do.
SAME = (
    *("opening", "panel", "tutorial", "workshop", "social", "break", "meal"),
    *("registration", "town_hall", "award_ceremony", "other"),
)
# What apps call an event -> kind of the session and, where it is a talk, of the presentation in it.
KINDS = {
    "lecture": ("invited_talk", "talk"),
    "talk": ("invited_talk", "talk"),
    "invited_talk": ("invited_talk", "talk"),
    "keynote": ("invited_talk", "talk"),
    "oral": ("oral", "oral"),
    "spotlight": ("spotlight", "spotlight"),
    "lightning_talk": ("spotlight", "spotlight"),
    "lightning": ("spotlight", "spotlight"),
    "poster": ("poster", "poster"),
    "demo": ("other", "demo"),
    "podium": ("panel", "talk"),
    "discussion": ("panel", "talk"),
    "lunch": ("meal", "talk"),
    "concert": ("social", "talk"),
    "djset": ("social", "talk"),
    "performance": ("social", "talk"),
    "party": ("social", "talk"),
    **{kind: (kind, "talk") for kind in SAME},
}

# Type of a link, whether it is an attachment -> kind of the material.
MATERIALS = {
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
# Links of a session that are none of its paper, in the order in which they are written.
OWN_LINKS = {
    ("Stream", "media"): "stream_url",
    ("Recording", "media"): "recording_url",
    ("Chat", "related"): "chat_url",
}
NAMED = {"pdf": "Paper", "other": "Link", "review": "Reviews"}


def line(text: str) -> str:
    """Return a text on one line, without what no file may hold."""
    return " ".join(UNFIT.sub("", text).split())


def prose(text: str) -> str:
    """Return a text of several lines, without what no file may hold."""
    return LINE_END.sub("\n", UNFIT.sub("", text)).strip()


def parted(text: str) -> tuple[str, str]:
    """Part a text into its first paragraph and the rest: an event's abstract and its description."""
    first, *rest = BLANK_LINE.split(text, maxsplit=1)
    return first, rest[0] if rest else ""


def joined(*texts: str) -> str:
    """Undo `parted`."""
    return "\n\n".join(filter(None, texts))


def type_of(session: SessionRecord, presentation: str = "") -> str:
    """Return the type of a session, or of one that is a single presentation of this kind."""
    kind = str(session.kind or "other")
    if kind == "invited_talk":
        return "talk"
    return "demo" if (kind, presentation) == ("other", "demo") else kind


def material_name(material: MaterialRecord) -> str:
    return line(material.label) or NAMED.get(material.kind, material.kind.capitalize())


def material_of(kind: str, title: str, is_attachment: bool) -> tuple[str, str]:
    """Return kind and label of the material that a link of this type and title is."""
    for name, spelled in MATERIALS.items():
        if spelled == (kind, is_attachment) and title == NAMED.get(name, name.capitalize()):
            return name, ""
    alike = {"paper": "pdf", "slides": "slides"} if is_attachment else {"media": "video", "web": "project"}
    if is_attachment:
        return ("poster" if kind == "media" else alike.get(kind, "other")), title
    return alike.get(kind, "other"), title


# Keys


def site_of(context: Context) -> str:
    """Return the site's address without a slash at its end."""
    return context.site_url.rstrip("/") or NOWHERE


def event_guid(context: Context, kind: str, uid: str) -> str:
    """Return the guid of a session or presentation; a session that came with one keeps it."""
    if kind == "session" and GUID.match(uid):
        return uid.lower()
    return uuid_of(f"{site_of(context)}/{context.edition}/{kind}/{uid}")


def uuid_of(name: str) -> str:
    return str(uuid5(NAMESPACE_URL, name))


def number_of(guid: str) -> int:
    """Return the number that belongs to a guid."""
    return FIRST_NUMBER + UUID(guid).int % (LAST_NUMBER - FIRST_NUMBER)


def numbered(guids: Iterable[str], *, odd: bool = False) -> dict[str, int]:
    """Give each guid a unique even or odd number.

    A guid whose number is taken gets the next free one, so later guids never change earlier numbers.
    """
    taken: set[int] = set()
    found: dict[str, int] = {}
    for guid in dict.fromkeys(guids):
        value = number_of(guid) & ~1 | odd
        while value in taken:
            value = value + 2 if value + 2 <= LAST_NUMBER else FIRST_NUMBER + odd
        taken.add(value)
        found[guid] = value
    return found


def acronym_of(conference: str, context: Context) -> str:
    """Return a short name such as "mlsys2021": small letters, digits and underscores, at least four."""
    words = f"{conference}{context.edition}" if conference else f"program_{context.edition}"
    name = NOT_IN_ACRONYMS.sub("_", words.lower())
    return name if len(name) >= 4 else f"{name}_{context.year or 'program'}"


def host_of(address: str) -> str:
    """Return the host of an address, the namespace of the numbers of its people."""
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""


def is_web(address: str) -> bool:
    """Whether an app can open the address."""
    return address.startswith(("https://", "http://"))
