"""What TeX in a text leaves in the parser: text, breaks, addresses, nested content; and where braces match.

Each function goes on at the place `after`, and leaves nothing when the parser only looks (`silent`).
"""

import re
from functools import lru_cache

from markdown_it.rules_inline import StateInline

ARGUMENT = re.compile(r"(?:\[[^\[\]\n]{0,200}\]){0,2}\s?\{")


def push_text(state: StateInline, text: str, after: int, silent: bool) -> bool:
    if not silent:
        state.pending += text
    state.pos = after
    return True


def push_literal(state: StateInline, text: str, silent: bool) -> bool:
    return push_text(state, text, state.pos + len(text), silent)


def push_break(state: StateInline, after: int, silent: bool) -> bool:
    if not silent:
        state.pending = state.pending.rstrip()
        if state.tokens or state.pending:
            state.push("hardbreak", "br", 0)
    state.pos = skip(state, after, r"\s*")
    return True


def push_address(state: StateInline, address: str, after: int, silent: bool) -> bool:
    href = state.md.normalizeLink(address)
    linked = state.linkLevel == 0 and state.md.validateLink(href)
    if not silent:
        if linked:
            opened = state.push("link_open", "a", 1)
            opened.attrs, opened.markup = {"href": href}, "bare"
        text = state.push("text", "", 0)
        text.content, text.markup = address, "bare" if linked else ""
        if linked:
            state.push("link_close", "a", -1)
    state.pos = after
    return True


def push_nested(
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
    """Parse source[start:stop] as the content of `tag` or between `quotes`, then go on at `after`."""
    if not silent:
        kind = "link" if tag == "a" else tag
        if tag:
            state.push(f"{kind}_open", tag, 1).attrs = {"href": href} if href else {}
        state.pending += quotes[:1]
        end, state.posMax, state.pos = state.posMax, stop, start
        # The parser stops reading rules below its deepest level: that also bounds what recurses here.
        state.level += 1
        state.linkLevel += tag == "a"
        state.md.inline.tokenize(state)
        state.linkLevel -= tag == "a"
        state.level -= 1
        state.posMax = end
        state.pending += quotes[1:]
        if tag:
            state.push(f"{kind}_close", tag, -1)
    state.pos = after
    return True


def argument(state: StateInline, at: int) -> tuple[int, int] | None:
    """Start and end of what the braces that follow hold; None where there are none, or none that closes."""
    match = ARGUMENT.match(state.src, at, state.posMax)
    stop = braces(state.src).get(match.end() - 1, -1) if match else -1
    return (match.end(), stop) if match and 0 < stop < state.posMax else None


def skip(state: StateInline, at: int, pattern: str) -> int:
    match = re.compile(pattern).match(state.src, at, state.posMax)
    return match.end() if match else at


@lru_cache(maxsize=8)
def braces(source: str) -> dict[int, int]:
    """Opening brace -> its closing brace where there is one; read once per text, not once per brace."""
    pairs: dict[int, int] = {}
    opened: list[int] = []
    for match in re.finditer(r"\\.|[{}]", source, re.DOTALL):
        if match[0] == "{":
            opened.append(match.start())
        elif match[0] == "}" and opened:
            pairs[opened.pop()] = match.start()
    return pairs
