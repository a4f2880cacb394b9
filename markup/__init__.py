"""What authors wrote (Markdown with TeX) as safe HTML with MathML, as plain text, as LaTeX; slugs, folding.

Pure: no models, no settings. What the TeX in a text means is decided in markup.tex.
"""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from html import escape
from typing import Any

from anyascii import anyascii
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

from markup import formula, writers
from markup.cleaning import ADDRESS, CLEANER
from markup.patterns import BLOCK_MARKUP, EMPTY_LINES, MARKUP
from markup.scripts import language_of_line
from markup.tex import tex_plugin

# Longer text is shown without markup, to bound the time that a hostile text costs.
MAX_CACHED_CHARS = 60_000
SLUG_LENGTH = 60

LINE_ENDS = re.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")
# Control characters, lone surrogates, and marks that change the text direction.
CONTROLS = re.compile(
    r"[\x00-\x08\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff\ufffe\uffff]"
)


def block(source: str) -> SafeString:
    """Paragraphs, lists, headings from h3 down, links, emphasis, code, tables and formulas."""
    source = tidy(source).strip("\n")
    if len(source) > MAX_CACHED_CHARS or not (MARKUP.search(source) or BLOCK_MARKUP.search(source)):
        return mark_safe(_paragraphs(source))
    env: dict[str, Any] = {}
    tokens = PARSER.parse(source, env)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1]) + 2)}"
    return mark_safe(CLEANER.clean(RENDERER.render(tokens, PARSER.options, env)))


def inline(source: str) -> SafeString:
    """One line for titles: emphasis and formulas; no block and no link, as a title is often inside one.

    A line in another script than Latin has a `lang`, for screen readers.
    """
    source = " ".join(tidy(source).split())
    shown = _inline(source)
    tag = language_of_line(source)
    return format_html('<span lang="{}">{}</span>', tag, shown) if tag else shown


def _inline(source: str) -> SafeString:
    if len(source) > MAX_CACHED_CHARS or not MARKUP.search(source):
        return mark_safe(escape(source, quote=False))
    tokens, env = _line_tokens(source)
    shown = [_on_one_line(token) for token in tokens if token.type not in ("link_open", "link_close")]
    return mark_safe(CLEANER.clean(RENDERER.renderInline(shown, PARSER.options, env)).strip())


def plain(source: str) -> str:
    """Readable text without markup, with all words; an empty line between paragraphs."""
    source = tidy(source).strip()
    if len(source) > MAX_CACHED_CHARS:
        return _squeezed(source)
    if "\n" not in source and not MARKUP.search(source):
        return " ".join(source.split())
    return _squeezed(writers.plain(_tokens(source)))


def latex(source: str) -> str:
    """LaTeX for BibTeX: formulas unchanged, emphasis as commands, special characters escaped."""
    source = tidy(source).strip()
    if len(source) > MAX_CACHED_CHARS:
        return _squeezed(writers.escaped(source))
    return _squeezed(writers.latex(_tokens(source)))


@lru_cache(maxsize=20_000)
def slug(source: str, fallback: str = "x") -> str:
    """ASCII words joined by hyphens, at most 60 characters, never empty."""
    for text in (plain(source[:1000]), fallback):
        words = re.sub(r"[^a-z0-9]+", "-", fold(text).replace("'", "")).strip("-")
        if len(words) > SLUG_LENGTH:
            words = words[: SLUG_LENGTH + 1].rpartition("-")[0] or words[:SLUG_LENGTH]
        if words:
            return words.strip("-")
    return "x"


def fold(source: str) -> str:
    """Without accents, case and surplus space, in ASCII: what search and sorting compare."""
    if not source.isascii():
        source = anyascii(unicodedata.normalize("NFKC", CONTROLS.sub("", source)))
    return " ".join(source.casefold().split())


# Markdown


def _parser() -> MarkdownIt:
    md = MarkdownIt("commonmark", {"html": False, "maxNesting": 20}).enable("table").use(tex_plugin)
    # Authors indent and underline without meaning code or headings; `&amp;` is what they wrote.
    md.disable(["code", "lheading", "reference", "html_block", "html_inline", "entity"])
    md.validateLink = lambda url: ADDRESS.match(url) is not None  # type: ignore[method-assign]
    return md


class _Renderer(RendererHTML):
    """Adds to Markdown's HTML what formulas and pictures become."""

    def math_inline(self, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType) -> str:
        token = tokens[index]
        drawn = formula.mathml(token.content, token.block or token.info == "display")
        return drawn or f'<code class="tex">{escape(token.content)}</code>'

    def math_block(self, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType) -> str:
        return f'<div class="math">{self.math_inline(tokens, index, options, env)}</div>\n'

    def image(self, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType) -> str:
        """A picture from elsewhere would let its host watch our readers: it is linked, not shown."""
        source = str(tokens[index].attrs["src"])
        return f'<a href="{escape(source)}">{escape(tokens[index].content or source)}</a>'


def _line_tokens(source: str) -> tuple[list[Token], dict[str, Any]]:
    env: dict[str, Any] = {}
    return PARSER.parseInline(source, env)[0].children or [], env


def _tokens(source: str) -> list[Token]:
    """The blocks of the source; a single line has no block structure: `# 1 of 5` is no heading."""
    return PARSER.parse(source, {}) if "\n" in source else _line_tokens(source)[0]


def _on_one_line(token: Token) -> Token:
    if token.type == "image":
        return Token("text", "", 0, content=token.content)
    if token.type in ("hardbreak", "softbreak"):
        return Token("text", "", 0, content=" ")
    return token.copy(info="") if token.type == "math_inline" else token


# Plain text


def tidy(source: str) -> str:
    """Return the source without control characters, with one kind of line end."""
    # Nothing of either kind is printable, and most texts are.
    return source if source.isprintable() else CONTROLS.sub("", LINE_ENDS.sub("\n", source))


def _squeezed(text: str) -> str:
    """No space at a line's ends, single spaces inside, at most one empty line."""
    if "\n" not in text:
        return " ".join(text.split())
    lines = "\n".join(" ".join(line.split()) for line in text.split("\n"))
    return re.sub(r"\n{3,}", "\n\n", lines).strip()


def _paragraphs(source: str) -> str:
    parts = EMPTY_LINES.split(source.strip())
    return "\n".join(
        f"<p>{escape(' '.join(part.split()), quote=False)}</p>" for part in parts if part.strip()
    )


PARSER = _parser()
RENDERER = _Renderer(PARSER)
