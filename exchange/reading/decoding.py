"""From bytes to text: the encodings that files may come in, and the sentence when they come in another."""

import codecs

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
        findings.problem(where, "", f"The file is not {encoding} text (byte {error.start}). {advice}")
        return None
    if "\0" in text:
        findings.problem(where, "", f"The file holds NUL characters, so it is not a text file. {advice}")
        return None
    if not text.strip():
        findings.problem(where, "", "The file is empty.")
        return None
    return text
