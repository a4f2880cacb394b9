"""Tests of foreign YAML: strings, lists and objects are read; anything else is refused with its line."""

from typing import Any

import pytest

from exchange.files import Source
from exchange.problems import Findings, ProgramError
from exchange.reading import textfiles


def read_yaml(text: str | bytes) -> Any:
    findings = Findings()
    content = text if isinstance(text, bytes) else text.encode()
    value = textfiles.read_yaml(Source("a.yml", content), findings)
    findings.raise_problems()
    return value


def error_message(text: str | bytes) -> str:
    with pytest.raises(ProgramError) as error:
        read_yaml(text)
    return str(error.value)


def test_aliases_are_expanded() -> None:
    text = "a: &x {b: 1, c: &y [2]}\nd: *x\ne: *y\nf: {<<: *x, b: 3}\ng: {<<: [{c: 4}, *x]}\n"

    assert read_yaml(text) == {
        "a": {"b": "1", "c": ["2"]},
        "d": {"b": "1", "c": ["2"]},
        "e": ["2"],
        "f": {"b": "3", "c": ["2"]},
        "g": {"b": "1", "c": "4"},
    }


def test_exponential_and_deep_aliases_are_refused() -> None:
    wide = "a0: &a0 [1, 2]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 30))
    deep = "a0: &a0 [1]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}]\n" for n in range(1, 60))

    assert "a.yml, line 15: Up to here, the file expands to more than 120 MB" in error_message(wide)
    assert "Lists and objects are nested too deeply on line 40." in error_message(deep)


def test_values_are_read_as_text() -> None:
    assert read_yaml("a: No\nb: [1.0, ~]\nc: {d: 2021-04-06}\n") == {
        "a": "No",
        "b": ["1.0", "~"],
        "c": {"d": "2021-04-06"},
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: &x [1, *x]\n", "Line 1 repeats a part that is not there, or itself (*x)."),
        ("a: 1\nb: *x\n", "Line 2 repeats a part that is not there, or itself (*x)."),
        ("[" * 41 + "]" * 41, "Lists and objects are nested too deeply on line 1."),
        ("a:\n- {b: 1,\n   b: 1}\n", 'Line 3 is not YAML: "b" is listed twice in one object.'),
        ("a: 1\nb: [1\n", "Line 3 is not YAML: did not find expected ',' or ']'."),
        (b"a: \xff", "The file is not UTF-8 text (byte 3). Save it as YAML in the encoding UTF-8."),
    ],
)
def test_invalid_yaml_is_refused(text: str | bytes, message: str) -> None:
    assert message in error_message(text)


def test_file_over_the_limit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(textfiles, "MAX_YAML_BYTES", 5)

    message = "a.yml: The file is larger than 0 MB. Is this a conference program?"
    assert error_message("a: 1\n" * 3) == message
