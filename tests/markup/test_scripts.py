"""Tests of detecting the language or script of words."""

import pytest

from markup import inline, language_of_line, language_of_name


@pytest.mark.parametrize(
    ("name", "tag"),
    [
        ("김민준", "ko"),
        ("山田はなこ", "ja"),
        ("李明", "und-Hani"),
        ("Γιώργος", "el"),
        ("Анна", "und-Cyrl"),
        ("नरेश", "und-Deva"),
        ("สมชาย", "th"),
        ("דוד", "und-Hebr"),
        ("محمد", "und-Arab"),
        ("Łukasz Šimek", ""),
        ("", ""),
    ],
)
def test_script_of_a_name_is_detected(name: str, tag: str) -> None:
    assert language_of_name(name) == tag


@pytest.mark.parametrize(
    ("line", "tag"),
    [
        ("深層学習による翻訳", "ja"),
        ("基于注意力的翻译", "und-Hani"),
        ("ニューラル machine 翻訳モデルの評価", "ja"),
        ("Translating 李白 into English", ""),
        ("Нейронный перевод", "und-Cyrl"),
        ("On α and β", ""),
        ("2021", ""),
        ("", ""),
    ],
)
def test_line_is_in_the_script_of_most_of_its_letters(line: str, tag: str) -> None:
    assert language_of_line(line) == tag


def test_title_has_a_lang_attribute() -> None:
    assert inline("深層学習 & *翻訳*") == '<span lang="und-Hani">深層学習 &amp; <em>翻訳</em></span>'
    assert inline("Deep & *Learning*") == "Deep &amp; <em>Learning</em>"
