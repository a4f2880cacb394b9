"""Template filter of embedded videos. Their players must be on a host of the setting `VIDEO_HOSTS`."""

import re
from urllib.parse import urlsplit

from django import template
from django.conf import settings

from papers.models import Material, Paper

register = template.Library()

# Patterns of addresses of videos, and the addresses of their players.
PLAYERS = (
    (
        re.compile(r"https://(?:(?:www|m)\.)?youtube\.com/(?:watch\?(?:.*&)?v=|live/)([\w-]{6,20})"),
        "https://www.youtube-nocookie.com/embed/{}",
    ),
    (re.compile(r"https://youtu\.be/([\w-]{6,20})"), "https://www.youtube-nocookie.com/embed/{}"),
    (re.compile(r"https://(?:www\.)?vimeo\.com/(\d+)"), "https://player.vimeo.com/video/{}"),
    (re.compile(r"https://slideslive\.com/(?:embed/)?(\d+)"), "https://slideslive.com/embed/presentation/{}"),
)


@register.filter
def player(address: str) -> str:
    """Return the address of a video's player, or an empty string if its host is not allowed."""
    matches = ((pattern.match(address), url) for pattern, url in PLAYERS)
    url = next((url.format(match[1]) for match, url in matches if match), address)
    parts = urlsplit(url)
    return url if parts.scheme == "https" and parts.netloc in settings.VIDEO_HOSTS else ""


def player_hosts(paper: Paper) -> list[str]:
    """Return the hosts of the players on a paper's page. The paper must be fetched `with_materials()`."""
    videos = (row.href for row in paper.shown_materials if row.kind == Material.Kind.VIDEO)
    return sorted({urlsplit(url).netloc for url in map(player, videos) if url})
