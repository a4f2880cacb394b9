"""Tests of mixed Markdown and TeX: blocks, formulas in prose, punctuation, URLs; and LaTeX output."""

import pytest

from markup import MAX_MARKUP_CHARS, block, inline, latex, plain, slug
from markup.advice import advice

X = '<math alttext="x"><mrow><mi>x</mi></mrow></math>'
X_DISPLAYED = '<math alttext="x" display="block"><mrow><mi>x</mi></mrow></math>'
REL = 'rel="nofollow noopener"'

# Blocks


@pytest.mark.parametrize(
    ("source", "html"),
    [
        (
            "# a\n## b\n### c\n#### d\n##### *e*",
            "<h3>a</h3>\n<h4>b</h4>\n<h5>c</h5>\n<h6>d</h6>\n<h6><em>e</em></h6>\n",
        ),
        ("a  \nb\n\n---\n\n> q", "<p>a<br>\nb</p>\n<hr>\n<blockquote>\n<p>q</p>\n</blockquote>\n"),
        ("```\nx < y\n```", "<pre><code>x &lt; y\n</code></pre>\n"),
        (
            "2. one\n2. two\n\n- a",
            '<ol start="2">\n<li>one</li>\n<li>two</li>\n</ol>\n<ul>\n<li>a</li>\n</ul>\n',
        ),
        (
            "| a | b |\n|---|---|\n| c | d |",
            (
                "<table>\n<thead>\n<tr>\n<th>a</th>\n<th>b</th>\n</tr>\n</thead>\n"
                "<tbody>\n<tr>\n<td>c</td>\n<td>d</td>\n</tr>\n</tbody>\n</table>\n"
            ),
        ),
        ('[a](https://a.example "T")', f'<p><a href="https://a.example" title="T" {REL}>a</a></p>\n'),
        ("![](/x.png)", f'<p><a href="/x.png" {REL}>/x.png</a></p>\n'),
        ("![p](mailto:a@b.c)", f'<p><a href="mailto:a@b.c" {REL}>p</a></p>\n'),
        ("+ a", "<ul>\n<li>a</li>\n</ul>\n"),
        ("12) a", '<ol start="12">\n<li>a</li>\n</ol>\n'),
        ("#a", "<p>#a</p>\n"),
        ("a\n===\n*b*", "<p>a\n===\n<em>b</em></p>\n"),
        ("    *code*", "<p><em>code</em></p>\n"),
        (
            "[x]: https://a.example\n\n[x]",
            f'<p>[x]: <a href="https://a.example" {REL}>https://a.example</a></p>\n<p>[x]</p>\n',
        ),
        ("a\r\nb\x0bc\u2028d\x00\u202e", "<p>a b c d</p>"),
        ("a\n \t\n\n  b\n", "<p>a</p>\n<p>b</p>"),
        ('"a" <', "<p>&quot;a&quot; &lt;</p>\n"),
        ('"a" & b', '<p>"a" &amp; b</p>'),
        ("XOR of *X*", "<p>XOR of <em>X</em></p>\n"),
        ("\nXML in LaTeX\n", "<p>XML in LaTeX</p>"),
        ("", ""),
        ("\n\n", ""),
    ],
)
def test_block_renders_markdown(source: str, html: str) -> None:
    assert block(source).replace("&quot;", '"') == html.replace("&quot;", '"')


@pytest.mark.parametrize(
    ("source", "html"),
    [
        ("$$ x $$", f'<div class="math">{X_DISPLAYED}</div>\n'),
        ("a\n\\[ x \\]\nb", f'<p>a</p>\n<div class="math">{X_DISPLAYED}</div>\n<p>b</p>\n'),
        ("   $$\nx\n  $$ \nb", f'<div class="math">{X_DISPLAYED}</div>\n<p>b</p>\n'),
        ("\\begin{equation*}\nx\n\\end{equation*}", f'<div class="math">{X_DISPLAYED}</div>\n'),
        ("- a\n  $$\n  x\n  $$", f'<ul>\n<li>a<div class="math">{X_DISPLAYED}</div>\n</li>\n</ul>\n'),
        ("> $$x$$", f'<blockquote>\n<div class="math">{X_DISPLAYED}</div>\n</blockquote>\n'),
        ("a $$x$$ b", f"<p>a {X_DISPLAYED} b</p>\n"),
        ("$$x$$ b $$x$$", f"<p>{X_DISPLAYED} b {X_DISPLAYED}</p>\n"),
        ("    $$x$$", f"<p>{X_DISPLAYED}</p>\n"),
        ("$$x\n\ny$$", "<p>$$x</p>\n<p>y$$</p>\n"),
        ("$$ $$", "<p>$$ $$</p>\n"),
        ("$$", "<p>$$</p>\n"),
        ("\\begin{foo}\n*a*\n\\end{foo}", "<p>\n<em>a</em>\n</p>\n"),
    ],
)
def test_formula_on_lines_of_its_own_is_displayed(source: str, html: str) -> None:
    assert block(source) == html


