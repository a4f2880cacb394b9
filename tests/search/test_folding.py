import time
import unicodedata
from collections.abc import Callable
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from search.folding import MAX_WORD_CHARS, fold_texts, fold_words, word_positions

# Letters of many scripts, combining accents, and characters that are not part of words.
LETTERS = st.text(
    st.sampled_from("aZ09 -'’.\"ßŁłøŠšİıée\u0301\u0308李明深学ニュー학습жΩαάς𝛽µ∇ไทยមﬁ½☂\x00\t"), max_size=40
)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("Deep  Learning", ["deep", "learning"]),
        ("Eva Šimek", ["eva", "simek"]),
        (unicodedata.normalize("NFD", "Eva Šimek"), ["eva", "simek"]),
        ("Łukasz, İstanbul, Straße", ["lukasz", "istanbul", "strasse"]),
        ("O'Brien and O’Brien", ["obrien", "and", "obrien"]),
        ("李", ["li"]),
        ("深度学习", ["shen", "du", "xue", "xi"]),
        ("海のモデル", ["hai", "no", "mo", "de", "ru"]),
        ("ﾓﾃﾞﾙ", ["mo", "de", "ru"]),
        ("언어모델", ["eon", "eo", "mo", "del"]),
        ("โมเดล", ["o", "m", "e", "d", "l"]),
        ("α-divergence, 𝛽-VAE, 5µm, Δt", ["alpha", "divergence", "beta", "vae", "5mum", "deltat"]),
        ("Παπάς", ["papas"]),
        ("∇ λ", ["nabla", "lambda"]),
        ("state-of-the-art C++", ["state", "of", "the", "art", "c"]),
        ("12e3a", ["12e3", "a"]),
        ("… — ·", []),
        ("", []),
        ("x" * 100, ["x" * MAX_WORD_CHARS]),
    ],
)
def test_fold_words(source: str, words: list[str]) -> None:
    assert fold_words(source) == words


def test_fold_texts_separates_the_texts() -> None:
    assert fold_texts(["Jan Novák", "", "Anna Li"]) == "jan novak ж anna li"


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("GPT-4", "gpt 4 ж gpt4"),
        ("GPT4", "gpt4 ж gpt 4"),
        ("k‐NN", "k nn ж knn"),
        ("non-COVID-19", "non covid 19 ж noncovid19 ж covid19"),
        ("a-b-c-d-e", "a b c d e"),
        ("1e5", "1e5"),
        ("さくらモデル", "sa ku ra mo de ru ж sakura ж moderu"),
        ("김민수", "gim min su ж gimminsu"),
    ],
)
def test_fold_texts_adds_other_spellings(source: str, words: str) -> None:
    assert fold_texts([source]) == words


@given(LETTERS)
def test_word_positions_have_the_same_words_as_fold_words(source: str) -> None:
    assert [position.word for position in word_positions(source)] == fold_words(source)


def test_control_character_before_an_accent_splits_no_word() -> None:
    assert [position.word for position in word_positions("s\x00\u030c")] == fold_words("s\x00\u030c") == ["s"]
    assert [position.word for position in word_positions("ж\x00\u0308")] == fold_words("ж\x00\u0308")


def test_word_positions_refer_to_the_original_text() -> None:
    source = "Ein Straßenname: 学习!"

    words = [(position.word, source[position.start : position.end]) for position in word_positions(source)]

    assert words == [("ein", "Ein"), ("strassenname", "Straßenname"), ("xue", "学"), ("xi", "习")]


def cpu_seconds(call: Callable[[], object]) -> float:
    """Return the CPU time of the fastest of three calls."""
    times = []
    for _ in range(3):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return min(times)


@pytest.mark.parametrize(
    "part", ["x", "1", "a1", "1e", "a-", "a.b/", "-", "é", "e\u0301", "κ", "ж", "あ", "한", "'", "∇"]
)
def test_long_words_take_no_longer_than_short_ones(part: str) -> None:
    size = 30_000
    usual = ("word-list of GPT-4 and café " * size)[:size]
    long = (part * size)[:size]

    reads: list[Callable[[str], object]] = [lambda text: fold_texts([text]), fold_words, word_positions]
    for read in reads:
        assert cpu_seconds(partial(read, long)) < 20 * cpu_seconds(partial(read, usual))
