"""From bytes to text: the encodings that files may come in, and the sentence when they come in another."""

import codecs

from django.utils.translation import gettext

from exchange.files import Source
from exchange.problems import Where
from exchange.reading.findings import Findings

UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def decode(source: Source, findings: Findings, *, utf16: bool = False, advice: str) -> str | None:
    """Return the text of a file, or report why it is not text.

    UTF-8 with or without a byte order mark; UTF-16 with one, where `utf16` allows it.
    """
    content, where = source.content, Where(source.name)
    codec, encoding = (
        ("utf-16", "UTF-16") if utf16 and content.startswith(UTF16_MARKS) else ("utf-8-sig", "UTF-8")
    )
    try:
        text = content.decode(codec)
    except UnicodeDecodeError as error:
        said = gettext("The file is not %(encoding)s text (byte %(byte)s). %(advice)s")
        findings.problem(where, "", said % {"encoding": encoding, "byte": error.start, "advice": advice})
        return None
    if "\0" in text:
        said = gettext("The file holds NUL characters, so it is not a text file. %(advice)s")
        findings.problem(where, "", said % {"advice": advice})
        return None
    if not text.strip():
        findings.problem(where, "", gettext("The file is empty."))
        return None
    return text
