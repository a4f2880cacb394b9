"""Stylesheet rules for the colors of kinds that chairs chose; `hues.css` has the built-in palette."""

from conference.models import Edition
from schedule.session_kinds import own_kinds


def kind_rule(slug: str, counts_as: str, color: str) -> str:
    """Return the rule of a kind; empty for a built-in one without another color."""
    if slug != counts_as:
        return f".kind-{slug}{{--hue:{color or f'var(--kind-{counts_as})'}}}"
    return f":root{{--kind-{slug}:{color}}}" if color else ""


def kind_colors(edition: Edition) -> str:
    """Return the rules of all kinds of the edition's conference. One query."""
    rules = (kind_rule(kind.slug, kind.counts_as, kind.color) for kind in own_kinds(edition).values())
    return "".join(f"{rule}\n" for rule in rules if rule)
