"""Parsed text written without HTML: as plain text, and as LaTeX."""

import re
from collections.abc import Callable, Sequence

from markdown_it.token import Token

from markup import formula

Writer = Callable[[Token], str]

LATEX_MARKS = {
    "em_open": r"\emph{",
    "strong_open": r"\textbf{",
    "sup_open": r"\textsuperscript{",
    "sub_open": r"\textsubscript{",
    "softbreak": " ",
    "hardbreak": "\n",
    **dict.fromkeys(("em_close", "strong_close", "sup_close", "sub_close", "link_close"), "}"),
}
LATEX_SIGNS = str.maketrans(
    {sign: f"\\{sign}" for sign in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    | {"<": r"\textless{}", ">": r"\textgreater{}", "…": r"\ldots{}", "\u00a0": "~", "\u2009": r"\,"}
    | {"\u2014": "---", "\u2013": "--", "“": "``", "”": "''", "\u2018": "`", "\u2019": "'"}
)
# Between two of them, which TeX would print as another sign.
TWO_QUOTES = re.compile("(?<=[\u2019'])(?=[\u2019'”])|(?<=[\u2018`])(?=[\u2018`“])")


def plain(tokens: Sequence[Token]) -> str:
    return _written(tokens, _plain_token)


def latex(tokens: Sequence[Token]) -> str:
    return _written(tokens, _latex_token)


def escaped(text: str) -> str:
    """Text as LaTeX prints it: special characters escaped, typographic signs as TeX has them."""
    return "{}".join(part.translate(LATEX_SIGNS) for part in TWO_QUOTES.split(text))


def _written(tokens: Sequence[Token], write: Writer) -> str:
    """Each block on lines of its own: an empty line before it, but none inside lists and tables."""
    text, gap, lead = "", "", ""
    for token in tokens:
        match token.type:
            case "list_item_open":
                # A number may be all that an item holds, or begin with the item of another list.
                lead = f"{lead.removeprefix('- ')}{token.info}{token.markup} " if token.info else "- "
            case "list_item_close" if lead.strip("- "):
                begin = text and f"{text}{gap or '\n'}"
                text, gap, lead = f"{begin}{lead.rstrip()}", "\n", ""
            case "paragraph_open":
                gap = "\n" if token.hidden else "\n\n"
            case "heading_open" | "fence" | "math_block":
                gap = "\n\n"
            case "tr_open":
                gap = "\n"
            case "td_close" | "th_close":
                gap = " | "
        written = "".join(map(write, token.children or [])) if token.type == "inline" else write(token)
        if written:
            text, gap, lead = text + gap + lead + written, "", ""
    return text


def _plain_token(token: Token) -> str:
    match token.type:
        case "math_inline" | "math_block":
            return formula.plain(token.content)
        case "softbreak":
            return " "
        case "hardbreak":
            return "\n"
        case _:
            return token.content.replace("\u00a0", " ").replace("\u2009", " ")


def _latex_token(token: Token) -> str:
    match token.type, token.markup:
        case "math_inline", _:
            return rf"\[{token.content}\]" if token.info else f"${token.content}$"
        case "math_block", opening:
            return token.content if opening.startswith("\\begin") else rf"\[{token.content}\]"
        case "code_inline" | "fence", _:
            return rf"\texttt{{{escaped(token.content)}}}"
        case "link_open", "bare":
            return r"\url{"
        case "text", "bare":
            return token.content
        case "link_open", _:
            return rf"\href{{{escaped(str(token.attrs['href']))}}}{{"
        case kind, _:
            return LATEX_MARKS.get(kind) or escaped(token.content)
