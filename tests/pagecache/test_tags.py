"""The tags of a response: its site, its editions, and the papers whose words it shows."""

import pytest

from pagecache.keys import Key
from pagecache.tags import MAX_HEADER_BYTES, edition_slug, header_tags, response_tags

SLUGS = ["2020", "2021"]
LINK = b'<a href="/2021/papers/17/title/">'
EVERYTHING = {"site", "edition:2020", "edition:2021"}


@pytest.mark.parametrize(
    ("path", "query", "body", "tags"),
    [
        ("/2021/", "", LINK, {"site", "edition:2021", "title:17"}),
        ("/2021/", "", b"", {"site", "edition:2021"}),
        ("/2021", "", LINK, {"site", "edition:2021", "papers:2021"}),
        ("/2021/papers/18/title/", "", LINK, {"site", "edition:2021", "title:17", "paper:18"}),
        ("/2021/papers/", "", LINK, {"site", "edition:2021", "papers:2021"}),
        ("/2021/awards/", "", LINK, {"site", "edition:2021", "papers:2021"}),
        ("/2021/schedule/2021-04-05/", "", LINK, {"site", "edition:2021", "paper:17"}),
        ("/2021/sessions/5/posters/", "", LINK, {"site", "edition:2021", "paper:17"}),
        ("/2021/schedule/2021-04-05/", "view=grid", LINK, {"site", "edition:2021", "papers:2021"}),
        ("/2021/papers/5.bib", "", LINK, {"site", "edition:2021", "papers:2021"}),
        (
            "/2021/presentations/5.ics",
            "",
            b"URL:http://example.org/2021/pap\r\n ers/17/title/",
            {"site", "edition:2021", "paper:17"},
        ),
        ("/people/ada/ada-lovelace/", "", LINK, {*EVERYTHING, "title:17"}),
        ("/people/", "", LINK, {*EVERYTHING, "papers:2020", "papers:2021"}),
        ("/search/", "q=x", LINK, {*EVERYTHING, "papers:2020", "papers:2021"}),
        ("/", "", LINK, {*EVERYTHING, "papers:2020", "papers:2021"}),
    ],
)
def test_response_tags_name_everything_the_page_depends_on(
    path: str, query: str, body: bytes, tags: set[str]
) -> None:
    assert response_tags(Key(path, query), body, SLUGS) == tags


def test_many_tags_of_papers_become_one_tag_in_the_headers() -> None:
    few = frozenset({"site", "edition:2021", "paper:17"})
    many = few | {f"paper:{number}" for number in range(700)}

    assert header_tags(few) == ["edition:2021", "paper:17", "site"]
    assert header_tags(many) == ["edition:2021", "papers:2021", "site"]
    assert len(" ".join(header_tags(many))) < MAX_HEADER_BYTES


def test_many_tags_of_editions_become_one_tag_in_the_headers() -> None:
    slugs = [f"conference-{year}" for year in range(2000, 2030)]
    tags = response_tags(Key("/people/", ""), b"", slugs)

    assert header_tags(tags) == ["editions", "site"]
    assert {f"edition:{slug}" for slug in slugs} < tags


def test_search_of_an_edition_depends_on_all_editions() -> None:
    assert (edition_slug("/2021/search/", "q=steam"), edition_slug("/2021/papers/", "")) == ("", "2021")