@pytest.mark.parametrize(("lines", "is_rendered"), [(59, True), (60, False)])
def test_displayed_formula_has_at_most_sixty_lines(lines: int, is_rendered: bool) -> None:
    source = "$$" + "\nx" * lines + "\n$$"

    assert ('<div class="math">' in block(source)) is is_rendered


def test_displayed_formula_begins_after_text_without_an_empty_line() -> None:
    for before in ("a\n", "> a\n> ", "- a\n  "):
        assert f'<div class="math">{X_DISPLAYED}</div>' in block(f"{before}$$x$$")


# Formulas in prose


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("a $x$ b", "a x b"),
        ("$ x_1 $, ($ x_1 $) and a$ x_1 $", "x₁, (x₁) and a$ x_1 $"),
        ("$ x $ and $ 5^a $ and $  $", "$ x $ and $ 5^a $ and $ $"),
        ("$x_1 $ and $ x_1$", "x₁ and x₁"),
        ("$5 per hour and $6", "$5 per hour and $6"),
        ("$5n$, $5 n$ and $10K$", "5n, 5n and 10K"),
        ("$5 US$, $10MB$", "$5 US$, $10MB$"),
        ("$5$ and $5^a bc$", "5 and 5ᵃbc"),
        ("3$x$ and $x$3", "3$x$ and $x$3"),
        ("3$<$4, 3$x_1$, $x_1$4, $3_1$4", "3<4, 3x₁, x₁4, $3_1$4"),
        (r"$a\$b$", "a$b"),
        (r"\$x\$ and \\$x$", "$x$ and\nx"),
        ("$$x$$ and $$5", "x and $$5"),
        ("$$$", "$$$"),
        ("$$x and y$", "$$x and y$"),
        (r"\(x\) \[x^2\] \[Re\] \(i\) \( \) \(ab\) \(a=bc\) \(x", "x x² [Re] i ( ) (ab) a = bc (x"),
        (r"\[a", "[a"),
    ],
)
def test_formulas_and_prose_in_dollars_and_brackets(source: str, text: str) -> None:
    assert plain(source) == text.replace("5ᵃbc", "5^abc")


def test_formula_in_prose_has_at_most_2000_characters() -> None:
    assert plain(f"${'x' * 1999}$") == "x" * 1999
    assert plain(f"${'x' * 2001}$") == f"${'x' * 2001}$"


def test_title_shows_formulas_inline() -> None:
    assert inline("a $$x$$ b") == f"a {X} b"
    assert inline('"a" & b') == '"a" &amp; b'
    assert inline("![a](/b) [*c*](/d) e\\\\ f") == "a <em>c</em> e f"


# Quotes, dashes, ties, products


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("``a'' `b' 'c'", "“a” ‘b’ 'c'"),
        ('``a"b" ``c"', '“a"b” “c”'),
        ("`it's' and don't", "`it's' and don't"),
        ("x `y' z'", "x ‘y’ z'"),
        ("-- --- ----", "– — ----"),
        ("a--b a -- b 1--2 a---b a-b", "a–b a – b 1–2 a—b a-b"),
        ("a --b --5 (--c) x--y", "a --b –5 (--c) x–y"),
        ("*a*b* 2*3*4 a*b*c", "ab* 2*3*4 abc"),
        ("2*x*3 x*2*y 2*3", "2*x*3 x*2*y 2*3"),
    ],
)
def test_quotes_dashes_and_products(source: str, text: str) -> None:
    assert plain(source) == text


