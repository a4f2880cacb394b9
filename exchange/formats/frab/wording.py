"""Words of the format: types of events, texts that every XML and JSON can hold, what was called off."""

import re

from exchange.records import MaterialRecord, SessionRecord

# Everything that XML 1.0 cannot hold, and the control characters that nobody can see.
UNFIT = re.compile("[^\t\n\r\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
BLANK_LINE = re.compile(r"\n[ \t]*\n\s*")
LINE_END = re.compile(r"\r\n?")
CANCELLED = "Cancelled: "
NO_ROOM = "No room"
NO_TITLE = "\u2026"

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
    **{
        kind: (kind, "talk")
        for kind in (
            "opening",
            "panel",
            "tutorial",
            "workshop",
            "social",
            "break",
            "meal",
            "registration",
            "town_hall",
            "award_ceremony",
            "other",
        )
    },
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
