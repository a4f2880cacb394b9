"""TeX inside an author's Markdown: a markdown-it plugin for formulas, commands, accents, groups, TeX's
quotes, dashes and ties, and bare addresses.

It parses the source into tokens, which `markup` renders. A rule or handler advances `state.pos` past the text
that it has read. It adds no tokens if the parser only looks ahead (`silent`).
"""

import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline

from markup import formula

Handler = Callable[[StateInline, bool], bool]

QUOTES = re.compile(r"``([^`]{1,2000}?)(?:''|\"(?!\w))|`([^`'\n]{1,500})'(?![\w'])")
SCHEME = re.compile(r"(?<![A-Za-z0-9])https?$", re.IGNORECASE)
ADDRESS = re.compile(r"://((?:\\[_%#&~$]|[^\s<>\"'`{}|\\^\[\]$“”‘’«»\uff0c。\uff1b、\x00-\x1f]){1,2000})")
DASHES = re.compile(r"-+")
ENVIRONMENT = re.compile(r"\\begin\{((?:equation|align|gather|multline|eqnarray|displaymath)\*?)\}")
ARGUMENT = re.compile(r"(?:\[[^\[\]\n]{0,200}\]){0,2}\s?\{")
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
# Markdown itself escapes these characters, so only letters that exist in languages are read as accents.
SCARCE = {".": "zZIeE", "=": "aAeEiIoOuU", '"': "aAeEiIoOuUyY"}

TAGS = {
    "emph": "em", "textit": "em", "textsl": "em", "em": "em", "it": "em", "itshape": "em", "sl": "em",
    "textbf": "strong", "bf": "strong", "bfseries": "strong",
    "textsuperscript": "sup", "textsubscript": "sub",
}  # fmt: skip
# Commands whose content is shown without their formatting.
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
    "textasciicircum": "^", "textasciigrave": "`", "textunderscore": "_", "textless": "<",
    "textgreater": ">", "textbar": "|",
    "textdegree": "°", "textmu": "µ", "texttimes": "\u00d7", "textpm": "±", "copyright": "©", "dag": "†",
    "textregistered": "®", "texttrademark": "™", "ddag": "‡", "textquotesingle": "'",
    "textquotedblleft": "“", "textquotedblright": "”", "eg": "e.g.", "ie": "i.e.", "etal": "et al.",
    "sim": "\u223c", "quad": " ", "qquad": " ", "xspace": "", "noindent": "", "centering": "", "bigskip": "",
    "medskip": "", "smallskip": "", "left": "", "right": "", "maketitle": "",
}  # fmt: skip
BREAKS = frozenset(("par", "newline", "linebreak", "item"))


def tex_plugin(md: MarkdownIt) -> None:
    md.block.ruler.before(
        "fence", "math_block", _display_block, {"alt": ["paragraph", "reference", "blockquote", "list"]}
    )
    for closing in ("'", '"'):
        md.inline.add_terminator_char(closing)
    md.inline.ruler.before("newline", "tex", _tex)


def _tex(state: StateInline, silent: bool) -> bool:
    handler = HANDLERS.get(state.src[state.pos])
    return handler(state, silent) if handler else False


# Formulas


