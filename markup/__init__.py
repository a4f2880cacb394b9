"""Conversion of Markdown with TeX into safe HTML with MathML, plain text and LaTeX; slugs and folding.

Pure functions without models and settings. `markup.tex` parses the TeX in a text.
"""

import re
import unicodedata
from collections.abc import Callable, Sequence
from functools import lru_cache
from html import escape

import nh3
from anyascii import anyascii
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

from markup import formula
from markup.tex import tex_plugin

# Longer text is shown without markup, to bound the time that malicious input takes.
MAX_MARKUP_CHARS = 60_000
CACHED_TITLES, CACHED_TITLE_CHARS = 4_000, 300
SLUG_LENGTH = 60

# Characters that may be markup, some only in pairs. The first character class quickly excludes most letters.
MARKUP = re.compile(r"[\\$`*_\[\]<>~{}:'|-](?:(?<=[\\$`*_\[\]<>~{}])|(?<=:)//|(?<=-)-|(?<=')'|(?<=\|).*\n)")
BLOCK_MARKUP = re.compile(r"^[ \t]*(?:[#>+\-=|]|\d{1,9}[.)](?:\s|$))", re.MULTILINE)
LINE_ENDS = re.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")
# Control characters, lone surrogates, and marks that change the text direction.
CONTROLS = re.compile(
    r"[\x00-\x08\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff\ufffe\uffff]"
)

ADDRESS = re.compile(r"(?:https?://|mailto:)[^\s]|/(?![/\\])", re.IGNORECASE)
# The HTML allowed in a rendered text: the final check after Markdown and TeX.
MATH_TAGS = frozenset(
    (
        "math", "mrow", "mi", "mn", "mo", "mtext", "mspace", "mfrac", "msqrt", "mroot", "msub", "msup",
        "msubsup", "munder", "mover", "munderover", "mtable", "mtr", "mtd", "mstyle", "mpadded", "mphantom",
        "menclose",
    )
)  # fmt: skip
MATH_ATTRIBUTES = frozenset(
    (
        "display", "alttext", "mathvariant", "displaystyle", "scriptlevel", "stretchy", "fence", "form",
        "movablelimits", "accent", "lspace", "minsize", "maxsize", "linethickness", "width", "height",
        "depth", "voffset", "columnalign", "rowspacing", "columnspacing", "rowlines", "columnlines",
        "notation",
    )
)  # fmt: skip
TEXT_TAGS = (
    "p", "br", "hr", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "pre", "code", "em", "strong",
    "sub", "sup", "a", "div", "table", "thead", "tbody", "tr", "th", "td",
)  # fmt: skip
CLEANER = nh3.Cleaner(
    tags={*MATH_TAGS, *TEXT_TAGS},
    attributes={tag: {*MATH_ATTRIBUTES} for tag in MATH_TAGS} | {"a": {"href", "title"}, "ol": {"start"}},
    allowed_classes={"code": {"tex"}, "div": {"math"}},
    url_schemes={"http", "https", "mailto"},
    url_relative=lambda address: address if ADDRESS.match(address) else None,
    link_rel="nofollow noopener",
)
# A formula in a line of text, with the brackets before it and the punctuation after it.
PUNCTUATED_FORMULA = re.compile(
    r"([(\[“]*)(<math(?:(?! display)[^>])*>(?:(?!</math>).)*</math>)([)\]”.,;:!?]*)", re.DOTALL
)
# Scripts of one or a few languages, with the language tag (BCP 47) that applies to all of them.
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
# Characters that Markdown or TeX would interpret in a text without markup.
SIGNS = re.compile(r"[*_\]<>{}$\\~`]|--+|''+")
ESCAPES = {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "`": r"\textasciigrave{}",
    "'": r"\textquotesingle{}",
}  # fmt: skip
# Characters that only Markdown would interpret, outside formulas, commands, escapes and lists.
MARKDOWN_SIGNS = re.compile(
    r"""(?P<unescaped>\$\$.+?\$\$ | \$[^$\n]+\$ | \\\[.+?\\\] | \\\(.+?\\\)
    | \\[A-Za-z]+(?:\{[^{}]*\})* | \\. | ^\*(?=[ ]))
    | [*_\]<] | ^[#>+]""",
    re.DOTALL | re.MULTILINE | re.VERBOSE,
)
# Positions between two characters that TeX would combine into another one.
LIGATURES = re.compile(
    "(?<=[\u2019'])(?=[\u2019'”])|(?<=[\u2018`])(?=[\u2018`“])|(?<=[-\u2013\u2014])(?=[-\u2013\u2014])"
)


