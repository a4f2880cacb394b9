"""TeX commands, accents and groups in prose, as readers should see them.

Where formulas begin and end is decided in markup.tex.
"""

import re
import unicodedata

from markdown_it.rules_inline import StateInline

from markup import formula
from markup.tokens import argument, braces, push_address, push_break, push_nested, push_text, skip

COMMAND = re.compile(r"\\([A-Za-z]+)\*?")
ACCENT = re.compile(
    r"""\\(?:(?P<mark>[`'^"~=.])|(?P<word>[cvHkurdb])(?=[\s{])\s?)"""
    r"(?P<brace>\{)?\s?(?P<letter>\\[ij](?![A-Za-z])|[A-Za-z])(?(brace)\s?\})"
)
MARKS = {
    "`": "\u0300", "'": "\u0301", "^": "\u0302", '"': "\u0308", "~": "\u0303", "=": "\u0304", ".": "\u0307",
    "c": "\u0327", "v": "\u030c", "H": "\u030b", "k": "\u0328", "u": "\u0306", "r": "\u030a", "d": "\u0323",
    "b": "\u0331",
}  # fmt: skip
# Markdown itself escapes these, so only letters that languages really write so are read as accents.
SCARCE = {".": "zZIeE", "=": "aAeEiIoOuU", '"': "aAeEiIoOuUyY"}

TAGS = {
    "emph": "em", "textit": "em", "textsl": "em", "em": "em", "it": "em", "itshape": "em", "sl": "em",
    "textbf": "strong", "bf": "strong", "bfseries": "strong",
    "textsuperscript": "sup", "textsubscript": "sub",
}  # fmt: skip
# Their content is shown, their formatting is not.
TRANSPARENT = frozenset(
    {
        "textsc", "textrm", "textsf", "textnormal", "textup", "textmd", "text", "mbox", "hbox",
        "underline", "uline", "textul", "ul", "textcolor", "mathrm", "mathbf", "mathit", "mathsf",
        "mathtt", "mathcal", "boldsymbol", "bm", "ensuremath", "uppercase", "protect", "rm", "sf", "sc",
        "tt", "normalfont", "scshape",
    }
)  # fmt: skip
CODE = frozenset(("texttt", "code", "lstinline", "path"))
QUOTED = {"say": "“”", "enquote": "“”", "footnote": "()"}
DROPPED = frozenset(
    {
        "cite", "citep", "citealp", "parencite", "autocite", "citenum", "label", "vspace", "hspace",
        "index", "thanks", "begin", "end",
    }
)  # fmt: skip
NAMED = frozenset(
    {
        "citet", "citealt", "citeauthor", "citeyear", "textcite", "ref", "eqref", "cref", "Cref",
        "autoref",
    }
)  # fmt: skip
LETTERS = {
    "ss": "ß", "o": "ø", "O": "Ø", "l": "ł", "L": "Ł", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ", "aa": "å",
    "AA": "Å", "i": "\u0131", "j": "\u0237", "dh": "ð", "DH": "Ð", "th": "þ", "TH": "Þ", "dj": "đ", "DJ": "Đ",
}  # fmt: skip
WORDS = {
    "LaTeX": "LaTeX", "TeX": "TeX", "textellipsis": "…", "item": "• ",
    "textendash": "\u2013", "textemdash": "\u2014", "textbackslash": "\\", "textasciitilde": "~",
    "textasciicircum": "^", "textunderscore": "_", "textless": "<", "textgreater": ">", "textbar": "|",
    "textdegree": "°", "textmu": "µ", "texttimes": "\u00d7", "textpm": "±", "copyright": "©", "dag": "†",
    "textregistered": "®", "texttrademark": "™", "ddag": "‡", "textquotesingle": "'",
    "textquotedblleft": "“", "textquotedblright": "”", "eg": "e.g.", "ie": "i.e.", "etal": "et al.",
    "sim": "\u223c", "quad": " ", "qquad": " ", "xspace": "", "noindent": "", "centering": "", "bigskip": "",
    "medskip": "", "smallskip": "", "left": "", "right": "", "maketitle": "",
}  # fmt: skip
BREAKS = frozenset(("par", "newline", "linebreak", "item"))


def command(state: StateInline, silent: bool) -> bool:
    """Whatever begins with a backslash, but for a formula."""
    if _accent(state, silent):
        return True
    following = state.src[state.pos + 1 : state.pos + 2]
    if following == "\\":
        return push_break(state, state.pos + 2, silent)
    if following == " ":
        return push_text(state, " ", state.pos + 2, silent)
    if following in (",", "-", "/"):
        return _spacing(state, following, silent)
    if match := COMMAND.match(state.src, state.pos, state.posMax):
        return _command(state, match[1], match.end(), silent)
    return False


def _accent(state: StateInline, silent: bool) -> bool:
    match = ACCENT.match(state.src, state.pos, state.posMax)
    if not match:
        return False
    mark = match["mark"] or match["word"]
    letter = match["letter"].removeprefix("\\")
    if letter not in SCARCE.get(mark, letter):
        return False
    composed = unicodedata.normalize("NFC", letter + MARKS[mark])
    return len(composed) == 1 and push_text(state, composed, match.end(), silent)


