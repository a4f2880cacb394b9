"""Path converters for the keys of rows. Malformed keys match no pattern, so that they are a 404."""

from django.urls import register_converter
from django.urls.converters import IntConverter, StringConverter

from content.request_keys import KEY


class SlugKeyConverter(StringConverter):
    """The slug of an edition, page, topic or room."""

    regex = r"[a-z0-9](?:-*[a-z0-9]){0,119}"


class UidConverter(StringConverter):
    """The permanent identifier of a paper, person, session or presentation."""

    regex = r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}"


class DigestConverter(StringConverter):
    regex = r"[0-9a-f]{10}"


class YearConverter(IntConverter):
    """A year of four digits."""

    regex = r"[12][0-9]{3}"


class NumberConverter(IntConverter):
    """A positive integer that fits into a 64-bit column."""

    regex = KEY


class OldKindConverter(StringConverter):
    """A kind of event as the old site's addresses name it."""

    regex = "oral|poster|session|spotlight|workshop|tutorial|panel|invited-talk|demonstration|social"


register_converter(SlugKeyConverter, "key")
register_converter(UidConverter, "uid")
register_converter(DigestConverter, "digest")
register_converter(YearConverter, "year")
register_converter(NumberConverter, "number")
register_converter(OldKindConverter, "oldkind")