def block(source: str) -> SafeString:
    """Return HTML with paragraphs, lists, headings from h3, links, emphasis, code, tables and formulas."""
    source = tidy(source).strip("\n")
    if len(source) > MAX_MARKUP_CHARS or not (MARKUP.search(source) or BLOCK_MARKUP.search(source)):
        return mark_safe(_paragraphs(source))
    env: dict[str, object] = {}
    tokens = PARSER.parse(source, env)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1]) + 2)}"
    return mark_safe(_keep_punctuation(CLEANER.clean(RENDERER.render(tokens, PARSER.options, env))))


def inline(source: str) -> SafeString:
    """Return one line of HTML for titles: emphasis and formulas, but no links, as a title is often in a link.

    A line in a script other than Latin has a `lang` attribute, for screen readers.
    """
    source = " ".join(tidy(source).split())
    if len(source) > MAX_MARKUP_CHARS or not MARKUP.search(source):
        html_line = mark_safe(escape(source, quote=False))
    else:
        tokens, env = _line_tokens(source)
        shown_tokens = [
            _to_line_token(token) for token in tokens if token.type not in ("link_open", "link_close")
        ]
        html = CLEANER.clean(RENDERER.renderInline(shown_tokens, PARSER.options, env)).strip()
        html_line = mark_safe(_keep_punctuation(html))
    tag = language_of_line(source)
    return format_html('<span lang="{}">{}</span>', tag, html_line) if tag else html_line


def _keep_punctuation(html: str) -> str:
    """Keep formulas and their punctuation on one line: browsers break a line before and after <math>."""

    def join(match: re.Match[str]) -> str:
        before, math, after = match.groups()
        return f'<span class="formula">{match[0]}</span>' if before or after else math

    return PUNCTUATED_FORMULA.sub(join, html) if "<math" in html else html


def plain(source: str) -> str:
    """Return readable text without markup, with all words and an empty line between paragraphs."""
    source = tidy(source).strip()
    if len(source) > MAX_MARKUP_CHARS:
        return _collapse_space(source)
    if "\n" not in source and not MARKUP.search(source):
        return " ".join(source.split())
    return _plain_title(source) if len(source) <= CACHED_TITLE_CHARS else _plain(source)


def _plain(source: str) -> str:
    return _collapse_space(_join_blocks(_tokens(source), _plain_token))


# Cached because snapshots of a program need all titles.
@lru_cache(maxsize=CACHED_TITLES)
def _plain_title(source: str) -> str:
    return _plain(source)


def latex(source: str) -> str:
    """Return LaTeX for BibTeX: formulas unchanged, emphasis as commands, special characters escaped."""
    source = tidy(source).strip()
    if len(source) > MAX_MARKUP_CHARS:
        return _collapse_space(_escape_latex(source))
    return _collapse_space(_join_blocks(_tokens(source), _latex_token))


def escape_markup(text: str, *, has_tex: bool = False, is_part: bool = False) -> str:
    """Return the source from which `plain()` and `inline()` make this text, except for white space.

    Use it for text of formats without markup. With `has_tex`, formulas, commands and lists are not escaped,
    since authors write them in other formats too, such as abstracts in spreadsheets. With `is_part`, the
    result can be joined with other Markdown in a line.
    """
    if has_tex:
        return MARKDOWN_SIGNS.sub(lambda match: match["unescaped"] or f"\\{match[0]}", text)
    return text if not is_part and plain(text) == text else SIGNS.sub(_escape, text)


def _escape(signs: re.Match[str]) -> str:
    return "".join(ESCAPES.get(sign, f"\\{sign}") for sign in signs[0])


@lru_cache(maxsize=20_000)
def slug(source: str, fallback: str = "x") -> str:
    """Return ASCII words joined by hyphens, at most 60 characters, never empty."""
    for text in (plain(source[:1000]), fallback):
        hyphenated = re.sub(r"[^a-z0-9]+", "-", fold(text).replace("'", "")).strip("-")
        if len(hyphenated) > SLUG_LENGTH:
            hyphenated = hyphenated[: SLUG_LENGTH + 1].rpartition("-")[0] or hyphenated[:SLUG_LENGTH]
        if hyphenated:
            return hyphenated.strip("-")
    return "x"


def fold(source: str) -> str:
    """Return a text in ASCII, without accents, case and surplus space, for searching and sorting."""
    if not source.isascii():
        source = anyascii(unicodedata.normalize("NFKC", CONTROLS.sub("", source)))
    return " ".join(source.casefold().split())


def language_of_name(name: str) -> str:
    """Return the tag of a name's language or script (BCP 47); empty for Latin letters."""
    return next((tag for script, tag in SCRIPTS if script.search(name)), "")


def language_of_line(line: str) -> str:
    """Return the language tag for the script of most letters of a line.

    Chinese characters next to kana are Japanese. Empty for Latin letters, and if no script prevails.
    """
    letters = "".join(re.findall(r"[^\W\d_]", line))
    if letters.isascii():
        return ""
    counts = {tag: len(script.findall(letters)) for script, tag in SCRIPTS}
    if counts["ja"]:
        counts["ja"] += counts.pop("und-Hani")
    tag = max(counts, key=counts.__getitem__)
    return tag if 2 * counts[tag] > len(letters) else ""


