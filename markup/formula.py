"""Conversion of a TeX formula into MathML, which browsers render without scripts, and into Unicode text.

`markup.tex` finds the formulas in a text.
"""

import html
import re
import unicodedata
from functools import lru_cache
from itertools import pairwise
from xml.etree.ElementTree import Element, tostring

from latex2mathml.converter import Converter
from latex2mathml.symbols_parser import convert_symbol

MAX_FORMULA_CHARS = 2000
MAX_DEPTH = 40

# Macros could expand without bound. The other commands add links, styles and identifiers to the page.
FORBIDDEN = re.compile(
    r"\\(?:re)?newcommand|\\def\b|\\let\b|\\DeclareMathOperator|\\href|\\class|\\cssId|\\style|\\require"
)
REWRITES: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\\operatorname\*?\s*\{"), r"\\mathrm{"),
    (re.compile(r"\\(text\w*|mbox)\{\\(?:text\w*|emph)\{([^{}]*)\}\}"), r"\\\1{\2}"),
    (re.compile(r"\\(?:xspace|protect|limits|nolimits|displaystyle|nonumber)\b"), ""),
    (re.compile(r"\\(?:label|tag)\{[^{}]*\}"), ""),
    (re.compile(r"\\(?:mathds|mathbbm|mathbbold)\b"), r"\\mathbb"),
    (re.compile(r"\\textsc\b"), r"\\text"),
    (re.compile(r"\\sim(?![A-Za-z])"), "\u223c "),
    (re.compile(r"\\coloneqq\b"), "≔ "),
    (re.compile(r"\\(begin|end)\{(?:equation|displaymath)\*?\}"), ""),
    (re.compile(r"\\(begin|end)\{(?:eqnarray|gather|multline|align)\*?\}"), r"\\\1{align*}"),
)
FUNCTIONS = frozenset(
    {
        "log", "ln", "exp", "sin", "cos", "tan", "tanh", "max", "min", "sup", "inf", "arg", "det", "dim",
        "lim", "Pr", "gcd", "argmax", "argmin",
    }
)  # fmt: skip
RELATIONS = frozenset("=<>≤≥≈\u223c≃≅≡≠≔∈∉⊂⊆⊃⊇→←↦⇒⇔⟶∝≪≫≲≳")
ACCENTS = {
    "^": "\u0302",
    "~": "\u0303",
    "¯": "\u0304",
    "―": "\u0304",
    "˙": "\u0307",
    "¨": "\u0308",
    "→": "\u20d7",
}
SUPERSCRIPTS = str.maketrans("0123456789+-−=()n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿ")
SUBSCRIPTS = str.maketrans("0123456789+-−=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎")


def symbol(name: str) -> str | None:
    """Return the character of the TeX command of this name (without backslash), e.g. times -> ×.

    Return `None` for accents such as underline, which would combine with the preceding character.
    """
    codes = convert_symbol("\\" + name)
    sign = "".join(chr(int(code, 16)) for code in codes.split("-")) if codes else ""
    return None if not sign or unicodedata.combining(sign[0]) else sign


@lru_cache(maxsize=4096)
def mathml(tex: str, display: bool = False) -> str | None:
    """Return the formula as a <math> element, not sanitized yet; `None` if it cannot be rendered."""
    root = _convert(tex, display)
    if root is None:
        return None
    attributes = {"alttext": plain(tex)} | ({"display": "block"} if display else {})
    root.attrib.clear()
    root.attrib.update(attributes)
    for element in root.iter():
        # Browsers ignore `mathvariant` except "normal", so use the letters of Unicode instead.
        variant = element.get("mathvariant")
        if variant and variant != "normal" and element.tag != "mtext":
            del element.attrib["mathvariant"]
            element.text = "".join(_variant_letter(character, variant) for character in element.text or "")
    for row in [*root.iter("mrow"), *root.iter("mtd")]:
        _space_functions(row)
    return tostring(root, encoding="unicode", short_empty_elements=False)


@lru_cache(maxsize=4096)
def plain(tex: str) -> str:
    """Return the complete formula as Unicode text, without TeX: `10^{-3}\\times` -> 10⁻³×."""
    root = _convert(tex, False)
    if root is None:
        return _strip_tex(tex)
    return " ".join(_to_text(root).split())


def _convert(tex: str, display: bool) -> Element | None:
    if len(tex) > MAX_FORMULA_CHARS or FORBIDDEN.search(tex) or _depth(tex) > MAX_DEPTH:
        return None
    for pattern, replacement in REWRITES:
        tex = pattern.sub(replacement, tex)
    try:
        root = Converter(display="block" if display else "inline").convert_to_element(tex.strip())
    except (
        Exception
    ):  # The converter raises every kind of error for authors' TeX; each means "cannot be rendered".
        return None
    return root if _decode_references(root) else None


def _depth(tex: str) -> int:
    """Return the depth of nested braces, environments and fences, into which the converter recurses."""
    deepest = depth = 0
    for match in re.finditer(r"\\(?:begin|left)\b|\\(?:end|right)\b|\\.|[{}^_]", tex, re.DOTALL):
        token = match[0]
        if token in ("{", "\\begin", "\\left"):
            depth += 1
            deepest = max(deepest, depth)
        elif token in ("}", "\\end", "\\right"):
            depth -= 1
    return deepest


def _decode_references(root: Element) -> bool:
    """Decode the converter's character references; return `False` if it left an unknown command as text."""
    for element in root.iter():
        if element.text:
            if "\\" in element.text:
                return False
            element.text = html.unescape(element.text)
            if element.tag == "mi" and element.text in RELATIONS:
                element.tag = "mo"
        if element.tag in ("mi", "mo") and len(element):
            # \mathrel{+}: browsers ignore elements in an operator, which may contain only text.
            element.tag = "mrow"
            element.attrib.clear()
    for parent in root.iter("mrow"):
        _join_upright(parent)
    return True


def _space_functions(row: Element) -> None:
    """Add the thin space that TeX inserts around the name of a function, as in n log n."""
    for left, right in reversed(list(pairwise(row))):
        names = [side for side in (left, right) if side.text in FUNCTIONS]
        if names and left.tag not in ("mo", "mspace") and right.tag not in ("mo", "mspace"):
            row.insert(list(row).index(right), Element("mspace", {"width": "0.167em"}))


def _join_upright(parent: Element) -> None:
    """Join adjacent upright letters into one name: <mi>K</mi><mi>L</mi> becomes <mi>KL</mi>."""
    previous: Element | None = None
    for child in list(parent):
        upright = child.tag == "mi" and child.get("mathvariant") == "normal"
        if upright and previous is not None:
            previous.text = (previous.text or "") + (child.text or "")
            previous.attrib.pop("mathvariant", None)
            parent.remove(child)
        else:
            previous = child if upright else None


@lru_cache(maxsize=1024)
def _variant_letter(character: str, variant: str) -> str:
    """Return the letter of a mathematical alphabet such as "bold", or the character if there is none."""
    name = unicodedata.name(character, "")
    letter = re.sub(r"^(?:LATIN|GREEK) (SMALL|CAPITAL) LETTER ", r"\1 ", name)
    alphabet = variant.upper().replace("BOLD-", "BOLD ").replace("-ITALIC", " ITALIC")
    for candidate in (
        f"MATHEMATICAL {alphabet} {letter}",
        f"{alphabet} {letter}".replace("FRAKTUR", "BLACK-LETTER"),
    ):
        try:
            return unicodedata.lookup(candidate)
        except KeyError:
            continue
    return character


def _to_text(element: Element) -> str:
    parts = [_to_text(child) for child in element]
    match element.tag, parts:
        case "mfrac", [above, below]:
            return f"{_bracket(above)}/{_bracket(below)}"
        case "msqrt", _:
            return "√" + _bracket("".join(parts))
        case "mroot", [base, degree]:
            return f"{degree}√{_bracket(base)}"
        case "mover", [base, above] if above in ACCENTS:
            return unicodedata.normalize("NFC", base + ACCENTS[above])
        case "msup" | "mover", [base, above]:
            return base + _script_text(above, "^", SUPERSCRIPTS)
        case "msub" | "munder", [base, below]:
            return base + _script_text(below, "_", SUBSCRIPTS)
        case "msubsup" | "munderover", [base, below, above]:
            return base + _script_text(below, "_", SUBSCRIPTS) + _script_text(above, "^", SUPERSCRIPTS)
        case "mspace", _:
            return " "
        case "mtr" | "mtd", _:
            return _join_parts(parts) + " "
        case _:
            return _join_parts(parts) if parts else _leaf_text(element)


def _leaf_text(element: Element) -> str:
    """Return the text with plain letters in place of mathematical alphabets, for readers and searches."""
    return "".join(
        unicodedata.normalize("NFKC", character) if "\U0001d400" <= character <= "\U0001d7ff" else character
        for character in element.text or ""
    )


def _join_parts(parts: list[str]) -> str:
    """Add spaces between names such as log and adjacent letters, and around relations."""
    line = last = ""
    for part in parts:
        if part in RELATIONS and line:
            line += f" {part} "
        elif last and part and _are_words(last, part):
            line += " " + part
        else:
            line += part
        last = part
    return line


def _are_words(left: str, right: str) -> bool:
    if re.search(r"^[^\W\d_]{2,}$|_\w+$", left):
        return right[0].isalnum()
    return left[-1].isalnum() and len(right) > 1 and right.isalpha()


def _script_text(text: str, mark: str, alphabet: dict[int, int]) -> str:
    text = text.strip()
    if text in ("\u2032", "\u2033", "\u2034", "'", "\u2217", "*"):
        return text
    raised = text.translate(alphabet)
    if all(character not in text for character in raised) and text:
        return raised
    return mark + _bracket(text)


def _bracket(text: str) -> str:
    text = text.strip()
    return text if len(text) <= 1 or text.isalnum() or _is_bracketed(text) else f"({text})"


def _is_bracketed(text: str) -> bool:
    """Return whether one pair of brackets encloses the text: (a+b) but not (a)+(b)."""
    depth = 0
    for end, character in enumerate(text, start=1):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return end == len(text)
    return False


def _strip_tex(tex: str) -> str:
    """Return the TeX without its markup, for formulas that the converter does not support."""
    text = re.sub(r"\\(?:text\w*|math\w*|emph|operatorname|boldsymbol|mbox)\*?\s*\{", "{", tex)
    text = re.sub(r"\\([A-Za-z]+)\s*", lambda match: symbol(match[1]) or match[1] + " ", text)
    text = re.sub(r"\\(.)", r"\1", text)
    return " ".join(text.translate({ord("{"): "", ord("}"): "", ord("\\"): ""}).split())
