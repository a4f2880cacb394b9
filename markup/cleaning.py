"""The HTML allowed in a rendered text: the final check after Markdown and TeX."""

import re

import nh3

ADDRESS = re.compile(r"(?:https?://|mailto:)[^\s]|/(?![/\\])", re.IGNORECASE)

MATH_TAGS = frozenset(
    [
        "math",
        "mrow",
        "mi",
        "mn",
        "mo",
        "mtext",
        "mspace",
        "mfrac",
        "msqrt",
        "mroot",
        "msub",
        "msup",
        "msubsup",
        "munder",
        "mover",
        "munderover",
        "mtable",
        "mtr",
        "mtd",
        "mstyle",
        "mpadded",
        "mphantom",
        "menclose",
    ]
)
MATH_ATTRIBUTES = frozenset(
    [
        "display",
        "alttext",
        "mathvariant",
        "displaystyle",
        "scriptlevel",
        "stretchy",
        "fence",
        "form",
        "movablelimits",
        "accent",
        "lspace",
        "minsize",
        "maxsize",
        "linethickness",
        "width",
        "height",
        "depth",
        "voffset",
        "columnalign",
        "rowspacing",
        "columnspacing",
        "rowlines",
        "columnlines",
        "notation",
    ]
)
TAGS = MATH_TAGS | frozenset(
    [
        "p",
        "br",
        "hr",
        "h3",
        "h4",
        "h5",
        "h6",
        "ul",
        "ol",
        "li",
        "blockquote",
        "pre",
        "code",
        "em",
        "strong",
        "sub",
        "sup",
        "a",
        "div",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
    ]
)
ATTRIBUTES = {tag: set(MATH_ATTRIBUTES) for tag in MATH_TAGS} | {"a": {"href", "title"}, "ol": {"start"}}

CLEANER = nh3.Cleaner(
    tags=set(TAGS),
    attributes=ATTRIBUTES,
    allowed_classes={"code": {"tex"}, "div": {"math"}},
    url_schemes={"http", "https", "mailto"},
    url_relative=lambda address: address if ADDRESS.match(address) else None,
    link_rel="nofollow noopener",
)
