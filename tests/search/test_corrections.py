import pytest

from search.hits import correct_query, likely_spellings
from search.index import DocumentRecord, index_documents
from search.query import parse_query

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("program")]


@pytest.mark.parametrize(
    ("text", "correction"),
    [
        ("convolutoin", "convolution"),
        ("convoluton", "convolution"),
        ("convollution", "convolution"),
        ("konvolution", "convolution"),
        ("convolutiom", "convolution"),
        ("ocnvolution", "convolution"),
        ("Straxe graphs", None),
        ("graphs konvolution", "graphs convolution"),
        ("kowalsky", "kowalski"),
        ("author:kowalsky", "author:kowalski"),
        ("author:konvolution", None),
        ("shov", None),
        ("conv", None),
        ("graphs", None),
        ("cnvoltion", None),
        ('"konvolution"', None),
        ("graphs -konvolution", None),
        ("year:20221", None),
        ("graph-s", "graphs"),
        ("con-volution", "convolution"),
        ('"con volution"', None),
        ("", None),
    ],
)
def test_one_typo_in_a_long_word_is_corrected(text: str, correction: str | None) -> None:
    corrected = correct_query(parse_query(text))

    assert (str(corrected) if corrected else None) == correction


def test_most_frequent_spelling_comes_first() -> None:
    index_documents(
        [
            DocumentRecord("paper", key, str(key), word)
            for key, word in enumerate(["barks", "parks", "parks"], 50)
        ]
    )

    assert likely_spellings("zarks") == ["parks", "barks"]


@pytest.mark.parametrize("index", range(12))
def test_typo_at_each_position_is_corrected(index: int) -> None:
    word = "convolution"

    assert word in likely_spellings(f"{word[:index]}q{word[index:]}")
    assert word in likely_spellings(f"{word[:index]}q{word[index + 1 :]}")
    if index < len(word):
        assert word in likely_spellings(f"{word[:index]}{word[index + 1 :]}")
    if index < len(word) - 1:
        assert word in likely_spellings(f"{word[:index]}{word[index + 1]}{word[index]}{word[index + 2 :]}")