def _spacing(state: StateInline, mark: str, silent: bool) -> bool:
    """`10\\,000`, a hyphenation point, an italic correction; anywhere else it is Markdown's escape."""
    around = state.src[state.pos - 1 : state.pos] + state.src[state.pos + 2 : state.pos + 3]
    if len(around) != 2 or not around.isalnum():
        return False
    return push_text(state, "\u2009" if mark == "," else "", state.pos + 2, silent)


def _command(state: StateInline, name: str, after: int, silent: bool) -> bool:
    if name in ("url", "href"):
        return _link(state, name, after, silent)
    if name in BREAKS:
        push_break(state, after, silent)
        return name != "item" or push_text(state, WORDS[name], skip(state, after, r"\s*"), silent)
    if name in LETTERS:
        return push_text(state, LETTERS[name], skip(state, after, r"\{\}|\s(?=[a-zß-ÿ])|"), silent)
    word = _word(name)
    if word is not None:
        return push_text(state, word, skip(state, after, r"(?:\{\})?"), silent)
    inner = argument(state, after)
    if inner and inner[0] < inner[1]:
        return _applied(state, name, inner, silent)
    return _unknown(state, name, after, silent)


def _word(name: str) -> str | None:
    if name in WORDS:
        return WORDS[name]
    return name if name in formula.FUNCTIONS else formula.symbol(name)


def _applied(state: StateInline, name: str, inner: tuple[int, int], silent: bool) -> bool:
    start, stop = inner
    if name in DROPPED:
        if not silent and name not in ("begin", "end"):
            state.pending = state.pending.rstrip(" \u00a0")
        return push_text(state, "", stop + 1, silent)
    if name in CODE:
        return _code(state, start, stop, silent)
    if name in NAMED:
        return push_text(state, f"[{state.src[start:stop]}]", stop + 1, silent)
    if name == "textcolor" and (second := argument(state, stop + 1)):
        start, stop = second
    if name not in TAGS and name not in TRANSPARENT and name not in QUOTED and not silent:
        _remember(state, name)
    quotes = QUOTED.get(name, "")
    return push_nested(state, start, stop, stop + 1, silent, tag=TAGS.get(name, ""), quotes=quotes)


def _unknown(state: StateInline, name: str, after: int, silent: bool) -> bool:
    """An author's own macro (`\\Walrus`) is read as its name; a path (`C:\\temp`) stays as it is."""
    before = state.src[state.pos - 1 : state.pos]
    follows_path = before.isalnum() or (before != "" and before in ":/\\")
    if follows_path or re.match(r"\\\w", state.src[after : after + 2]):
        return False
    known = name in TAGS or name in TRANSPARENT or name in DROPPED
    is_unclosed = state.src.startswith("{", after) and argument(state, after) is None
    if not silent and (is_unclosed or not known):
        _remember(state, name)
    return push_text(state, "" if known else name, skip(state, after, r"(?:\{\})?"), silent)


def _remember(state: StateInline, name: str) -> None:
    state.env.setdefault("unknown", []).append("\\" + name)


def _link(state: StateInline, name: str, after: int, silent: bool) -> bool:
    target = argument(state, after)
    if not target:
        return _unknown(state, name, after, silent)
    address = re.sub(r"\\([_%#&~$])", r"\1", state.src[slice(*target)]).strip()
    label = argument(state, target[1] + 1) if name == "href" else target
    if not label:
        return False
    href = state.md.normalizeLink(address)
    if name == "href":
        tag = "a" if state.md.validateLink(href) and state.linkLevel == 0 else ""
        return push_nested(state, *label, label[1] + 1, silent, tag=tag, href=href)
    return push_address(state, address, target[1] + 1, silent)


def _code(state: StateInline, start: int, stop: int, silent: bool) -> bool:
    if not silent:
        token = state.push("code_inline", "code", 0)
        content = re.sub(r"\\[A-Za-z]+\*?\s?\{([^{}]*)\}", r"\1", state.src[start:stop])
        token.content = re.sub(r"\\([^A-Za-z\s])", r"\1", content).replace("~", " ").replace("\n", " ")
    state.pos = stop + 1
    return True


def group(state: StateInline, silent: bool) -> bool:
    """{\\em words}, {\\"o}: TeX's groups. Any other braces are the author's own."""
    stop = braces(state.src).get(state.pos, -1)
    if not state.src.startswith("\\", state.pos + 1) or not 0 < stop < state.posMax:
        return False
    match = COMMAND.match(state.src, state.pos + 1, stop)
    if match and match[1] in ("tt", "ttfamily"):
        return _code(state, skip(state, match.end(), r"\s?"), stop, silent)
    if match and match[1] in TAGS and not state.src.startswith("{", match.end()):
        return push_nested(
            state, skip(state, match.end(), r"\s?"), stop, stop + 1, silent, tag=TAGS[match[1]]
        )
    if state.src[state.pos + 2 : state.pos + 3] in ("{", "}"):
        return False
    return push_nested(state, state.pos + 1, stop, stop + 1, silent)
