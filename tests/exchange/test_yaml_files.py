"""YAML as files of others bring it: texts, lists and objects; anything else is refused with its line."""

from typing import Any

import pytest

from exchange.files import Source
from exchange.problems import Findings, ProgramError
from exchange.reading import textfiles


def loaded(text: str | bytes) -> Any:
    findings = Findings()
    content = text if isinstance(text, bytes) else text.encode()
    found = textfiles.read_yaml(Source("a.yml", content), findings)
    findings.settle()
    return found


def refusal(text: str | bytes) -> str:
    with pytest.raises(ProgramError) as refused:
        loaded(text)
    return str(refused.value)


def test_values_stay_as_they_are_written() -> None:
    assert loaded("a: No\nb: [1.0, ~]\nc: {d: 2021-04-06}\n") == {
        "a": "No",
        "b": ["1.0", "~"],
        "c": {"d": "2021-04-06"},
    }


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: &x [1]\nb: *x\n", "Line 2 repeats another part by an alias (*x). Write it out."),
        ("[" * 41 + "]" * 41, "Lists and objects are nested too deeply on line 1."),
        ("a: 1\nb: [1\n", "Line 3 is not YAML: did not find expected ',' or ']'."),
        (b"a: \xff", "The file is not UTF-8 text (byte 3). Save it as YAML in the encoding UTF-8."),
    ],
)
def test_what_is_no_plain_yaml_is_refused(text: str | bytes, said: str) -> None:
    assert said in refusal(text)


@pytest.mark.parametrize(
    ("bound", "said"),
    [
        ("MAX_YAML_BYTES", "The file is larger than 0 MB. Is this a conference program?"),
        ("MAX_YAML_EVENTS", "The file holds too many values for a conference program."),
    ],
)
def test_more_than_a_program_has_is_refused(monkeypatch: pytest.MonkeyPatch, bound: str, said: str) -> None:
    text = "a: 1\n" * 3
    monkeypatch.setattr(textfiles, bound, 5)

    assert refusal(text) == f"a.yml: {said}"
