"""TeX inside an author's Markdown: a markdown-it plugin for formulas, commands, TeX's
quotes, dashes and ties, and bare addresses.

It decides what the source means and leaves tokens; how they look is written in markup.
"""

import re
from collections.abc import Callable

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline

from markup import formula
from markup.macros import command, group
from markup.tokens import push_address, push_literal, push_nested, push_text

Handler = Callable[[StateInline, bool], bool]

QUOTES = re.compile(r"``([^`]{1,2000}?)(?:''|\"(?!\w))|`([^`'\n]{1,500})'(?![\w'])")
SCHEME = re.compile(r"(?<![A-Za-z0-9])https?$", re.IGNORECASE)
ADDRESS = re.compile(r"://((?:\\[_%#&~$]|[^\s<>\"'`{}|\\^\[\]$“”‘’«»\uff0c。\uff1b、\x00-\x1f]){1,2000})")
DASHES = re.compile(r"-+")
ENVIRONMENT = re.compile(r"\\begin\{((?:equation|align|gather|multline|eqnarray|displaymath)\*?)\}")


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
    """$$ … $$, \\[ … \\] or an equation environment on lines of its own, without a blank line."""
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
    if not state.src.startswith("$$", state.pos):
        found = formula_at(state.src, state.pos, state.posMax)
        return found is not None and _push_formula(state, *found, False, silent)
    start = state.pos + 2
    stop = _closing(state.src, "$$", start, min(state.posMax, start + formula.MAX_FORMULA_CHARS))
    if stop < 0:
        return push_literal(state, "$$", silent)
    content = state.src[start:stop]
    return bool(content.strip()) and _push_formula(state, content, stop + 2, True, silent)


def formula_at(source: str, at: int, end: int) -> tuple[str, int] | None:
    """Return the formula between the dollar at this position and the next, and its end, if it is one."""
    start = at + 1
    stop = _closing(source, "$", start, min(end, start + formula.MAX_FORMULA_CHARS))
    if stop < 0:
        return None
    content, before, after = source[start:stop], source[at - 1 : at], source[stop + 1 : stop + 2]
    return (content, stop + 1) if _is_formula(content, before, after) else None


def _closing(source: str, mark: str, start: int, limit: int) -> int:
    """Index of the next `mark` without a backslash before it; -1 if none before the limit."""
    at = source.find(mark, start, limit)
    while at > 0 and source[at - 1] == "\\":
        at = source.find(mark, at + 1, limit)
    return at


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


def _bracketed(state: StateInline, silent: bool) -> bool:
    """\\( … \\) and \\[ … \\]; Markdown's escaped brackets around words are left to Markdown."""
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


def _backslash(state: StateInline, silent: bool) -> bool:
    opens_formula = state.src.startswith(("\\(", "\\["), state.pos)
    return (opens_formula and _bracketed(state, silent)) or command(state, silent)


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
    group = 1 if match[1] is not None else 2
    return push_nested(state, *match.span(group), match.end(), silent, quotes="“”" if group == 1 else "‘’")


def _dashes(state: StateInline, silent: bool) -> bool:
    match = DASHES.match(state.src, state.pos, state.posMax)
    if not match or len(match[0]) not in (2, 3):
        return match is not None and push_text(state, match[0], match.end(), silent)
    before, after = state.src[match.start() - 1 : match.start()], state.src[match.end() : match.end() + 1]
    if len(match[0]) == 2 and after.isalpha() and not before.isalnum():
        return push_text(state, "--", match.end(), silent)  # a program's option: --verbose
    return push_text(state, "–" if len(match[0]) == 2 else "—", match.end(), silent)


def _tie(state: StateInline, silent: bool) -> bool:
    """`Fig.~1` is bound together; `~5%` and `3~5` mean about, and a range."""
    before, after = state.src[state.pos - 1 : state.pos], state.src[state.pos + 1 : state.pos + 2]
    bound = before.isalpha() or (before in (".", ",", ")", "%", "$", "}") and before)
    if bound and (after.isalnum() or (after in ("\\", "$", "(") and after)):
        return push_text(state, "\u00a0", state.pos + 1, silent)
    return False


def _colon(state: StateInline, silent: bool) -> bool:
    scheme = SCHEME.search(state.src, max(0, state.pos - 6), state.pos)
    match = ADDRESS.match(state.src, state.pos, state.posMax) if scheme else None
    rest = _trimmed(match[1]) if match else ""
    if not scheme or not match or not rest or not (silent or state.pending.endswith(scheme[0])):
        return False
    after = match.start(1) + len(rest)
    if silent:
        state.pos = after
        return True
    state.pending = state.pending.removesuffix(scheme[0])
    return push_address(state, scheme[0] + "://" + re.sub(r"\\([_%#&~$])", r"\1", rest), after, silent)


def _trimmed(address: str) -> str:
    """Without the sentence's own punctuation at its end; a closing bracket stays if it was opened inside."""
    while address:
        if address[-1] == ")" and address.count("(") >= address.count(")"):
            break
        if address[-1] not in ".,;:!?*_~)":
            break
        address = address[:-1]
    return address


def _star(state: StateInline, silent: bool) -> bool:
    """2*3*4 is a product, not an emphasis."""
    around = state.src[state.pos - 1 : state.pos] + state.src[state.pos + 1 : state.pos + 2]
    is_product = len(around) == 2 and around.isalnum() and not around.isalpha()
    return is_product and push_text(state, "*", state.pos + 1, silent)


HANDLERS: dict[str, Handler] = {
    "$": _dollar,
    "\\": _backslash,
    "{": group,
    "`": _quotes,
    "-": _dashes,
    "~": _tie,
    ":": _colon,
    "*": _star,
}
