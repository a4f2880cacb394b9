"""The language, or at least the script, of a text, for screen readers. Pure."""

import re

# Scripts that one language, or a few, are written in, with the tag that is true of all of them (BCP 47).
SCRIPTS = (
    (re.compile(r"[\u1100-\u11ff\uac00-\ud7af]"), "ko"),
    (re.compile(r"[\u3040-\u30ff]"), "ja"),
    (re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]"), "und-Hani"),
    (re.compile(r"[\u0370-\u03ff]"), "el"),
    (re.compile(r"[\u0e00-\u0e7f]"), "th"),
    (re.compile(r"[\u0590-\u05ff]"), "und-Hebr"),
    (re.compile(r"[\u0600-\u06ff]"), "und-Arab"),
    (re.compile(r"[\u0400-\u04ff]"), "und-Cyrl"),
    (re.compile(r"[\u0900-\u097f]"), "und-Deva"),
)
LETTER = re.compile(r"[^\W\d_]")


def language(name: str) -> str:
    """Return the tag of a name's language or script (BCP 47); empty for Latin letters."""
    return next((tag for script, tag in SCRIPTS if script.search(name)), "")


def language_of_line(line: str) -> str:
    """Return the tag of what most letters of a line are written in: a word of another script is a quotation.

    Signs of China within Japanese are Japanese. Empty for Latin letters, and where no script prevails.
    """
    letters = "".join(LETTER.findall(line))
    if letters.isascii():
        return ""
    counts = {tag: len(script.findall(letters)) for script, tag in SCRIPTS}
    if counts["ja"]:
        counts["ja"] += counts.pop("und-Hani")
    tag = max(counts, key=counts.__getitem__)
    return tag if 2 * counts[tag] > len(letters) else ""
