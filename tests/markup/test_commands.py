"""Tests of TeX commands in prose: all that the site supports, and their output."""

import pytest

from markup import block, inline, latex, plain
from markup.advice import advice

# Pairs of commands and their characters, in the same order.
SYMBOLS = [
    (r"\`a \'e \^o \"u \~n \=a \.z", "à é ô ü ñ ā ż"),
    (r"\c{c} \v{s} \H{o} \k{a} \u{g} \r{a} \d{h} \b{d}", "ç š ő ą ğ å ḥ ḏ"),
    (r"\.Z \.I \.e \.E \=A \=e \=E \=i \=I \=o \=O \=u \=U", "Ż İ ė Ė Ā ē Ē ī Ī ō Ō ū Ū"),
    (r"\"a \"A \"e \"E \"i \"I \"o \"O \"U \"y \"Y", "ä Ä ë Ë ï Ï ö Ö Ü ÿ Ÿ"),
    (r"\ss{} \o{} \O{} \l{} \L{} \ae{} \AE{} \oe{} \OE{} \aa{} \AA{}", "ß ø Ø ł Ł æ Æ œ Œ å Å"),
    (r"\i{} \j{} \dh{} \DH{} \th{} \TH{} \dj{} \DJ{}", "ı ȷ ð Ð þ Þ đ Đ"),
    (r"\LaTeX \TeX{} \ldots \dots{} \textellipsis{}", "LaTeX TeX … … …"),
    (r"\textendash{} \textemdash{} \textbackslash{} \textasciitilde{}", "– — \\ ~"),
    (r"\textasciicircum{} \textunderscore{} \textless{} \textgreater{} \textbar{}", "^ _ < > |"),
    (r"\textdegree{} \textmu{} \texttimes{} \textpm{} \copyright{} \dag{} \ddag{}", "° µ × ± © † ‡"),
    (r"\textregistered{} \texttrademark{} \pounds{} \textquotesingle{}", "® ™ £ '"),
    (r"\textquotedblleft{}a\textquotedblright{} \eg{} \ie{}", "“a” e.g. i.e."),
    (
        r"\ln{} \exp{} \sin{} \cos{} \tan{} \tanh{} \max{} \min{} \sup{}",
        "ln exp sin cos tan tanh max min sup",
    ),
    (r"\inf{} \arg{} \det{} \dim{} \lim{} \Pr{} \gcd{} \argmin{}", "inf arg det dim lim Pr gcd argmin"),
    (r"\sim{} \alpha{} \times{} \log{} \argmax{}", "∼ α × log argmax"),
]


@pytest.mark.parametrize(("source", "text"), SYMBOLS)
def test_symbol_commands_become_their_characters(source: str, text: str) -> None:
    for command, symbol in zip(source.split(), text.split(), strict=True):
        assert plain(f"x {command} y") == f"x {symbol} y"
        assert [warning for warning in advice(command) if "isn’t supported" in warning] == []


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (r"\etal{} a\quad{}b\qquad{}c", "et al. a b c"),
        (r"a\xspace b\noindent c\centering d", "a b c d"),
        (r"a\bigskip b\medskip c\smallskip d\maketitle e", "a b c d e"),
        (r"\left a\right b", "a b"),
        (r"stra\ss e S\o ren \L{}\'od\'z \AA rhus", "straße Søren Łódź Århus"),
        (r"\' {e} \'\i \'\inner", r"' {e} í 'inner"),
        (r"\.x \=n \"n \.{z} \v s", '.x =n "n ż š'),
        (r"10\,000 a\,b a\-b shelf\/ful", "10 000 a b ab shelfful"),
        (r", \, x \- y \/", ", , x - y /"),
        (r"a\ b\ c", "a b c"),
    ],
)
def test_spaces_accents_and_hyphenation_points(source: str, text: str) -> None:
    assert plain(source) == text


def test_thin_space_is_kept_and_hyphenation_point_is_removed() -> None:
    assert inline(r"10\,000") == "10\u2009000"
    assert latex(r"10\,000 a\-b") == r"10\,000 ab"


