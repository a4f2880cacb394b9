"""Tests of texts with Markdown and TeX: rendering, safety, slugs, warnings."""

import re
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from markup import (
    CONTROLS,
    LINE_ENDS,
    MAX_MARKUP_CHARS,
    block,
    fold,
    formula,
    inline,
    latex,
    plain,
    slug,
    tidy,
)
from markup.advice import advice

pytestmark = pytest.mark.anywhere

MIXED_TEXT = r"$a_1+b_2$, costs $5 and $6, \emph{x} y \emph{z}, Q\&A"
HARMLESS_URL = re.compile(r"https?://|mailto:|/(?![/\\])")
PAYLOADS = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg/onload=alert(1)>",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](&#106;avascript:alert(1))",
    "[x](data:text/html;base64,PHNjcmlwdD4=)",
    "[x](//evil.example/)",
    "[x](/\\evil.example/)",
    "![x](javascript:alert(1))",
    "<javascript:alert(1)>",
    r"\href{javascript:alert(1)}{x}",
    r"\url{javascript:alert(1)}",
    r"$\href{javascript:alert(1)}{x}$",
    r"$\text{<script>alert(1)</script>}$",
    r"$\text{<img src=x onerror=alert(1)>}$",
    r"$\style{background:url(//evil.example)}{x}$",
    r"$\class{x}{y}$",
    r'$\foo"><script>alert(1)</script>$',
    '[x](https://a.example "\\" onmouseover=alert(1)")',
]


def problems(source: str) -> list[str]:
    """Return the warnings about a text, except those about LaTeX that Unicode letters could replace."""
    return [warning for warning in advice(source) if not warning.startswith("LaTeX outside of formulas")]