@pytest.mark.parametrize("before", ["a", "a.", "a,", "a)", "50%", "$x$", "\\emph{a}"])
@pytest.mark.parametrize("after", ["b", "5", "\\emph{b}", "$x$", "(b)"])
def test_tie_between_words_is_a_no_break_space(before: str, after: str) -> None:
    assert "\u00a0" in inline(f"{before}~{after}").replace("&nbsp;", "\u00a0")
    assert plain(f"{before}~{after}") == f"{plain(before)} {plain(after)}"


@pytest.mark.parametrize("source", ["~5", "5~6", "a~ b", "(~b", "a~", "~", "a~-b"])
def test_tilde_that_is_no_tie_stays(source: str) -> None:
    assert plain(source) == source


# URLs


@pytest.mark.parametrize(
    ("source", "url"),
    [
        ("https://a.example/x.", "https://a.example/x"),
        ("(http://a.example/(y))", "http://a.example/(y)"),
        ("see https://a.example/b_c_d, and", "https://a.example/b_c_d"),
        (r"https://a.example/\_z\%20;", "https://a.example/_z%20"),
        (r"https://a.example/z\_ y", "https://a.example/z"),
        ("*https://a.example/*", "https://a.example/"),
        ("HTTPS://A.example/x!?", "HTTPS://A.example/x"),
        ("“https://a.example”", "https://a.example"),
        ("https://a.example/a)b", "https://a.example/a)b"),
    ],
)
def test_bare_url_is_linked_without_adjacent_punctuation(source: str, url: str) -> None:
    html = block(source)

    assert html.count("<a ") == 1
    assert f"{REL}>{url}</a>" in html


@pytest.mark.parametrize("source", ["ahttps://d.example", "https://", "https://.", "ftp://a.example", "://a"])
def test_invalid_url_is_not_linked(source: str) -> None:
    assert block(source) == f"<p>{source}</p>\n"


def test_url_inside_a_link_is_no_second_link() -> None:
    assert block("[t https://a.example](https://b.example)") == (
        f'<p><a href="https://b.example" {REL}>t https://a.example</a></p>\n'
    )


@pytest.mark.parametrize("url", ["//evil.example", "x.html", "#a", "ftp://a.example"])
def test_link_with_a_disallowed_target_is_removed(url: str) -> None:
    assert "<a" not in block(f"[x]({url}) *y*")


# Plain text and LaTeX


@pytest.mark.parametrize(
    ("source", "text", "tex"),
    [
        ("- a\n- b\n\n1. c\n2) d", "- a\n- b\n1. c\n2) d", "- a\n- b\n1. c\n2) d"),
        ("a\n\n- b\n\n  c\n\nd", "a\n\n- b\n\nc\n\nd", "a\n\n- b\n\nc\n\nd"),
        ("- - a\n- 1. b\n-\n- c", "- a\n1. b\n- c", "- a\n1. b\n- c"),
        ("| a | b |\n|---|---|\n| c | d |\n| e |", "a | b\nc | d\ne", "a | b\nc | d\ne"),
        ("x\n\n```\na_b\n```\n\ny", "x\n\na_b\n\ny", "x\n\n\\texttt{a\\_b\n}\n\ny"),
        ("> q\nr  \ns", "q r\ns", "q r\ns"),
        ("a\n$$x$$\nb", "a\n\nx\n\nb", "a\n\n\\[x\\]\n\nb"),
        ("a $$x$$ $y$", "a x y", "a \\[x\\] $y$"),
        ("# H\nt", "H\n\nt", "H\n\nt"),
        (
            "**b** x\\textsuperscript{2} \\textsubscript{i} `c_d`",
            "b x2 i c_d",
            "\\textbf{b} x\\textsuperscript{2} \\textsubscript{i} \\texttt{c\\_d}",
        ),
        (
            "50% & # _ {} ^ < > … |",
            "50% & # _ {} ^ < > … |",
            "50\\% \\& \\# \\_ \\{\\} \\textasciicircum{} \\textless{} \\textgreater{} \\ldots{} |",
        ),
        (r"C:\x ~", r"C:\x ~", r"C:\textbackslash{}x \textasciitilde{}"),
        ("“a” ‘b’ — – a\u2009b\u00a0c *d*", "“a” ‘b’ — – a b c d", "``a'' `b' --- -- a\\,b~c \\emph{d}"),
        ("‘“x”’ ’’ '' d’s", "‘“x”’ ’’ '' d’s", "`{}``x''' '{}' '{}' d's"),
        (
            "<https://a.example/x_y> [a](/b_c)",
            "https://a.example/x_y a",
            "\\href{https://a.example/x\\_y}{https://a.example/x\\_y} \\href{/b\\_c}{a}",
        ),
    ],
)
def test_text_as_plain_text_and_latex(source: str, text: str, tex: str) -> None:
    assert (plain(source), latex(source)) == (text, tex)