def _display_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Parse $$ … $$, \\[ … \\] or an equation environment on separate lines, without a blank line."""
    first = state.src[state.bMarks[start] + state.tShift[start] : state.eMarks[start]].rstrip()
    opening, closing, content = _display_delimiters(first)
    if not closing or state.sCount[start] - state.blkIndent >= 4:
        return False
    line, text = start, content
    while not text.rstrip().endswith(closing):
        line += 1
        if line >= end or state.isEmpty(line) or line - start > 60:
            return False
        text += "\n" + state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]]
    text = text.rstrip().removesuffix(closing)
    if closing in text or not text.strip() or len(text) > formula.MAX_FORMULA_CHARS:
        return False
    if silent:
        return True
    state.line = line + 1
    token = state.push("math_block", "math", 0)
    token.block = True
    token.markup = opening
    token.content = (opening + text + closing if opening.startswith("\\begin") else text).strip()
    token.map = [start, state.line]
    return True


def _display_delimiters(first: str) -> tuple[str, str, str]:
    if first.startswith("$$"):
        return "$$", "$$", first[2:]
    if first.startswith("\\["):
        return "\\[", "\\]", first[2:]
    if match := ENVIRONMENT.match(first):
        return match[0], f"\\end{{{match[1]}}}", first[match.end() :]
    return "", "", ""


def _dollar(state: StateInline, silent: bool) -> bool:
    mark = "$$" if state.src.startswith("$$", state.pos) else "$"
    start = state.pos + len(mark)
    stop = _find_closing(state.src, mark, start, min(state.posMax, start + formula.MAX_FORMULA_CHARS))
    content, after = state.src[start:stop], stop + len(mark)
    if mark == "$":
        before, following = state.src[start - 2 : start - 1], state.src[after : after + 1]
        is_formula = stop > 0 and _is_formula(content, before, following)
    elif stop < 0:
        return _push_text(state, mark, start, silent)
    else:
        is_formula = bool(content.strip())
    return is_formula and _push_formula(state, content, after, mark == "$$", silent)


def _find_closing(source: str, mark: str, start: int, limit: int) -> int:
    """Return the index of the next `mark` without a backslash before it; -1 if none is before the limit."""
    index = source.find(mark, start, limit)
    while index > 0 and source[index - 1] == "\\":
        index = source.find(mark, index + 1, limit)
    return index


def _is_formula(content: str, before: str, after: str) -> bool:
    """Return whether the text between two dollars is a formula, not prose between prices."""
    if not content or content.isspace():
        return False
    has_tex = re.search(r"[\\^_]", content) is not None
    if content[0].isspace() or content[-1].isspace():
        return has_tex and not before.isalnum() and not content.lstrip()[0].isdigit()
    if content[0].isdigit() and not has_tex and re.search(r"\s[A-Za-z]{2,}|[A-Z]{2}$", content):
        return False
    if before.isdigit() or after.isdigit():
        is_operator = re.fullmatch(r"[<>=~+\-*/|±≤≥≈]+", content) is not None
        return (has_tex or is_operator) and not (after.isdigit() and content[0].isdigit())
    return True


def _bracket_formula(state: StateInline, silent: bool) -> bool:
    """Parse \\( … \\) and \\[ … \\], unless the brackets are around words, as Markdown's escapes."""
    display = state.src[state.pos + 1] == "["
    start = state.pos + 2
    stop = state.src.find(
        "\\]" if display else "\\)", start, min(state.posMax, start + formula.MAX_FORMULA_CHARS)
    )
    if stop < 0:
        return False
    content = state.src[start:stop]
    if not content.strip() or (re.search(r"[A-Za-z]{2}", content) and not re.search(r"[\\^_=<>+]", content)):
        return False
    return _push_formula(state, content, stop + 2, display, silent)


def _push_formula(state: StateInline, content: str, after: int, display: bool, silent: bool) -> bool:
    if not silent:
        token = state.push("math_inline", "math", 0)
        token.content = content.strip()
        token.info = "display" if display else ""
    state.pos = after
    return True


# Signs


def _quotes(state: StateInline, silent: bool) -> bool:
    match = QUOTES.match(state.src, state.pos, state.posMax)
    if not match:
        return False
    number, quotes = (1, "“”") if match[1] is not None else (2, "‘’")
    return _push_nested(state, *match.span(number), match.end(), silent, quotes=quotes)


def _dashes(state: StateInline, silent: bool) -> bool:
    match = DASHES.match(state.src, state.pos, state.posMax)
    if not match or len(match[0]) not in (2, 3):
        return match is not None and _push_text(state, match[0], match.end(), silent)
    before, after = state.src[match.start() - 1 : match.start()], state.src[match.end() : match.end() + 1]
    if len(match[0]) == 2 and after.isalpha() and not before.isalnum():  # a program's option: --verbose
        return _push_text(state, "--", match.end(), silent)
    return _push_text(state, "–" if len(match[0]) == 2 else "—", match.end(), silent)


def _tie(state: StateInline, silent: bool) -> bool:
    """Parse the tie of `Fig.~1` as a no-break space, but not `~5%` (about) and `3~5` (a range)."""
    before, after = state.src[state.pos - 1 : state.pos], state.src[state.pos + 1 : state.pos + 2]
    is_bound = before.isalpha() or (before in (".", ",", ")", "%", "$", "}") and before)
    if is_bound and (after.isalnum() or (after in ("\\", "$", "(") and after)):
        return _push_text(state, "\u00a0", state.pos + 1, silent)
    return False


def _colon(state: StateInline, silent: bool) -> bool:
    scheme = SCHEME.search(state.src, max(0, state.pos - 6), state.pos)
    match = ADDRESS.match(state.src, state.pos, state.posMax) if scheme else None
    address = _trim_address(match[1]) if match else ""
    if not scheme or not match or not address or not (silent or state.pending.endswith(scheme[0])):
        return False
    after = match.start(1) + len(address)
    if silent:
        state.pos = after
        return True
    state.pending = state.pending.removesuffix(scheme[0])
    return _push_address(state, scheme[0] + "://" + re.sub(r"\\([_%#&~$])", r"\1", address), after, silent)


