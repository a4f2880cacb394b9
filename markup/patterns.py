"""Patterns that tell texts without markup from others."""

import re

# A sign, or two of some, or a bar with another line below. One class first: most letters are none of these.
MARKUP = re.compile(r"[\\$`*_\[\]<>~{}:'|-](?:(?<=[\\$`*_\[\]<>~{}])|(?<=:)//|(?<=-)-|(?<=')'|(?<=\|).*\n)")
BLOCK_MARKUP = re.compile(r"^[ \t]*(?:[#>+\-=|]|\d{1,9}[.)](?:\s|$))", re.MULTILINE)
EMPTY_LINES = re.compile(r"\n[ \t]*(?:\n[ \t]*)+")