# Markdown


class _Renderer(RendererHTML):
    """Renderer of Markdown's HTML with formulas, and links in place of images."""

    def math_inline(self, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType) -> str:
        token = tokens[index]
        math = formula.mathml(token.content, token.block or token.info == "display")
        return math or f'<code class="tex">{escape(token.content)}</code>'

    def math_block(self, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType) -> str:
        return f'<div class="math">{self.math_inline(tokens, index, options, env)}</div>\n'

    def image(self, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType) -> str:
        """Return a link instead of the image, whose host could otherwise track readers."""
        source = str(tokens[index].attrs["src"])
        return f'<a href="{escape(source)}">{escape(tokens[index].content or source)}</a>'


def _line_tokens(source: str) -> tuple[list[Token], dict[str, object]]:
    env: dict[str, object] = {}
    return PARSER.parseInline(source, env)[0].children or [], env


def _tokens(source: str) -> list[Token]:
    """Return the tokens of the source. A single line has no block structure: `# 1 of 5` is no heading."""
    return PARSER.parse(source, {}) if "\n" in source else _line_tokens(source)[0]


def _to_line_token(token: Token) -> Token:
    if token.type == "image":
        return Token("text", "", 0, content=token.content)
    if token.type in ("hardbreak", "softbreak"):
        return Token("text", "", 0, content=" ")
    return token.copy(info="") if token.type == "math_inline" else token


# Plain text


def tidy(source: str) -> str:
    """Return the source without control characters, with one kind of line end."""
    # Neither kind of character is printable, and most texts are.
    return source if source.isprintable() else CONTROLS.sub("", LINE_ENDS.sub("\n", source))


def _collapse_space(text: str) -> str:
    """Strip lines, and reduce white space to single spaces and at most one empty line."""
    if "\n" not in text:
        return " ".join(text.split())
    lines = "\n".join(" ".join(line.split()) for line in text.split("\n"))
    return re.sub(r"\n{3,}", "\n\n", lines).strip()


def _paragraphs(source: str) -> str:
    paragraphs = re.split(r"\n[ \t]*(?:\n[ \t]*)+", source.strip())
    return "\n".join(
        f"<p>{escape(' '.join(paragraph.split()), quote=False)}</p>"
        for paragraph in paragraphs
        if paragraph.strip()
    )


# Plain text and LaTeX


def _join_blocks(tokens: Sequence[Token], write: Callable[[Token], str]) -> str:
    """Write each block on separate lines, with an empty line before it, except in lists and tables."""
    text, gap, marker = "", "", ""
    for token in tokens:
        match token.type:
            case "list_item_open":
                # An item may consist of its number only, or begin with another list.
                marker = f"{marker.removeprefix('- ')}{token.info}{token.markup} " if token.info else "- "
            case "list_item_close" if marker.strip("- "):
                begin = text and f"{text}{gap or '\n'}"
                text, gap, marker = f"{begin}{marker.rstrip()}", "\n", ""
            case "paragraph_open":
                gap = "\n" if token.hidden else "\n\n"
            case "heading_open" | "fence" | "math_block":
                gap = "\n\n"
            case "tr_open":
                gap = "\n"
            case "td_close" | "th_close":
                gap = " | "
        token_text = "".join(map(write, token.children or [])) if token.type == "inline" else write(token)
        if token_text:
            text, gap, marker = text + gap + marker + token_text, "", ""
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


def _escape_latex(text: str) -> str:
    """Escape special characters for LaTeX, and write typographic characters as in TeX."""
    return "{}".join(part.translate(LATEX_SIGNS) for part in LIGATURES.split(text))


def _latex_token(token: Token) -> str:
    match token.type, token.markup:
        case "math_inline", _:
            return rf"\[{token.content}\]" if token.info else f"${token.content}$"
        case "math_block", opening:
            return token.content if opening.startswith("\\begin") else rf"\[{token.content}\]"
        case "code_inline" | "fence", _:
            return rf"\texttt{{{_escape_latex(token.content)}}}"
        case "link_open", "bare":
            return r"\url{"
        case "text", "bare":
            return token.content
        case "link_open", _:
            return rf"\href{{{_escape_latex(str(token.attrs['href']))}}}{{"
        case kind, _:
            return LATEX_MARKS.get(kind) or _escape_latex(token.content)


PARSER = MarkdownIt("commonmark", {"html": False, "maxNesting": 20}).enable("table").use(tex_plugin)
# Authors indent and underline text that is no code or heading, and `&amp;` is shown as written.
PARSER.disable(["code", "lheading", "reference", "html_block", "html_inline", "entity"])
PARSER.validateLink = lambda url: ADDRESS.match(url) is not None  # type: ignore[method-assign]
RENDERER = _Renderer(PARSER)