class Page(HTMLParser):
    """Parser that collects the tags, the names of attributes and the URLs of links."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.urls: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes.update(name for name, _ in attrs)
        self.urls += [value or "" for name, value in attrs if name in ("href", "src", "xlink:href")]


def assert_harmless(html: str) -> None:
    page = Page(html)
    active_tags = {"script", "img", "svg", "iframe", "style", "object", "form", "annotation-xml"}
    assert page.tags & active_tags == set()
    assert {
        name for name in page.attributes if name.startswith("on") or name in ("style", "src", "id")
    } == set()
    harmful = [url for url in page.urls if not HARMLESS_URL.match(url)]
    assert harmful == []


# TeX, Markdown and prices


def test_tex_is_rendered_and_prices_are_not_formulas() -> None:
    html = block(MIXED_TEXT)
    assert html == (
        '<p><span class="formula"><math alttext="a₁+b₂"><mrow><msub><mi>a</mi><mn>1</mn></msub><mo>+</mo>'
        "<msub><mi>b</mi><mn>2</mn></msub></mrow></math>,</span> costs $5 and $6, "
        "<em>x</em> y <em>z</em>, Q&amp;A</p>\n"
    )
    assert inline(MIXED_TEXT) == html.removeprefix("<p>").removesuffix("</p>\n")
    assert plain(MIXED_TEXT) == "a₁+b₂, costs $5 and $6, x y z, Q&A"
    assert latex(MIXED_TEXT) == r"$a_1+b_2$, costs \$5 and \$6, \emph{x} y \emph{z}, Q\&A"
    assert problems(MIXED_TEXT) == []


@pytest.mark.parametrize(
    "prices",
    [
        "$5 and $6",
        "between $5-$6 and US$7",
        "$100k–$200k",
        "from $5 per hour to 6$ in all",
        "$5M in 2020, $10M in 2021, and $12 in 2022",
        "costs $ 5",
        "$",
    ],
)
def test_prices_are_not_formulas(prices: str) -> None:
    assert plain(prices) == inline(prices) == prices


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (r"is $1000\times$ faster", "is 1000× faster"),
        (r"3$\times$ and $\sim$10 and $<$1", "3× and \u223c10 and <1"),
        (r"39.3\% of $\mathbf{T^3}$", "39.3% of T³"),
        (r"$10^{-3}$, $x_{ij}$, $O(n\log n)$, CO$_2$", "10⁻³, x_ij, O(n log n), CO₂"),
        (r"\(n\) and \[Re\]: \[x^2\]", "n and [Re]: x²"),
        (r"$\mathrm{KL}(p\|q)$ in $\mathbb{R}^d$", "KL(p‖q) in ℝ^d"),
        (r"$\frac{a}{b+1} \leq \sqrt{n}$", "a/(b+1) ≤ √n"),
        (r"unknown $\foo{x}_1$ stays", "unknown foo x_1 stays"),
    ],
)
def test_formulas_as_plain_text(source: str, text: str) -> None:
    assert plain(source) == text


@pytest.mark.parametrize(
    ("source", "html"),
    [
        (
            r"\textbf{a \emph{b}} {\em c} {\bf d}",
            "<strong>a <em>b</em></strong> <em>c</em> <strong>d</strong>",
        ),
        (r"\texttt{a\_b} \textsc{Name}", "<code>a_b</code> Name"),
        (r"100\% \& \_ \# \$ \{ \}", "100% &amp; _ # $ { }"),
        (r"caf\'e {\"o} \c{c} \v{s} G\"odel S\o rensen {\ss} \'{\i}", "café ö ç š Gödel Sørensen ß í"),
        ("``quoted \\emph{x}'' and `single'", "“quoted <em>x</em>” and ‘single’"),
        ('a ``half-TeX" quote', "a “half-TeX” quote"),
        ("pp. 5--10, a---b, the --verbose flag", "pp. 5–10, a—b, the --verbose flag"),
        ("Fig.~1 has ~5% of 3~5", "Fig.&nbsp;1 has ~5% of 3~5"),
        (r"as in~\cite{a,b}. See \citet{c}", "as in. See [c]"),
        (r"\ldots \times \alpha \LaTeX{} is", "… × α LaTeX is"),
        (r"\Walrus{} and \ours{x y} by \Walrus\ itself", "Walrus and x y by Walrus itself"),
        (r"{a, b} and {open and \emph{x", "{a, b} and {open and {x"),
        (r"C:\temp\x", r"C:\temp\x"),
        ("foo_bar_baz a_b_c 2*3*4", "foo_bar_baz a_b_c 2*3*4"),
        ("_emph_ **strong** `co_d_e`", "<em>emph</em> <strong>strong</strong> <code>co_d_e</code>"),
        (r"\url{https://a.example/b_c} [d](https://e.example)", "https://a.example/b_c d"),
        ("R&D &amp; <b>x</b>", "R&amp;D &amp;amp; &lt;b&gt;x&lt;/b&gt;"),
        ("# 1\n- two", "# 1 - two"),
        (r"$\foo{x}$", r'<code class="tex">\foo{x}</code>'),
    ],
)
def test_inline_renders_tex_and_markdown(source: str, html: str) -> None:
    assert inline(source) == html


def test_urls_are_linked_completely() -> None:
    rel = 'rel="nofollow noopener"'
    assert block("See https://a.example/b_c_d_(e). And (http://f.example/~g).") == (
        f'<p>See <a href="https://a.example/b_c_d_(e)" {rel}>https://a.example/b_c_d_(e)</a>. '
        f'And (<a href="http://f.example/~g" {rel}>http://f.example/~g</a>).</p>\n'
    )
    assert block(r"\href{https://a.example/?x=1\&y=2}{here}") == (
        f'<p><a href="https://a.example/?x=1&amp;y=2" {rel}>here</a></p>\n'
    )
    assert block("[here](/2026/papers/)") == f'<p><a href="/2026/papers/" {rel}>here</a></p>\n'


def test_block_renders_paragraphs_lists_and_headings() -> None:
    source = "# Head\n\nOne\ntwo.\n\n- a\n- b\n\n3. c\n\n$$\nx\n- y\n$$"
    assert block(source) == (
        "<h3>Head</h3>\n<p>One\ntwo.</p>\n<ul>\n<li>a</li>\n<li>b</li>\n</ul>\n"
        '<ol start="3">\n<li>c</li>\n</ol>\n<div class="math"><math alttext="x−y" display="block">'
        "<mrow><mi>x</mi><mo>−</mo><mi>y</mi></mrow></math></div>\n"
    )
    assert plain(source) == "Head\n\nOne two.\n- a\n- b\n3. c\n\nx−y"


def test_text_without_markup_is_escaped_and_its_spaces_collapsed() -> None:
    assert block("One & two.\n\nThree\n four.") == "<p>One &amp; two.</p>\n<p>Three four.</p>"
    assert inline("  R&D:\n why? ") == "R&amp;D: why?"


def test_latex_escapes_special_characters() -> None:
    assert latex("50% of A_B & *C* #1 {x} ~ `d_e` “q” – https://a.example/b_c") == (
        r"50\% of A\_B \& \emph{C} \#1 \{x\} \textasciitilde{} \texttt{d\_e} ``q'' -- \url{https://a.example/b_c}"
    )


def test_latex_keeps_displayed_formulas_and_environments() -> None:
    assert latex("So\n\n$$\na_1\n$$\n\n\\begin{align}\na &= b\n\\end{align}") == (
        "So\n\n\\[a_1\\]\n\n\\begin{align}\na &= b\n\\end{align}"
    )


def test_functions_are_spaced_from_their_arguments() -> None:
    thin = '<mspace width="0.167em"></mspace>'
    assert inline(r"$n\log n$") == (
        f'<math alttext="n log n"><mrow><mi>n</mi>{thin}<mi>log</mi>{thin}<mi>n</mi></mrow></math>'
    )


# Safety


@pytest.mark.parametrize("payload", PAYLOADS)
@pytest.mark.parametrize("shape", ["{}", "a *{}* b", "- {}\n- b", r"\emph{{{}}}", "| {} |\n|---|\n| x |"])
def test_no_active_content_through_markdown_or_tex(payload: str, shape: str) -> None:
    source = shape.format(payload)
    assert_harmless(block(source))
    assert_harmless(inline(source))
    assert "a" not in Page(inline(source)).tags


FRAGMENTS = [
    *PAYLOADS,
    *"$\\*_`[](){}<>~#|&!-:'\"^\n .a1é李\x00\u202e\ud800",
    *(r"\emph{", r"\frac{", r"\begin{matrix}", r"\'", "$$", r"\[", r"\]", r"\(", r"\)", "https://"),
    *(r"\cite[", r"\item", "``", "''", r"\href{", r"\text{", r"\say{"),
]
HOSTILE_TEXT = st.lists(st.sampled_from(FRAGMENTS) | st.text(max_size=5), max_size=25).map("".join)


@settings(max_examples=300, deadline=None)
@given(HOSTILE_TEXT)
def test_any_source_renders_without_error_or_active_content(source: str) -> None:
    for html in (block(source), inline(source)):
        assert_harmless(html)
        html.encode()
    assert "\n" not in inline(source)
    plain(source).encode()
    latex(source).encode()
    problems(source)
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", slug(source))


def test_tidy_keeps_printable_characters() -> None:
    """Text of printable characters is not tidied, so none of the removed characters may be printable."""
    characters = map(chr, range(sys.maxunicode + 1))
    assert not [
        character
        for character in characters
        if character.isprintable() and (CONTROLS.match(character) or LINE_ENDS.match(character))
    ]
    assert tidy("a\r\nb\u2028c\x00d\u202ee") == "a\nb\ncde"


@pytest.mark.parametrize("source", ["0. 0.", "1. 2. x", "3.\n4. y", "1. a\n2.\n3. c"])
def test_empty_list_items_keep_their_numbers(source: str) -> None:
    assert plain(f"{source}\n\nand *so* on") == f"{source}\n\nand so on"
    assert latex(f"{source}\n\nand *so* on") == f"{source}\n\nand \\emph{{so}} on"


@settings(max_examples=200, deadline=None)
@given(st.lists(st.from_regex(r"[^\W_]{1,12}[.,;?!]?", fullmatch=True), max_size=12))
def test_plain_keeps_every_word_of_plain_text(words: list[str]) -> None:
    source = " ".join(words)
    assert plain(source).split() == source.split()
    assert plain(f"{source}\n\nand *so* on").split() == [*source.split(), "and", "so", "on"]


@pytest.mark.parametrize(
    "part",
    [
        *("$", "[", "![", "[](", "*a ", "`a", "``a", "{", r"\emph{", r"\say{", "> ", "- ", "$a$", "://"),
        *(r"\(", r"\cite[", r"{\em ", "http://a", "<a ", "|a\n", "\\", "$\\", r"\'", "$x^", '"', "'"),
    ],
)
def test_hostile_text_is_rendered_in_bounded_time(part: str) -> None:
    """It takes at most 20 times as long as ordinary text of the longest length that is rendered."""
    assert rendering_seconds(part * (MAX_MARKUP_CHARS // len(part))) < 20 * ordinary_seconds()
    assert rendering_seconds(part * 500_000) < 5


@cache
def ordinary_seconds() -> float:
    sentence = "*word* and $x^2$ in [a link](http://a.org). "
    return rendering_seconds(sentence * (MAX_MARKUP_CHARS // len(sentence)))


def rendering_seconds(source: str) -> float:
    start = time.process_time()
    block(source)
    plain(source)
    return time.process_time() - start


@pytest.mark.parametrize(
    "tex", ["x^{" * 900 + "}" * 900, r"\frac{" * 300, r"\left(" * 300, r"\def\a{\a\a}\a", "x" * 9999]
)
def test_hostile_formulas_are_shown_as_tex(tex: str) -> None:
    assert formula.mathml(tex) is None
    assert "<math" not in block(f"${tex}$")


def test_rendering_is_safe_in_threads() -> None:
    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(block, [MIXED_TEXT] * 40)) == {block(MIXED_TEXT)}


# Folding, warnings


def test_fold_ignores_accents_case_and_spaces() -> None:
    assert fold("  Šimek\u00a0ﬁne\tŁukasz S\u030c ") == "simek fine lukasz s"


@pytest.mark.parametrize(
    ("source", "messages"),
    [
        ("All is well: $x$, $5 and 50\\%.", []),
        (r"$\foo x$", [r"The formula “\foo x” cannot be rendered."]),
        (r"\Walrus and \Walrus", [r"The LaTeX command “\Walrus” isn’t supported."]),
        (r"\emph{x", [r"The LaTeX command “\emph” isn’t supported."]),
        (r"C:\temp", [r"The LaTeX escape “\temp” is shown as written."]),
        ("a\x07b", ["Contains the control character U+0007."]),
        ("a\ufffdb", ["Contains the replacement character “\ufffd”: letters were lost."]),
        ("R&amp;D", ["The HTML “&amp;” is shown as written."]),
        ("a {good idea} {a, b}", ["The group in braces “{good idea}” is shown as written."]),
        ("CO<sub>2</sub>", [f"The HTML “<{tag}>” is shown as written." for tag in ("sub", "/sub")]),
    ],
)
def test_problems_are_reported(source: str, messages: list[str]) -> None:
    assert problems(source) == messages