def _trim_address(address: str) -> str:
    """Remove the sentence's punctuation from the end, but no bracket that was opened in the address."""
    while address:
        if address[-1] == ")" and address.count("(") >= address.count(")"):
            break
        if address[-1] not in ".,;:!?*_~)":
            break
        # A backslash escapes the sign after it.
        address = address[:-1].removesuffix("\\")
    return address


def _star(state: StateInline, silent: bool) -> bool:
    """Parse 2*3*4 as a product, not as emphasis."""
    neighbors = state.src[state.pos - 1 : state.pos] + state.src[state.pos + 1 : state.pos + 2]
    is_product = len(neighbors) == 2 and neighbors.isalnum() and not neighbors.isalpha()
    return is_product and _push_text(state, "*", state.pos + 1, silent)


# Commands, accents and groups in prose


def _backslash(state: StateInline, silent: bool) -> bool:
    opens_formula = state.src.startswith(("\\(", "\\["), state.pos)
    if (opens_formula and _bracket_formula(state, silent)) or _accent(state, silent):
        return True
    following = state.src[state.pos + 1 : state.pos + 2]
    if following == "\\":
        return _push_break(state, state.pos + 2, silent)
    if following == " ":
        return _push_text(state, " ", state.pos + 2, silent)
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
    return len(composed) == 1 and _push_text(state, composed, match.end(), silent)


def _spacing(state: StateInline, mark: str, silent: bool) -> bool:
    """Parse `10\\,000`, hyphenation points and italic corrections, but not Markdown's escapes elsewhere."""
    neighbors = state.src[state.pos - 1 : state.pos] + state.src[state.pos + 2 : state.pos + 3]
    if len(neighbors) != 2 or not neighbors.isalnum():
        return False
    return _push_text(state, "\u2009" if mark == "," else "", state.pos + 2, silent)


def _command(state: StateInline, name: str, after: int, silent: bool) -> bool:
    if name in ("url", "href"):
        return _link(state, name, after, silent)
    if name in BREAKS:
        _push_break(state, after, silent)
        return name != "item" or _push_text(state, WORDS[name], _skip(state, after, r"\s*"), silent)
    if name in LETTERS:
        return _push_text(state, LETTERS[name], _skip(state, after, r"\{\}|\s(?=[a-zß-ÿ])|"), silent)
    word = WORDS.get(name, name if name in formula.FUNCTIONS else formula.symbol(name))
    if word is not None:
        return _push_text(state, word, _skip(state, after, r"(?:\{\})?"), silent)
    inner = _argument(state, after)
    if inner and inner[0] < inner[1]:
        return _apply_command(state, name, inner, silent)
    return _unknown_command(state, name, after, silent)


def _apply_command(state: StateInline, name: str, inner: tuple[int, int], silent: bool) -> bool:
    start, stop = inner
    if name in DROPPED:
        if not silent and name not in ("begin", "end"):
            state.pending = state.pending.rstrip(" \u00a0")
        return _push_text(state, "", stop + 1, silent)
    if name in CODE:
        return _code(state, start, stop, silent)
    if name in NAMED:
        return _push_text(state, f"[{state.src[start:stop]}]", stop + 1, silent)
    if name == "textcolor" and (second := _argument(state, stop + 1)):
        start, stop = second
    if name not in TAGS and name not in TRANSPARENT and name not in QUOTED and not silent:
        _note_unknown(state, name)
    quotes = QUOTED.get(name, "")
    return _push_nested(state, start, stop, stop + 1, silent, tag=TAGS.get(name, ""), quotes=quotes)


def _unknown_command(state: StateInline, name: str, after: int, silent: bool) -> bool:
    """Replace an author's own macro (`\\Walrus`) by its name, but do not change a path (`C:\\temp`)."""
    before = state.src[state.pos - 1 : state.pos]
    follows_path = before.isalnum() or (before != "" and before in ":/\\")
    if follows_path or re.match(r"\\\w", state.src[after : after + 2]):
        return False
    is_known = name in TAGS or name in TRANSPARENT or name in DROPPED
    is_unclosed = state.src.startswith("{", after) and _argument(state, after) is None
    if not silent and (is_unclosed or not is_known):
        _note_unknown(state, name)
    return _push_text(state, "" if is_known else name, _skip(state, after, r"(?:\{\})?"), silent)


def _note_unknown(state: StateInline, name: str) -> None:
    state.env.setdefault("unknown", []).append("\\" + name)


def _link(state: StateInline, name: str, after: int, silent: bool) -> bool:
    target = _argument(state, after)
    if not target:
        return _unknown_command(state, name, after, silent)
    address = re.sub(r"\\([_%#&~$])", r"\1", state.src[slice(*target)]).strip()
    label = _argument(state, target[1] + 1) if name == "href" else target
    if not label:
        return False
    href = state.md.normalizeLink(address)
    if name == "href":
        tag = "a" if state.md.validateLink(href) and state.linkLevel == 0 else ""
        return _push_nested(state, *label, label[1] + 1, silent, tag=tag, href=href)
    return _push_address(state, address, target[1] + 1, silent)