@pytest.mark.parametrize("length", [60_000, 60_001])
def test_markup_is_ignored_in_text_beyond_the_limit(length: int) -> None:
    source = "*a* & " + "b" * (length - 6)
    has_markup = length == 60_000

    assert plain(source).startswith("a & b" if has_markup else "*a* & b")
    assert latex(source).startswith("\\emph{a} \\& b" if has_markup else "*a* \\& b")
    assert inline(source).startswith("<em>a</em> &amp; b" if has_markup else "*a* &amp; b")
    assert block(source).startswith("<p><em>a</em> &amp; b" if has_markup else "<p>*a* &amp; b")
    assert len(plain(source)) == length - 2 * has_markup


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a-b--c", "a-b-c"),
        ("-a-", "a"),
        ("l'été", "lete"),
        ("x" * 59 + "-yy", "x" * 59),
        ("x" * 60 + "-yy", "x" * 60),
        ("x" * 61, "x" * 60),
        ("a" * 30 + " " + "b" * 40, "a" * 30),
        ("é" * 1001 + " b", "e" * 60),
        ("李", "li"),
        (r"Caf\'e & $T^3$: don't", "cafe-t3-dont"),
        ("", "x"),
        ("?!", "x"),
        ("word " * 20, "-".join(["word"] * 12)),
        ("Łukasz Ångström", "lukasz-angstrom"),
    ],
)
def test_slug_is_ascii_short_and_ends_with_a_word(source: str, expected: str) -> None:
    assert slug(source) == expected


def test_slug_falls_back_to_the_given_word() -> None:
    assert (slug("…", "Paper 7"), slug("", "?")) == ("paper-7", "x")


# Advice


@pytest.mark.parametrize(
    ("title", "is_reported"),
    [
        ("ABCD EFGH", False),
        ("ABCD EFGHI", True),
        ("ABCDEFGHIJKL", False),
        ("ABCD EFGHI a", True),
        ("ABCD EFGHI of", False),
    ],
)
def test_title_in_all_caps_is_reported(title: str, is_reported: bool) -> None:
    assert advice(title, is_title=True) == ["The title is in all caps."] * is_reported


@pytest.mark.parametrize(
    ("source", "quotes"),
    [
        (r"\textit{a} and \textbf{b}~c", "“\\textit”, “\\textbf”"),
        (r"\'a \'b \'e \'i", "“\\'a”, “\\'b”, “\\'e”"),
        (r"``\'a''", "“``\\'a''”"),
        (r"$\alpha$ \Walrus \textit{x}", "“\\textit”"),
        (r"\Walrus* \textit{x}", "“\\textit”"),
    ],
)
def test_warning_quotes_at_most_three_latex_commands(source: str, quotes: str) -> None:
    warnings = [warning for warning in advice(source) if warning.startswith("LaTeX")]

    assert warnings == [f"LaTeX outside of formulas: {quotes}. Use the letters themselves, and Markdown."]


def test_text_beyond_the_limit_is_shown_without_markup_and_reported() -> None:
    source = "*a* " * MAX_MARKUP_CHARS

    assert block(source) == f"<p>{source.strip()}</p>"
    assert advice(source) == ["Longer than 60,000 characters: shown without markup."]


def test_unpaired_dollar_is_reported() -> None:
    assert advice("a $x b") == [
        "Unpaired dollar sign: a formula may not be closed. For a plain dollar sign write \\$."
    ]


def test_displayed_formula_in_a_line_is_no_unpaired_dollar() -> None:
    assert advice("a $$x$$ b \\$ $5") == []