@pytest.mark.parametrize(
    ("names", "tag"),
    [
        ("emph textit textsl", "em"),
        ("textbf", "strong"),
        ("textsuperscript", "sup"),
        ("textsubscript", "sub"),
        ("texttt code lstinline path", "code"),
    ],
)
def test_emphasis_commands_become_html_tags(names: str, tag: str) -> None:
    for name in names.split():
        assert inline(rf"a \{name}{{b c}} d") == f"a <{tag}>b c</{tag}> d"
        assert advice(rf"a \{name}{{b c}} d")[1:] == []


@pytest.mark.parametrize(
    ("names", "tag"), [("em it itshape sl", "em"), ("bf bfseries", "strong"), ("tt ttfamily", "code")]
)
def test_emphasis_groups_become_html_tags(names: str, tag: str) -> None:
    for name in names.split():
        assert inline(rf"a {{\{name} b c}} d") == f"a <{tag}>b c</{tag}> d"


FORMATTING_COMMANDS = """
textsc textrm textsf textnormal textup textmd text mbox hbox underline uline textul ul mathrm mathbf mathit
mathsf mathtt mathcal boldsymbol bm ensuremath uppercase protect rm sf sc tt normalfont scshape
"""


@pytest.mark.parametrize("name", FORMATTING_COMMANDS.split())
def test_formatting_commands_leave_their_content(name: str) -> None:
    assert inline(rf"a \{name}{{b}} c") == "a b c"
    assert [warning for warning in advice(rf"a \{name}{{b}} c") if "isn’t supported" in warning] == []


def test_color_command_leaves_its_content() -> None:
    assert plain(r"a \textcolor{red}{word} b") == "a word b"
    assert plain(r"a \textcolor{red} b") == "a red b"


def test_math_accents_in_prose_leave_only_their_content() -> None:
    assert plain(r"the \underline{word} \hat{x} and \overline{y}") == "the word x and y"


@pytest.mark.parametrize(
    ("names", "text"),
    [
        ("cite citep citealp parencite autocite citenum label vspace hspace index thanks", "a. b"),
        ("citet citealt citeauthor citeyear textcite ref eqref cref Cref autoref", "a [x]. b"),
    ],
)
def test_references_are_removed_or_shown_in_brackets(names: str, text: str) -> None:
    for name in names.split():
        assert plain(rf"a \{name}{{x}}. b") == text
        assert [warning for warning in advice(rf"\{name}{{x}}") if "isn’t supported" in warning] == []


def test_space_before_removed_commands_is_removed() -> None:
    assert plain(r"as in~\cite[p. 5][see]{a}, or ~ \citep {b}.") == "as in, or ~."
    assert plain(r"a \begin{itemize}b\end{itemize} c") == "a b c"


def test_items_and_line_breaks_start_new_lines() -> None:
    assert plain(r"\begin{itemize} \item a \item b\end{itemize}") == "• a\n• b"
    for command in (r"\par", r"\newline", r"\linebreak", r"\\", r" \\ "):
        assert plain(f"a{command} b") == "a\nb"
        assert block(f"a{command} b") == "<p>a<br>\nb</p>\n"
        assert inline(f"a{command} b") == "a b"


def test_leading_line_break_is_ignored() -> None:
    assert block(r"\\ \\ a") == "<p>a</p>\n"
    assert block(r"*b*\\ a") == "<p><em>b</em><br>\na</p>\n"


@pytest.mark.parametrize(
    ("source", "text"),
    [(r"\say{hi}", "“hi”"), (r"\enquote{hi}", "“hi”"), (r"word\footnote{see}", "word(see)")],
)
def test_quotes_and_footnotes_get_punctuation(source: str, text: str) -> None:
    assert plain(source) == text


@pytest.mark.parametrize(
    ("source", "html"),
    [
        (r"\texttt{a~b \emph{c} \% \foo*{d}}", "<code>a b c % d</code>"),
        ("\\texttt{a\nb}", "<code>a b</code>"),
        (r"\texttt{<b> *c*} d", "<code>&lt;b&gt; *c*</code> d"),
        (r"{\tt a_b} c", "<code>a_b</code> c"),
        (r"{\tt{x}} y", "<code>{x}</code> y"),
    ],
)
def test_code_is_shown_literally_without_its_markup(source: str, html: str) -> None:
    assert inline(source) == html
    assert block(source) == f"<p>{html}</p>\n"


