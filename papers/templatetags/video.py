"""Which videos play in a page: those whose player is on a host that the setting VIDEO_HOSTS names."""

import re
from urllib.parse import urlsplit

from django import template
from django.conf import settings

from papers.models import Material, Paper

register = template.Library()

# How the addresses of videos look, and where their players are.
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
    """Return the address of a video's player; empty if its host is not allowed in a page."""
    found = ((pattern.match(address), url) for pattern, url in PLAYERS)
    url = next((url.format(match[1]) for match, url in found if match), address)
    parts = urlsplit(url)
    return url if parts.scheme == "https" and parts.netloc in settings.VIDEO_HOSTS else ""


def player_hosts(paper: Paper) -> list[str]:
    """Return the hosts whose players the page of a paper can show. The materials have been fetched."""
    videos = (row.href for row in paper.shown_materials if row.kind == Material.Kind.VIDEO)
    return sorted({urlsplit(url).netloc for url in map(player, videos) if url})
