"""Licenses by their SPDX identifiers: the well-known ones, with title and address."""

import re
from typing import NamedTuple

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _


class License(NamedTuple):
    """A license. `url` is the address of its text, or empty if unknown."""

    name: str
    title: str | Promise
    url: str


CREATIVE_COMMONS = (
    ("CC-BY-4.0", _("Creative Commons Attribution 4.0"), "by/4.0"),
    ("CC-BY-SA-4.0", _("Creative Commons Attribution-ShareAlike 4.0"), "by-sa/4.0"),
    ("CC-BY-ND-4.0", _("Creative Commons Attribution-NoDerivs 4.0"), "by-nd/4.0"),
    ("CC-BY-NC-4.0", _("Creative Commons Attribution-NonCommercial 4.0"), "by-nc/4.0"),
    ("CC-BY-NC-SA-4.0", _("Creative Commons Attribution-NonCommercial-ShareAlike 4.0"), "by-nc-sa/4.0"),
    ("CC-BY-NC-ND-4.0", _("Creative Commons Attribution-NonCommercial-NoDerivs 4.0"), "by-nc-nd/4.0"),
    ("CC-BY-3.0", _("Creative Commons Attribution 3.0"), "by/3.0"),
)
# Licenses of code and of data.
OTHER_LICENSES = (
    ("Apache-2.0", _("Apache License 2.0")),
    ("BSD-3-Clause", _("BSD 3-Clause License")),
    ("GPL-3.0-or-later", _("GNU General Public License 3.0 or later")),
    ("MIT", _("MIT License")),
    ("ODC-By-1.0", _("Open Data Commons Attribution License 1.0")),
    ("ODbL-1.0", _("Open Data Commons Open Database License 1.0")),
    ("PDDL-1.0", _("Open Data Commons Public Domain Dedication and License 1.0")),
)
CC0 = "https://creativecommons.org/publicdomain/zero/1.0/"
KNOWN_LICENSES = (
    *(
        License(name, title, f"https://creativecommons.org/licenses/{path}/")
        for name, title, path in CREATIVE_COMMONS
    ),
    License("CC0-1.0", _("Creative Commons Zero 1.0 (public domain)"), CC0),
    *(License(name, title, f"https://spdx.org/licenses/{name}.html") for name, title in OTHER_LICENSES),
)
LICENSES_BY_NAME = {known_license.name: known_license for known_license in KNOWN_LICENSES}
SPELLINGS = {known_license.name.casefold(): known_license.name for known_license in KNOWN_LICENSES}
WORD = r"[A-Za-z0-9][A-Za-z0-9.+:-]*"
SPDX_EXPRESSION = re.compile(rf"{WORD}( (AND|OR|WITH) {WORD})*\Z")


def find_license(text: str) -> License | None:
    """Return the license of an SPDX identifier or an address; `None` if the text is empty."""
    url = text if text.startswith(("http://", "https://")) else ""
    return LICENSES_BY_NAME.get(text) or (License(text, text, url) if text else None)


def canonical_name(text: str) -> str:
    """Return "CC-BY-4.0" for "cc by 4.0"; an empty string for a license that is not well known."""
    return SPELLINGS.get("-".join(text.casefold().split()), "")
