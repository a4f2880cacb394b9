"""Field types that more than one model uses."""

import re
import secrets
from collections.abc import Iterator, Sequence
from typing import Any
from zoneinfo import available_timezones

from django import forms
from django.apps import apps
from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import MaxLengthValidator, RegexValidator, URLValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

from content.licenses import SPDX_EXPRESSION, canonical_name

# Letters that look like digits are excluded. With 10 of 31 characters, collisions are improbable.
UID_ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"
UID_LENGTH = 10
# The maximum length of a text field, or of all lines of a list together.
MAX_TEXT_CHARS = 200_000
IDENTIFIER_HELP = _("Permanent identifier, part of the address. It can’t be changed later.")

validate_uid = RegexValidator(
    r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}\Z",
    _("Use 1 to 64 letters, digits, dots, hyphens or underscores, beginning with a letter or digit."),
)
validate_language = RegexValidator(
    r"^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*\Z", _("Write the language as its tag, such as en, de or pt-BR.")
)
validate_http_url = URLValidator(schemes=["http", "https"])


def new_uid() -> str:
    """Return a new random identifier, for rows entered by hand."""
    return "".join(secrets.choice(UID_ALPHABET) for _ in range(UID_LENGTH))


class UidField(models.CharField[str, str]):
    """A permanent identifier in addresses, calendars, citations and files. It is fixed once saved."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        defaults = {"max_length": 64, "default": new_uid, "validators": [validate_uid]}
        super().__init__(_("identifier"), *args, **{**defaults, "help_text": IDENTIFIER_HELP, **kwargs})

    def deconstruct(self) -> tuple[str, str, Sequence[object], dict[str, object]]:
        name, path, args, kwargs = super().deconstruct()
        kwargs.pop("verbose_name", None)
        return name, path, args, kwargs


class HttpURLField(models.URLField[str, str]):
    """A web address with the scheme http or https. Others are invalid, as they may be unsafe in links."""

    default_validators = [validate_http_url]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"max_length": 500, **kwargs})


class MarkdownField(models.TextField[str, str]):
    """Text in Markdown, with TeX between dollar signs; at most `MAX_TEXT_CHARS`."""

    default_validators = [MaxLengthValidator(MAX_TEXT_CHARS)]

    def deconstruct(self) -> tuple[str, str, Sequence[object], dict[str, object]]:
        name, _path, args, kwargs = super().deconstruct()
        return name, "django.db.models.TextField", args, kwargs


class LinesFormField(forms.CharField):
    """A list as text, one entry a line."""

    widget = forms.Textarea

    def prepare_value(self, value: object) -> object:
        return "\n".join(value) if isinstance(value, list | tuple) else value

    def to_python(self, value: object) -> list[str]:  # type: ignore[override] # a field of characters gives one
        lines = value if isinstance(value, list) else str(value or "").splitlines()
        return [line.strip() for line in lines if line.strip()]

    def has_changed(self, initial: object, data: object) -> bool:
        return bool(self.to_python(initial) != self.to_python(data))


class LinesField(models.JSONField):
    """A list of short texts: keywords, affiliations, aliases."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"default": list, "blank": True, **kwargs})

    def formfield(self, **kwargs: Any) -> forms.Field:
        options = {"required": False, "help_text": self.help_text, "label": self.verbose_name, **kwargs}
        for unused in ("encoder", "decoder", "form_class", "choices_form_class"):
            options.pop(unused, None)
        options["label"] = str(options["label"]).capitalize()
        return LinesFormField(**options)

    def validate(self, value: object, model_instance: models.Model | None) -> None:
        super().validate(value, model_instance)
        if not isinstance(value, list) or not all(isinstance(line, str) for line in value):
            raise ValidationError(_("Enter a list of texts."), code="invalid")
        MaxLengthValidator(MAX_TEXT_CHARS)("\n".join(value))


