import pytest

from search.hits import correct_query, likely_spellings
from search.index import DocumentRecord, index_documents
from search.query import parse_query

pytestmark = pytest.mark.usefixtures("program")


@pytest.mark.parametrize(
    ("text", "meant"),
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
        ("", None),
    ],
)
def test_one_typing_error_in_a_long_word_is_forgiven(text: str, meant: str | None) -> None:
    found = correct_query(parse_query(text))

    assert (str(found) if found else None) == meant


def test_commonest_spelling_comes_first() -> None:
    index_documents(
        [
            DocumentRecord("paper", key, str(key), word)
            for key, word in enumerate(["barks", "parks", "parks"], 50)
        ]
    )

    assert likely_spellings("zarks") == ["parks", "barks"]


@pytest.mark.parametrize("place", range(12))
def test_each_place_of_a_word_may_be_wrong(place: int) -> None:
    word = "convolution"

    assert word in likely_spellings(f"{word[:place]}q{word[place:]}")
    assert word in likely_spellings(f"{word[:place]}q{word[place + 1 :]}")
    if place < len(word):
        assert word in likely_spellings(f"{word[:place]}{word[place + 1 :]}")
    if place < len(word) - 1:
        assert word in likely_spellings(f"{word[:place]}{word[place + 1]}{word[place]}{word[place + 2 :]}")
