"""Tests of videos in a paper's page, which play only if the setting allows the host of their player."""

import pytest
from django.test import Client
from pytest_django import Settings

from conference.headers import DENIED_FEATURES
from conference.models import Edition
from papers.templatetags.video import player
from tests import factories as make
from tests.html_pages import read

HOSTS = ["www.youtube-nocookie.com", "player.vimeo.com", "slideslive.com", "tube.example"]


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        (
            "https://www.youtube.com/watch?v=dQw4w9WgXcQ&t=10",
            "https://www.youtube-nocookie.com/embed/dQw4w9WgXcQ",
        ),
        ("https://youtu.be/dQw4w9WgXcQ", "https://www.youtube-nocookie.com/embed/dQw4w9WgXcQ"),
        ("https://vimeo.com/76979871", "https://player.vimeo.com/video/76979871"),
        ("https://slideslive.com/38952800/a-talk", "https://slideslive.com/embed/presentation/38952800"),
        ("https://tube.example/videos/embed/1", "https://tube.example/videos/embed/1"),
        ("http://tube.example/videos/embed/1", ""),
        ("https://tube.example@evil.example/1", ""),
        ("https://evil.example/?https://tube.example/1", ""),
        ("javascript:alert(1)", ""),
        ("", ""),
    ],
)
def test_player_needs_https_and_an_allowed_host(settings: Settings, address: str, expected: str) -> None:
    settings.VIDEO_HOSTS = HOSTS

    assert player(address) == expected


@pytest.mark.django_db
@pytest.mark.parametrize("hosts", [[], HOSTS])
def test_video_is_a_link_with_a_player_only_on_an_allowed_host(
    client: Client, edition: Edition, settings: Settings, hosts: list[str]
) -> None:
    settings.VIDEO_HOSTS = hosts
    paper = make.make_paper(edition)
    make.make_material(paper, "video", url="https://youtu.be/dQw4w9WgXcQ")

    page = read(client, paper.get_absolute_url())

    assert page.links()["Video youtu.be"] == "https://youtu.be/dQw4w9WgXcQ"
    assert page.all("iframe") == page.all("video") == page.all("img") == []
    players = [link.attributes["data-player"] for link in page.all("a") if "data-player" in link.attributes]
    assert players == (["https://www.youtube-nocookie.com/embed/dQw4w9WgXcQ"] if hosts else [])
    allowed = ["https://www.youtube-nocookie.com"] if hosts else None
    assert frame_sources(client, paper.get_absolute_url()) == allowed
    features = '(self "https://www.youtube-nocookie.com")' if hosts else "()"
    permissions = client.get(paper.get_absolute_url()).headers["Permissions-Policy"].split(", ")
    assert {"camera=()", f"fullscreen={features}", f"picture-in-picture={features}"} <= set(permissions)
    assert len(permissions) == len(DENIED_FEATURES)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("kind", "url"), [("slides", "https://youtu.be/dQw4w9WgXcQ"), ("video", "https://else.example/1")]
)
def test_page_without_a_player_allows_no_frames(
    client: Client, edition: Edition, settings: Settings, kind: str, url: str
) -> None:
    settings.VIDEO_HOSTS = HOSTS
    paper = make.make_paper(edition)
    make.make_material(paper, kind, url=url)

    assert frame_sources(client, paper.get_absolute_url()) is None
    assert frame_sources(client, "/2021/papers/") is None
    assert "js/video.js" not in client.get(paper.get_absolute_url()).text


def frame_sources(client: Client, path: str) -> list[str] | None:
    """Return the hosts that a page may frame; `None` if its policy has no `frame-src`, so that none may."""
    policy = client.get(path).headers["Content-Security-Policy"]
    sources = [part.split()[1:] for part in policy.split("; ") if part.startswith("frame-src ")]
    assert "default-src 'none'" in policy
    return sources[0] if sources else None
