import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

import markup
from search.folding import MAX_WORD_CHARS, fold, fold_texts, fold_words, word_positions

# Letters of many scripts, combining accents, and characters that are not part of words.
LETTERS = st.text(
    st.sampled_from("aZ09 -'’.\"ßŁłøŠšİıée\u0301\u0308李明深学ニュ학습жΩﬁ½☂\x00\t"), max_size=40
)


@given(st.one_of(st.text(), LETTERS))
def test_folding_is_that_of_the_conference(source: str) -> None:
    assert fold(source) == markup.fold(source)


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("Deep  Learning", ["deep", "learning"]),
        ("Eva Šimek", ["eva", "simek"]),
        (unicodedata.normalize("NFD", "Eva Šimek"), ["eva", "simek"]),
        ("Łukasz, İstanbul, Straße", ["lukasz", "istanbul", "strasse"]),
        ("O'Brien and O’Brien", ["obrien", "and", "obrien"]),
        ("李", ["li"]),
        ("深度学习", ["shen", "du", "xue", "xi"]),
        ("state-of-the-art C++", ["state", "of", "the", "art", "c"]),
        ("12e3a", ["12e3", "a"]),
        ("… — ·", []),
        ("", []),
        ("x" * 100, ["x" * MAX_WORD_CHARS]),
    ],
)
def test_words(source: str, found: list[str]) -> None:
    assert fold_words(source) == found


def test_texts_are_kept_apart() -> None:
    assert fold_texts(["Jan Novák", "", "Anna Li"]) == "jan novak ж anna li"


@given(LETTERS)
def test_places_are_those_of_the_words(source: str) -> None:
    assert [place.word for place in word_positions(source)] == fold_words(source)


def test_control_between_a_letter_and_its_accent_parts_nothing() -> None:
    assert [place.word for place in word_positions("s\x00\u030c")] == fold_words("s\x00\u030c") == ["s"]
    assert [place.word for place in word_positions("ж\x00\u0308")] == fold_words("ж\x00\u0308")


def test_places_lie_in_the_original() -> None:
    source = "Ein Straßenname: 学习!"

    found = [(place.word, source[place.start : place.end]) for place in word_positions(source)]

    assert found == [("ein", "Ein"), ("strassenname", "Straßenname"), ("xue", "学"), ("xi", "习")]
