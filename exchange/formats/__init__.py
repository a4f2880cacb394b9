"""Registry of file formats: every module of this package that defines `FORMAT`.

Adding a format needs only a new module in this package.
"""

import importlib
import pkgutil
from functools import cache

from exchange.files import CitationWriter, Format


@cache
def formats() -> dict[str, Format]:
    """Return every format by name, in the order of their names."""
    modules = (
        importlib.import_module(f"{__name__}.{entry.name}") for entry in pkgutil.iter_modules(__path__)
    )
    candidates = (getattr(module, "FORMAT", None) for module in modules)
    return {fmt.name: fmt for fmt in candidates if isinstance(fmt, Format)}


def readable() -> dict[str, Format]:
    return {name: fmt for name, fmt in formats().items() if fmt.read}


def citation_formats() -> dict[str, tuple[Format, CitationWriter]]:
    """Return the formats of citations with their writers, by extension, sorted by `citation_place`."""
    sorted_formats = sorted(formats().values(), key=lambda fmt: fmt.citation_place)
    return {fmt.extensions[0]: (fmt, fmt.cite) for fmt in sorted_formats if fmt.cite}


def writable() -> dict[str, Format]:
    return {name: fmt for name, fmt in formats().items() if fmt.write}
