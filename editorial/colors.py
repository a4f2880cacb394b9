"""Color fields: a text and a color picker, with the contrast of the color to the site's pages."""

import re
from typing import Any, ClassVar

from django import forms
from django.forms.renderers import BaseRenderer
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext

# The page background (--paper in static/css/plenary/tokens.css) in the light and the dark scheme.
LIGHT_PAGE, DARK_PAGE = "#ffffff", "#111317"
# WCAG 2.2, success criterion 1.4.3.
MIN_CONTRAST = 4.5


def luminance(color: str) -> float:
    """Return the relative luminance of a color such as #0b6b62."""
    parts = [int(color[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    red, green, blue = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(color: str, other: str) -> float:
    """Return the contrast ratio of two colors, from 1 to 21."""
    low, high = sorted((luminance(color), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def normalize_color(text: str) -> str:
    """Return a color as "#rrggbb", and any other text stripped."""
    digits = text.strip().lower().removeprefix("#")
    if re.fullmatch(r"[0-9a-f]{3}", digits):
        digits = "".join(digit * 2 for digit in digits)
    return f"#{digits}" if re.fullmatch(r"[0-9a-f]{6}", digits) else text.strip()


def contrast_messages() -> dict[str, str]:
    return {
        "ratios": gettext("Contrast: {light} : 1 on white, {dark} : 1 on dark pages."),
        "warning": gettext(
            "Below 4.5 : 1 text is hard to read: there the site takes a darker or lighter shade."
        ),
    }


def contrast_note(color: str) -> str:
    """Return the contrasts as text, with a warning if one is too low; empty for an invalid color."""
    if not re.fullmatch(r"#[0-9a-f]{6}", color):
        return ""
    light, dark = (round(contrast(color, page), 1) for page in (LIGHT_PAGE, DARK_PAGE))
    note = contrast_messages()["ratios"].format(light=light, dark=dark)
    return f"{note} {contrast_messages()['warning']}" if min(light, dark) < MIN_CONTRAST else note


class ColorInput(forms.TextInput):
    """A text input, and with JavaScript a color picker that fills it in."""

    class Media:
        js: ClassVar[list[str]] = ["js/admin-colors.js"]

    def render(
        self, name: str, value: object, attrs: Any = None, renderer: BaseRenderer | None = None
    ) -> SafeString:
        color = normalize_color(str(value or ""))
        is_known = bool(contrast_note(color))
        return format_html(
            '<span class="color-field" data-color data-pages="{}" data-ratios="{}" data-warning="{}">{}'
            '<input type="color" value="{}" aria-label="{}" hidden>'
            '<span class="color-note" role="status">{}</span></span>',
            f"{LIGHT_PAGE} {DARK_PAGE}",
            *contrast_messages().values(),
            super().render(name, value, attrs, renderer),
            color if is_known else "#808080",
            gettext("Choose a color"),
            contrast_note(color),
        )


class ColorField(forms.CharField):
    widget = ColorInput

    def to_python(self, value: object) -> str:
        return normalize_color(super().to_python(value) or "")