@pytest.mark.parametrize(
    ("source", "html"),
    [
        (r"{\"o} {\'{e}} {x} {}", "ö é {x} {}"),
        (r"{\{x\}}", "{{x}}"),
        (r"{\em{x}} {\bf{y} z}", "<em>x</em> <strong>y</strong> z"),
        (r"{\em a {\bf b} c} d", "<em>a <strong>b</strong> c</em> d"),
        (r"\emph{\emph{a} \textbf{b}} c", "<em><em>a</em> <strong>b</strong></em> c"),
        (r"\emph{{a}} {b", "<em>{a}</em> {b"),
    ],
)
def test_groups_render_their_content(source: str, html: str) -> None:
    assert inline(source) == html


@pytest.mark.parametrize(
    ("command", "max_depth"), [(r"\mbox{", 20), (r"\emph{", 10), (r"{\em ", 10), (r"\href{/a}{", 19)]
)
@pytest.mark.parametrize("depth", [9, 10, 11, 20, 21, 1000])
def test_commands_nested_too_deep_stay_as_written(command: str, max_depth: int, depth: int) -> None:
    unread = max(0, depth - max_depth)

    assert plain(command * depth + "x" + "}" * depth) == command * unread + "x" + "}" * unread


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (r"\Walrus \Walrus* \Walrus{} is", "Walrus Walrus Walrus is"),
        (r"\foo[a]{b} \foo{c} \foo {d}", "b c d"),
        (r"\emph{} and \emph", "and"),
        (r"C:\temp\x a\b /usr\x x/\y", r"C:\temp\x a\b /usr\x x/\y"),
        (r"\one\two three", r"\one\two three"),
    ],
)
def test_unknown_commands_become_their_names_and_paths_stay(source: str, text: str) -> None:
    assert plain(source) == text


@pytest.mark.parametrize(
    ("source", "names"),
    [
        (r"\Walrus and \Walrus{x} and \Dog{y}", ["\\Walrus", "\\Dog"]),
        (r"\emph{a and \textbf", ["\\emph"]),
        (r"\emph \textbf{} \cite", []),
    ],
)
def test_unsupported_commands_are_reported_once(source: str, names: list[str]) -> None:
    warnings = [warning for warning in advice(source) if "isn’t supported" in warning]

    assert warnings == [f"The LaTeX command “{name}” isn’t supported." for name in names]


REL = 'rel="nofollow noopener"'


@pytest.mark.parametrize(
    ("source", "html"),
    [
        (r"\href{https://a.example/}{x *y*} z", f'<a href="https://a.example/" {REL}>x <em>y</em></a> z'),
        (
            r"\url{https://a.example/a\_b\%20\#c} z",
            f'<a href="https://a.example/a_b%20#c" {REL}>https://a.example/a_b%20#c</a> z',
        ),
        (r"\href{javascript:x}{y} z", "y z"),
        (r"\url{a.example} z", "a.example z"),
        (r"\href{nowhere} z", r"\href{nowhere} z"),
        (r"\href{/a}{\href{/b}{c}} d", f'<a href="/a" {REL}>c</a> d'),
        (r"\href{/a}{https://b.example} d", f'<a href="/a" {REL}>https://b.example</a> d'),
        (r"\url{ /a } b \url", f'<a href="/a" {REL}>/a</a> b url'),
    ],
)
def test_tex_links_become_html_links_if_their_urls_are_safe(source: str, html: str) -> None:
    assert block(source) == f"<p>{html}</p>\n"


def test_tex_links_stay_links_in_latex() -> None:
    assert latex(r"\href{https://a.example/x_y}{a} \url{https://a.example/x\_y}") == (
        r"\href{https://a.example/x\_y}{a} \url{https://a.example/x_y}"
    )
