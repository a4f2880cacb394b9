"""Charts: the positions of their bars (pure). Templates draw them, with a table.

Widths are per cent of the picture, heights pixels: a picture fits a phone without its words getting smaller.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.formats import number_format
from django.utils.translation import gettext, ngettext

ROW, TEXT, BAR = 42, 14, 22
COLUMNS, HEAD, FOOT = 150, 22, 24
MAX_LABEL_CHARS = 38


@dataclass(frozen=True, slots=True)
class Value:
    """One number: what it counts, and where its page is, if there is one."""

    label: str
    number: int
    url: str = ""
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Mark:
    """One bar: its place, and that of its label; lengths as SVG wants them."""

    value: Value
    label: str
    x: str
    y: str
    width: str
    height: str
    text_x: str
    text_y: str


@dataclass(frozen=True, slots=True)
class Chart:
    """A picture with its title, a sentence that says what it shows, and the numbers themselves."""

    key: str
    title: str
    description: str
    heading: str
    values: Sequence[Value]
    marks: Sequence[Mark]
    height: int
    upright: bool = False


def bars(key: str, title: str, heading: str, values: Sequence[Value]) -> Chart:
    """Return a chart of lying bars, one below the other, for labels of any length."""
    most = max((value.number for value in values), default=0) or 1
    marks = [
        Mark(
            value=value,
            label=shortened(value.label),
            x="0",
            y=str(row * ROW + BAR),
            width=f"{100 * value.number / most:.2f}%",
            height="10",
            text_x="0",
            text_y=str(row * ROW + TEXT),
        )
        for row, value in enumerate(values)
    ]
    return Chart(key, title, described(values), heading, values, marks, len(values) * ROW)


def columns(key: str, title: str, heading: str, values: Sequence[Value]) -> Chart:
    """Return a chart of standing bars side by side, for a dozen short labels in an order of their own."""
    most = max((value.number for value in values), default=0) or 1
    step = 100 / max(len(values), 1)
    marks = []
    for place, value in enumerate(values):
        height = COLUMNS * value.number / most
        top = HEAD + COLUMNS - height
        marks.append(
            Mark(
                value=value,
                label=value.label,
                x=f"{(place + 0.14) * step:.2f}%",
                y=f"{top:.1f}",
                width=f"{0.72 * step:.2f}%",
                height=f"{height:.1f}",
                text_x=f"{(place + 0.5) * step:.2f}%",
                text_y=f"{top - 6:.1f}",
            )
        )
    return Chart(key, title, described(values), heading, values, marks, HEAD + COLUMNS + FOOT, upright=True)


def described(values: Sequence[Value]) -> str:
    """Return what a glance at the picture tells."""
    if not values:
        return gettext("There is nothing to count yet.")
    most = max(values, key=lambda value: value.number)
    least = min(values, key=lambda value: value.number)
    said = ngettext(
        "%(count)d value, from %(least)s (%(least_label)s) to %(most)s (%(most_label)s).",
        "%(count)d values, from %(least)s (%(least_label)s) to %(most)s (%(most_label)s).",
        len(values),
    )
    return said % {
        "count": len(values),
        "least": f"{number_format(least.number, force_grouping=True)}{least.unit}",
        "least_label": least.label,
        "most": f"{number_format(most.number, force_grouping=True)}{most.unit}",
        "most_label": most.label,
    }


def shortened(label: str) -> str:
    """Return a label that fits a phone, in whole words; the table has it in full."""
    if len(label) <= MAX_LABEL_CHARS:
        return label
    return f"{label[:MAX_LABEL_CHARS].rpartition(' ')[0] or label[:MAX_LABEL_CHARS]} …"
