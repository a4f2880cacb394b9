"""Tests of formulas: as plain text, as MathML, and unchanged by the sanitizer."""

import re
from collections.abc import Iterator

import pytest

from markup import CLEANER, MATH_ATTRIBUTES, MATH_TAGS, block, formula


@pytest.mark.parametrize(
    ("tex", "text"),
    [
        (r"\mathbf{x}\mathcal{O}\mathfrak{g}\mathsf{S}\mathtt{t}\boldsymbol{\alpha}", "xOgStα"),
        (r"\hat{x}\tilde{y}\bar{z}\overline{w}\dot{x}\ddot{x}\vec{v}", "x̂ỹz̄w̄ẋẍv⃗"),
        (r"\hat{n}\tilde{n}\hat{o}", "n̂ñô"),
        (r"\check{x}\overbrace{x}", "x^ˇx^⏞"),
        (r"\overset{a}{b}\underset{c}{d}", "b^ad_c"),
        (r"x'+x''_1+x'''", "x′+x₁″+x‴"),
        (r"x^*+x^{\prime}+x^\ast", "x*+x′+x*"),
        (r"\sum_{i=1}^n i", "∑_(i = 1)ⁿi"),
        (r"\int_0^1 \prod\limits_a^b", "∫₀¹∏_a^b"),
        (r"\sqrt[3]{x+1}\sqrt{x}\sqrt{(x)}", "3√(x+1)√x√(x)"),
        (r"\frac{a}{b}\frac{a+b}{(c+d)}\frac{(a)}{b)}", "a/b(a+b)/(c+d)(a)/(b))"),
        (r"\frac{(a)+(b)}{(f(x))}\sqrt{(x)+1}\sqrt{(x}", "((a)+(b))/(f(x))√((x)+1)√((x)"),
        (r"x_{ij}^{2}+x^{n}+x^{-1}+e^{x+y}+a^{(k)}+x_{t+1}", "x_ij²+xⁿ+x⁻¹+e^(x+y)+a^(k)+x_(t+1)"),
        (r"x^{(0123456789n)}+x^{+-}+x^{=}", "x⁽⁰¹²³⁴⁵⁶⁷⁸⁹ⁿ⁾+x⁺⁻+x⁼"),
        (r"x_{(0123456789)}+x_{+-}+x_{=}", "x₍₀₁₂₃₄₅₆₇₈₉₎+x₊₋+x₌"),
        (r"x_n x_{a1}", "x_n x_a1"),
        (r"\begin{pmatrix}a&b\\c&d\end{pmatrix}", "(a b c d )"),
        (r"f(x)=\begin{cases}1&x>0\\0\end{cases}", "f(x) = {1 x > 0 0"),
        (r"a\to b\in C\subset D\neq E", "a → b ∈ C ⊂ D ≠ E"),
        (r"a\sim b\approx c\equiv d\leq e\geq f\ll g\gg h", "a ∼ b ≈ c ≡ d ≤ e ≥ f ≪ g ≫ h"),
        (r"a\propto b\mapsto c\Rightarrow d\leftarrow e\notin f", "a ∝ b ↦ c ⇒ d ← e ∉ f"),
        ("-x=1", "−x = 1"),
        (r"\log n\log\log n\sin x\cos(y)", "log n log log n sin x cos(y)"),
        (r"2\log n+ab\log", "2 log n+ab log"),
        (r"\max_i x_i\operatorname{arg\,max}_x f", "max_i x_i arg max_x f"),
        (r"n\,\text{if } x\quad y\;z", "n if x y z"),
        (r"2\pi r+3xy", "2πr+3xy"),
        ("aXb", "aXb"),
        (r"\operatorname*{softmax}(x)\Pr(A)", "softmax(x)Pr(A)"),
        (r"\mathds{1}\mathbbm{1}\mathbbold{1}", "111"),
        (r"\textsc{Alg}+\textbf{foo}+\text{\emph{a}}+\mbox{\textit{b}}", "Alg+foo+a+b"),
        (r"x\sim y\simeq z\coloneqq w", "x ∼ y ≃ z ≔ w"),
        (r"x\label{a}\tag{1}\nonumber\xspace\protect y", "xy"),
        (r"\displaystyle\sum\limits_i x\nolimits", "∑_i x"),
        (r"\begin{equation*}x\end{equation*}", "x"),
        (r"\begin{displaymath}x\end{displaymath}", "x"),
        (r"\begin{gather}x\\y\end{gather}", "x y"),
        (r"\begin{eqnarray}x&=&y\end{eqnarray}", "x = y"),
        (r"\begin{multline*}x\\y\end{multline*}", "x y"),
        (r"\mathrel{+}\mathpunct{,}\mathop{x}", "+,x"),
    ],
)
def test_formula_as_plain_text(tex: str, text: str) -> None:
    assert formula.plain(tex) == text