def validate_accent(value: str) -> None:
    if not re.fullmatch(r"#[0-9a-f]{6}", value):
        raise ValidationError(
            _("Write the color as # and six lower-case hexadecimal digits, such as #0b6b62.")
        )


def validate_isbn(value: str) -> None:
    digits = re.sub(r"[- ]", "", value)
    if re.fullmatch(r"\d{13}", digits, re.ASCII):
        is_valid = sum(int(digit) * (1, 3)[index % 2] for index, digit in enumerate(digits)) % 10 == 0
    else:
        is_valid = bool(re.fullmatch(r"\d{9}[\dX]", digits, re.ASCII)) and _weighted_sum(digits) % 11 == 0
    if not is_valid:
        raise ValidationError(
            _("“%(value)s” is not an ISBN: check its 13 digits, such as 978-3-16-148410-0."),
            params={"value": value},
        )


def validate_issn(value: str) -> None:
    if not re.fullmatch(r"\d{4}-\d{3}[\dX]", value, re.ASCII) or _weighted_sum(value.replace("-", "")) % 11:
        raise ValidationError(
            _("“%(value)s” is not an ISSN: check its eight digits, such as 2640-3498."),
            params={"value": value},
        )


def _weighted_sum(digits: str) -> int:
    """Return the sum of the digits, each times its place from the end; X is ten."""
    return sum(
        (10 if digit == "X" else int(digit)) * weight
        for digit, weight in zip(digits, range(len(digits), 0, -1), strict=True)
    )


# The first parts of paths that the site itself uses, so that editions cannot.
RESERVED_SLUGS = frozenset((
    "admin", "api", "awards", "conferences", "healthz", "institutions", "media", "metrics", "pages", "people",
    "readyz", "robots.txt", "search", "sitemap.xml", "static", "virtual",
))  # fmt: skip

validate_slug = RegexValidator(
    r"^[a-z0-9](-*[a-z0-9])*\Z", _("Use lower-case letters and digits, with hyphens between them.")
)


def validate_edition_slug(value: str) -> None:
    """Raise `ValidationError` if the slug is a path that the site itself uses."""
    if value in RESERVED_SLUGS or value in dict(settings.LANGUAGES):
        raise ValidationError(
            _("“%(value)s” is an address of the site itself. Choose another, such as the year."),
            params={"value": value},
        )


def validate_timezone(value: str) -> None:
    if value not in available_timezones():
        raise ValidationError(
            _(
                "“%(value)s” is not a time zone. "
                "Use a name such as Europe/Berlin, Asia/Seoul or America/New_York."
            ),
            params={"value": value},
        )


def file_fields() -> Iterator[tuple[type[Any], models.FileField]]:
    """Yield the file fields of all models, each with its model."""
    for model in apps.get_models():
        for field in model._meta.concrete_fields:
            if isinstance(field, models.FileField):
                yield model, field


def validate_license(value: str) -> None:
    if (canonical := canonical_name(value)) not in ("", value):
        raise ValidationError(
            _("Write “%(value)s” as %(usual)s."), params={"value": value, "usual": canonical}
        )
    if value.startswith(("http://", "https://")):
        validate_http_url(value)
    elif not SPDX_EXPRESSION.match(value):
        raise ValidationError(
            _("“%(value)s” is neither an SPDX identifier, such as CC-BY-4.0, nor the address of a license."),
            params={"value": value},
        )


class LicenseField(models.CharField[str, str]):
    """A license: an SPDX identifier or the address of its text. Forms offer the well-known ones."""

    default_validators = [validate_license]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"max_length": 300, "blank": True, **kwargs})

    def formfield(self, **kwargs: Any) -> forms.Field | None:
        field = super().formfield(**kwargs)
        if field:
            # The <datalist> is in `admin/change_form.html`.
            field.widget.attrs["list"] = "licenses"
        return field


class SlugKey(models.SlugField[str, str]):
    """A slug that identifies a row in addresses and files."""

    default_validators = [validate_slug]