def _code(state: StateInline, start: int, stop: int, silent: bool) -> bool:
    if not silent:
        token = state.push("code_inline", "code", 0)
        content = re.sub(r"\\[A-Za-z]+\*?\s?\{([^{}]*)\}", r"\1", state.src[start:stop])
        token.content = re.sub(r"\\([^A-Za-z\s])", r"\1", content).replace("~", " ").replace("\n", " ")
    state.pos = stop + 1
    return True


def _group(state: StateInline, silent: bool) -> bool:
    """Parse groups such as {\\em words} and {\\"o}. Any other braces are literal."""
    stop = _matching_braces(state.src).get(state.pos, -1)
    if not state.src.startswith("\\", state.pos + 1) or not 0 < stop < state.posMax:
        return False
    match = COMMAND.match(state.src, state.pos + 1, stop)
    if match and match[1] in ("tt", "ttfamily"):
        return _code(state, _skip(state, match.end(), r"\s?"), stop, silent)
    if match and match[1] in TAGS and not state.src.startswith("{", match.end()):
        return _push_nested(
            state, _skip(state, match.end(), r"\s?"), stop, stop + 1, silent, tag=TAGS[match[1]]
        )
    if state.src[state.pos + 2 : state.pos + 3] in ("{", "}"):
        return False
    return _push_nested(state, state.pos + 1, stop, stop + 1, silent)


# Tokens


def _push_text(state: StateInline, text: str, after: int, silent: bool) -> bool:
    if not silent:
        state.pending += text
    state.pos = after
    return True


def _push_break(state: StateInline, after: int, silent: bool) -> bool:
    if not silent:
        state.pending = state.pending.rstrip()
        if state.tokens or state.pending:
            state.push("hardbreak", "br", 0)
    state.pos = _skip(state, after, r"\s*")
    return True


def _push_address(state: StateInline, address: str, after: int, silent: bool) -> bool:
    href = state.md.normalizeLink(address)
    is_linked = state.linkLevel == 0 and state.md.validateLink(href)
    if not silent:
        if is_linked:
            link_token = state.push("link_open", "a", 1)
            link_token.attrs, link_token.markup = {"href": href}, "bare"
        text_token = state.push("text", "", 0)
        text_token.content, text_token.markup = address, "bare" if is_linked else ""
        if is_linked:
            state.push("link_close", "a", -1)
    state.pos = after
    return True


def _push_nested(
    state: StateInline,
    start: int,
    stop: int,
    after: int,
    silent: bool,
    *,
    tag: str = "",
    quotes: str = "",
    href: str = "",
) -> bool:
    """Parse source[start:stop] as the content of `tag` or between `quotes`, and continue at `after`."""
    if not silent:
        kind = "link" if tag == "a" else tag
        if tag:
            state.push(f"{kind}_open", tag, 1).attrs = {"href": href} if href else {}
        state.pending += quotes[:1]
        outer_end, state.posMax, state.pos = state.posMax, stop, start
        # The parser applies no rules below its maximum level, which also bounds this recursion.
        state.level += 1
        state.linkLevel += tag == "a"
        state.md.inline.tokenize(state)
        state.linkLevel -= tag == "a"
        state.level -= 1
        state.posMax = outer_end
        state.pending += quotes[1:]
        if tag:
            state.push(f"{kind}_close", tag, -1)
    state.pos = after
    return True


def _argument(state: StateInline, start: int) -> tuple[int, int] | None:
    """Return the start and end of the following argument in braces; `None` if there is none."""
    match = ARGUMENT.match(state.src, start, state.posMax)
    stop = _matching_braces(state.src).get(match.end() - 1, -1) if match else -1
    return (match.end(), stop) if match and 0 < stop < state.posMax else None


def _skip(state: StateInline, start: int, pattern: str) -> int:
    match = re.compile(pattern).match(state.src, start, state.posMax)
    return match.end() if match else start


@lru_cache(maxsize=8)
def _matching_braces(source: str) -> dict[int, int]:
    """Map opening to closing braces, cached to read a text once rather than for each brace."""
    pairs: dict[int, int] = {}
    openings: list[int] = []
    for match in re.finditer(r"\\.|[{}]", source, re.DOTALL):
        if match[0] == "{":
            openings.append(match.start())
        elif match[0] == "}" and openings:
            pairs[openings.pop()] = match.start()
    return pairs


HANDLERS: dict[str, Handler] = {
    "$": _dollar,
    "\\": _backslash,
    "{": _group,
    "`": _quotes,
    "-": _dashes,
    "~": _tie,
    ":": _colon,
    "*": _star,
}