@pytest.mark.parametrize(
    ("tex", "text"),
    [
        (r"\foo{\mathbf{x}}_{1}\alpha\beta", "foo x_1αβ"),
        (r"\foo\$ \% x", "foo $ % x"),
        (r"\text{foo\foo} a", "foofoo a"),
        (r"\foo\operatorname*{argmax} \emph {a}\boldsymbol{b}\mbox{c}", "foo argmax abc"),
        (r"\foo\hat{x}\times", "foo hat x×"),
        ("{" * 41 + "x" + "}" * 41, "x"),
        ("x" * 2001, "x" * 2001),
    ],
)
def test_unsupported_formula_is_plain_text_without_markup(tex: str, text: str) -> None:
    assert formula.mathml(tex) is None
    assert formula.plain(tex) == text


@pytest.mark.parametrize(
    "tex",
    [
        "{" * 40 + "x" + "}" * 40,
        "x" * 2000,
        r"\left(" * 20 + "x" + r"\right)" * 20,
        "{x}" * 60 + "x^2_3" * 60,
    ],
)
def test_formula_within_the_limits_is_rendered(tex: str) -> None:
    assert formula.mathml(tex) is not None


@pytest.mark.parametrize(
    "tex", [r"\left(" * 41 + "x" + r"\right)" * 41, r"\begin{matrix}" * 41 + "x" + r"\end{matrix}" * 41]
)
def test_formula_nested_too_deep_is_not_rendered(tex: str) -> None:
    assert formula.mathml(tex) is None


@pytest.mark.parametrize(
    "command",
    [
        r"\newcommand",
        r"\renewcommand",
        r"\def",
        r"\let",
        r"\DeclareMathOperator",
        r"\href",
        r"\class",
        r"\cssId",
        r"\style",
        r"\require",
    ],
)
def test_formula_with_an_unsafe_command_is_not_rendered(command: str) -> None:
    assert formula.mathml(rf"{command}{{a}}{{b}} x") is None


def inner_mathml(tex: str) -> str:
    """Return the MathML of a formula without its `math` element."""
    return re.sub(r"^<math[^>]*>(.*)</math>$", r"\1", formula.mathml(tex) or "")


@pytest.mark.parametrize(
    ("tex", "mathml"),
    [
        (r"\mathrm{KL}x", "<mrow><mrow><mi>KL</mi></mrow><mi>x</mi></mrow>"),
        (r"\mathrm{d}x", "<mrow><mi>d</mi><mi>x</mi></mrow>"),
        (r"\mathbf{x}\mathfrak{g}\mathbb{R}", "<mrow><mi>𝐱</mi><mi>𝔤</mi><mi>ℝ</mi></mrow>"),
        (
            r"\mathfrak{C}\mathcal{L}\mathsf{S}\mathtt{t}",
            "<mrow><mi>ℭ</mi><mi>ℒ</mi><mi>𝖲</mi><mi>𝚝</mi></mrow>",
        ),
        (r"\mathds{R}\mathbbm{N}\mathbbold{Z}", "<mrow><mi>ℝ</mi><mi>ℕ</mi><mi>ℤ</mi></mrow>"),
        (r"\boldsymbol{x}\bm{\beta}", "<mrow><mrow><mi>𝒙</mi></mrow><mrow><mi>𝜷</mi></mrow></mrow>"),
        (r"\mathbf{+}\mathbf{é}", "<mrow><mrow><mo>+</mo></mrow><mrow><mi>é</mi></mrow></mrow>"),
        (r"\textbf{foo}", '<mrow><mtext mathvariant="bold">foo</mtext></mrow>'),
        (r"a\sim b", "<mrow><mi>a</mi><mo>\u223c</mo><mi>b</mi></mrow>"),
        (r"x+\log(n)", None),
        (r"\log n", '<mrow><mi>log</mi><mspace width="0.167em"></mspace><mi>n</mi></mrow>'),
        (r"n\log", '<mrow><mi>n</mi><mspace width="0.167em"></mspace><mi>log</mi></mrow>'),
        (r"ab", "<mrow><mi>a</mi><mi>b</mi></mrow>"),
    ],
)
def test_mathml_has_unicode_letters_and_spaces(tex: str, mathml: str | None) -> None:
    assert inner_mathml(tex) == mathml if mathml else "mspace" not in inner_mathml(tex)


