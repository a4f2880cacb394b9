"""Tests of names: parts, sort keys, initials, suspicious names, and ORCID iDs."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from markup import slug
from people.names import (
    NameParts,
    fold,
    initial,
    initials,
    is_suspicious,
    is_valid_orcid,
    normalize,
    normalize_orcid,
    sort_key,
    split,
    suspicions,
)


def test_names_with_accents_are_sorted_searched_and_slugged() -> None:
    names = ["Ada Znojil", "Eva Šimek", "Dan Simek", "Łukasz", "Anders Ångström", "李", "Max Berg"]
    ordered = sorted(names, key=lambda name: sort_key("", "", name))
    assert ordered == ["Anders Ångström", "Max Berg", "李", "Łukasz", "Dan Simek", "Eva Šimek", "Ada Znojil"]
    assert [initial(sort_key("", "", name)) for name in ordered] == list("ABLLSSZ")
    assert [name for name in names if "simek" in fold(name)] == ["Eva Šimek", "Dan Simek"]
    assert normalize(unicodedata.normalize("NFD", "Eva Šimek")) == "Eva Šimek"
    slugs = [slug(name) for name in names]
    assert slugs == ["ada-znojil", "eva-simek", "dan-simek", "lukasz", "anders-angstrom", "li", "max-berg"]


@pytest.mark.parametrize(
    ("display", "given_name", "family_name"),
    [
        ("Jan van der Berg", "Jan", "van der Berg"),
        ("van der Berg, Jan", "Jan", "van der Berg"),
        ("Berg,  Jan", "Jan", "Berg"),
        ("de Souza", "de", "Souza"),
        ("Ana Maria de la Cruz", "Ana Maria", "de la Cruz"),
        ("Maria E Silva", "Maria E", "Silva"),
        ("Martin Luther King Jr.", "Martin Luther", "King Jr."),
        ("Martin Luther King, Jr.", "Martin Luther", "King Jr."),
        ("King, Jr., Martin Luther", "Martin Luther", "King Jr."),
        ("Henry Ford III", "Henry", "Ford III"),
        ("Yu (Emma) Wang", "Yu (Emma)", "Wang"),
        ("Plato", "", "Plato"),
        (", Plato", "", "Plato"),
        ("李明", "明", "李"),
        ("欧阳修", "修", "欧阳"),
        ("김철수", "철수", "김"),
        ("李", "", "李"),
        ("", "", ""),
    ],
)
def test_split_finds_the_family_name(display: str, given_name: str, family_name: str) -> None:
    assert split(display) == NameParts(given_name, family_name)


def test_sort_key_prefers_given_and_family_name_to_the_display_name() -> None:
    assert sort_key("Jan", "van der Berg", "Berg Jan") == "van der berg, jan"
    assert sort_key("", "O’Neill-Müller") == "oneill muller"
    assert sort_key("", "", "") == ""


@pytest.mark.parametrize(("key", "letter"), [("berg, jan", "B"), ("", "#"), ("3com", "#"), ("øre", "#")])
def test_initial_is_a_letter_or_a_number_sign(key: str, letter: str) -> None:
    assert initial(key) == letter


def test_normalize_removes_control_characters_and_extra_space() -> None:
    assert normalize("  Jose\u0301\u00a0\t de\nla\x00 Cruz\u200b\ufeff ") == "José de la Cruz"
    assert normalize(" Jose\u0301  de la Cruz ") == "José de la Cruz"
    assert normalize("میرزا\u200cخانی") == "میرزا\u200cخانی"


@pytest.mark.parametrize(
    ("orcid", "valid"),
    [
        ("0000-0002-1825-0097", True),
        ("0000-0002-1694-233X", True),
        ("0000-0002-1825-0098", False),
        ("0000-0002-1694-2330", False),
        ("0000000218250097", False),
        ("0000-0002-1694-233x", False),
        ("٠٠٠٠-0002-1825-0097", False),
        ("", False),
    ],
)
def test_orcid_is_valid_only_with_its_check_digit(orcid: str, valid: bool) -> None:
    assert is_valid_orcid(orcid) is valid


@pytest.mark.parametrize(
    ("text", "orcid"),
    [
        (" https://orcid.org/0000-0002-1694-233x ", "0000-0002-1694-233X"),
        ("orcid.org/0000-0002-1825-0097/", "0000-0002-1825-0097"),
        ("0000000218250097", "0000-0002-1825-0097"),
        ("ORCID: 0000-0002-1825-0097", "0000-0002-1825-0097"),
        ("https://evil.example/0000-0002-1825-0097", "https://evil.example/0000-0002-1825-0097"),
        ("", ""),
    ],
)
def test_orcid_is_normalized_from_its_url(text: str, orcid: str) -> None:
    assert normalize_orcid(text) == orcid


@pytest.mark.parametrize(
    ("display", "reasons"),
    [
        ("Jan van der Berg", []),
        ("J. P. Morgan III", []),
        ("李明", []),
        ("Karima BENATCHBA", ["It has a part in capitals: BENATCHBA."]),
        ("colby banbury", ["It is all in lower case."]),
        ("Simone Campanoni Campanoni", ["Its last word is doubled: Campanoni."]),
        ("Zirui Xu Zirui Xu", ["The name is written twice."]),
        ("Boutros Boutros", ["The name is written twice."]),
        ("Zirui Xu2", ["It contains a digit."]),
        ("NameError", ["It contains a placeholder, not a name.", "It is a single word."]),
        ("Jan null", ["It contains a placeholder, not a name."]),
        ("Nan Wang", []),
        (
            "jan@a.example",
            ["It looks like an e-mail address.", "It is a single word.", "It is all in lower case."],
        ),
        ("J&uuml;rgen Maier", ["It contains an HTML entity."]),
        (r"J{\"u}rgen Maier", ["It contains markup."]),
        ("Jan\x07 Berg", ["It contains control characters."]),
        ("Madonna", ["It is a single word."]),
        (" ", ["The name is empty."]),
    ],
)
def test_suspicious_names_are_explained(display: str, reasons: list[str]) -> None:
    assert suspicions(display) == reasons


@given(st.text(max_size=40))
def test_any_text_is_accepted_as_a_name(text: str) -> None:
    name = normalize(text)
    assert normalize(name) == name
    parts = split(text)
    letters = f"{parts.given}{parts.family}".replace(" ", "")
    assert sorted(letters) == sorted(name.replace(",", "").replace(" ", ""))
    assert initial(sort_key("", "", text)) in "ABCDEFGHIJKLMNOPQRSTUVWXYZ#"
    suspicions(text)


@given(
    st.text(alphabet="ABab Nonesé.1", max_size=12)
    | st.sampled_from(["Ada Lovelace", "Ada Ada", "None Given"])
)
def test_is_suspicious_agrees_with_suspicions(name: str) -> None:
    assert is_suspicious(name) is bool(suspicions(name))


@pytest.mark.parametrize(
    ("name", "letters"),
    [
        ("Ada Lovelace", "AL"),
        ("Jan van der Berg", "JB"),
        ("Ana María Muñoz", "AM"),
        ("étienne d'Arc", "ÉD"),
        ("Aristotle", "A"),
        ("李明", "李"),
        ("김 민준", "김"),
        ("Иван Петров", "ИП"),
        ("محمد علي", "مع"),
        ("कमला देवी", "कदे"),
        ("ßmall Name", "ßN"),
        ("-", ""),
    ],
)
def test_initials_of_names_in_any_script(name: str, letters: str) -> None:
    parts = split(name)

    assert initials(parts.given, parts.family, name) == letters
