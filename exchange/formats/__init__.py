"""The registry of file formats: every module of this package that defines `FORMAT` is one.

A new format is one new file here; no other code changes.
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
    found = (getattr(module, "FORMAT", None) for module in modules)
    return {fmt.name: fmt for fmt in found if isinstance(fmt, Format)}


def readable() -> dict[str, Format]:
    return {name: fmt for name, fmt in formats().items() if fmt.read}


def citation_formats() -> dict[str, tuple[Format, CitationWriter]]:
    """Return by extension the formats that papers are cited in, in their order, and what writes them."""
    ordered = sorted(formats().values(), key=lambda fmt: fmt.citation_place)
    return {fmt.extensions[0]: (fmt, fmt.cite) for fmt in ordered if fmt.cite}


def writable() -> dict[str, Format]:
    return {name: fmt for name, fmt in formats().items() if fmt.write}