def test_functions_are_spaced_in_matrix_cells() -> None:
    assert inner_mathml(r"\begin{matrix}n\log n\end{matrix}").count("mspace") == 4


def test_formula_has_an_alttext() -> None:
    assert (formula.mathml("a<b") or "").startswith('<math alttext="a &lt; b"><mrow>')
    assert (formula.mathml("a", display=True) or "").startswith('<math alttext="a" display="block">')


@pytest.mark.parametrize(
    "command",
    [
        r"\mathbin",
        r"\mathrel",
        r"\mathop",
        r"\mathopen",
        r"\mathclose",
        r"\mathpunct",
        r"\mathord",
        r"\mathinner",
    ],
)
def test_operator_class_commands_leave_the_operator(command: str) -> None:
    for tex in (rf"a{command}{{+}}b", rf"a{command}+b"):
        assert re.findall(">([^<])<", str(block(f"${tex}$"))) == ["a", "+", "b"]


# Formulas that together need every allowed tag and attribute.
RENDERED_FORMULAS = [
    r"x_1^2+a_b^{c'}\text{ if }\frac{1}{\sqrt{x}}\sqrt[3]{y}\,z",
    r"\binom{n}{k}\hat{x}\sum\limits_{i=1}^n\lim_{x\to0}\overset{a}{b}\underset{a}{b}\Pr(A)\textbf{a}",
    r"\Bigl[x\Bigr)\left\{y\right.\clap{x}\smash{y}\boxed{z}\phantom{x}",
    r"\begin{array}{l|r}a&b\\\hline c&d\end{array}",
    r"\begin{align}a&=b\\c&=d\end{align}",
    r"\textstyle x\scriptstyle y\TeX\LaTeX",
    r"\mathrm{d}x\begin{cases}1&x>0\end{cases}",
]


def tags_and_attributes(html: str) -> Iterator[str]:
    """Yield each tag as `<name` and each attribute as ` name="value"`."""
    for tag, attributes in re.findall(r"<([a-z]+)([^>]*)>", html):
        yield f"<{tag}"
        yield from re.findall(r' ([\w-]+="[^"]*")', attributes)


@pytest.mark.parametrize("tex", RENDERED_FORMULAS)
def test_sanitizer_keeps_formulas_unchanged(tex: str) -> None:
    mathml = formula.mathml(tex, display=True)

    assert mathml is not None
    assert sorted(tags_and_attributes(str(CLEANER.clean(mathml)))) == sorted(tags_and_attributes(mathml))


def test_allowed_html_is_only_what_formulas_need() -> None:
    needed = {
        part.partition("=")[0]
        for tex in RENDERED_FORMULAS
        for part in tags_and_attributes(formula.mathml(tex, display=True) or "")
    }

    assert {f"<{tag}" for tag in MATH_TAGS} | MATH_ATTRIBUTES == needed


def test_unsupported_formula_is_shown_as_code() -> None:
    assert block("$$\n\\foo{x}<y\n$$") == ('<div class="math"><code class="tex">\\foo{x}&lt;y</code></div>\n')
