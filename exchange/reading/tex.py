"""From LaTeX in reference files to our text: accents and signs become Unicode, formulas stay as they are."""

import re

from pylatexenc.latex2text import (  # type: ignore[import-untyped]
    LatexNodes2Text,
    MacroTextSpec,
    get_default_latex_context_db,
)

FORMULA = re.compile(r"(?<!\\)\$[^$]*\$|\\\[.*?\\\]|\\\(.*?\\\)", re.DOTALL)
EMPHASIS = re.compile(r"\\(?:emph|textit|textsl)\s*\{([^{}]*)\}|\{\\(?:em|it)\s+([^{}]*)\}")
STRONG = re.compile(r"\\textbf\s*\{([^{}]*)\}|\{\\bf\s+([^{}]*)\}")
# What makes text TeX at all; text without it need not be taken apart.
TEX = re.compile(r"[\\{}~]|--|``|''")
# Signs that would begin emphasis or code in our text, where they stand for themselves.
# A percent sign begins a comment in TeX, but hardly ever in a reference file.
PERCENT = re.compile(r"(?<!\\)%")
QUOTED = re.compile(r"`([^`']*)'")
MARKUP = re.compile(r"[*`]|(?<!\w)_|_(?!\w)")
# Where a formula, a beginning or an end of emphasis stood while the rest is decoded.
MARK, EMPHASIS_MARK, STRONG_MARK = "\ue000{}\ue001", "\ue002", "\ue003"
MARKS = re.compile("\ue000(\\d+)\ue001")
PRIVATE = re.compile("[\ue000-\ue003]")
MAX_DEPTH = 30
BRACES = {r"$\lbrace$": "{", r"$\rbrace$": "}"}
# What the decoder would hold back for the head of a document, and write where the next one begins.
HEAD = ("author", "date", "maketitle", "title")
commands = get_default_latex_context_db()
commands.add_context_category(
    "head", prepend=True, macros=[MacroTextSpec(name, discard=False) for name in HEAD]
)
decoder = LatexNodes2Text(commands, math_mode="verbatim", keep_comments=True)


class IncompleteError(ValueError):
    """A command lacks what belongs to it, such as a title that ends with a footnote without a text."""


def decoded(tex: str) -> str:
    """Return the text that the TeX stands for.

    Raises `IncompleteError` where a command lacks what belongs to it, `ValueError` where braces nest too
    deeply.
    """
    tex = PRIVATE.sub("", tex)
    if _depth(tex) > MAX_DEPTH:
        raise ValueError("nested too deeply")
    formulas: list[str] = []

    def kept(found: re.Match[str]) -> str:
        formulas.append(BRACES.get(found[0], found[0]))
        return MARK.format(len(formulas) - 1)

    text = FORMULA.sub(kept, tex)
    text = EMPHASIS.sub(rf"{EMPHASIS_MARK}\1\2{EMPHASIS_MARK}", text)
    text = STRONG.sub(rf"{STRONG_MARK}\1\2{STRONG_MARK}", text)
    if TEX.search(text):
        text = _decoded(PERCENT.sub(r"\%", text)).replace("\u00a0", " ")
    text = QUOTED.sub(r"‘\1’", text)
    text = MARKUP.sub(r"\\\g<0>", text).replace(EMPHASIS_MARK, "*").replace(STRONG_MARK, "**")
    return MARKS.sub(lambda found: formulas[int(found[1])], text)


def _decoded(tex: str) -> str:
    try:
        return str(decoder.latex_to_text(tex, tolerant_parsing=True))
    except (AttributeError, IndexError, KeyError, TypeError) as error:
        # The decoder takes it that what belongs to a command is there.
        raise IncompleteError(tex) from error


def _depth(text: str) -> int:
    deepest = depth = 0
    for sign in re.findall(r"(?<!\\)[{}]", text):
        depth = max(depth + (1 if sign == "{" else -1), 0)
        deepest = max(deepest, depth)
    return deepest
