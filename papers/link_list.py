"""A pasted list of addresses, matched to papers: `identifier address` a line, or addresses alone in order.

Pure but for the rules of an address. What becomes of the pairs is not decided here.
"""

import re
from collections import Counter
from collections.abc import Sequence

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from content.fields import validate_http_url

SEPARATORS = re.compile(r"[\s,;]+")
MAX_URL_CHARS = 1000

# Index of a paper and address; what is wrong.
type Pairs = tuple[list[tuple[int, str]], list[str]]


def matched(source: str, uids: Sequence[str]) -> Pairs:
    """Return pairs of the index of a paper and an address, and what is wrong, with line numbers.

    `uids` are the papers' identifiers in the order in which bare addresses meet them.
    """
    lines = [(number, line.strip()) for number, line in enumerate(source.splitlines(), start=1)]
    cells = [(number, [cell for cell in SEPARATORS.split(line) if cell]) for number, line in lines if line]
    problems = [problem for number, line in cells if (problem := _problem(number, line))]
    kinds = {len(line) for _number, line in cells}
    if not cells:
        problems.append(_("Paste at least one address."))
    elif problems:
        pass
    elif kinds == {1}:
        return _in_order([line[0] for _number, line in cells], uids)
    elif kinds == {2}:
        return _by_uid(cells, uids)
    else:
        problems.append(
            _("Either each line begins with a paper's identifier or none does. Some do here, some do not.")
        )
    return [], problems


def _problem(number: int, cells: list[str]) -> str:
    if len(cells) > 2:
        return _("Line %(line)d: give an address, or an identifier and an address.") % {"line": number}
    address = cells[-1]
    try:
        validate_http_url(address)
    except ValidationError as error:
        return _("Line %(line)d: “%(address)s” is no address. %(why)s") % {
            "line": number,
            "address": address[:80],
            "why": " ".join(error.messages),
        }
    if len(address) > MAX_URL_CHARS:
        return _("Line %(line)d: the address has more than %(most)d characters.") % {
            "line": number,
            "most": MAX_URL_CHARS,
        }
    return ""


def _in_order(addresses: list[str], uids: Sequence[str]) -> Pairs:
    if len(addresses) != len(uids):
        counts = {"addresses": len(addresses), "papers": len(uids)}
        sentence = _(
            "There are %(addresses)d addresses for %(papers)d papers. Begin each line with the identifier."
        )
        return [], [sentence % counts]
    return list(enumerate(addresses)), []


def _by_uid(cells: list[tuple[int, list[str]]], uids: Sequence[str]) -> Pairs:
    places = {uid: index for index, uid in enumerate(uids)}
    twice = {uid for uid, count in Counter(uids).items() if count > 1}
    problems = []
    for number, (uid, _address) in cells:
        words = {"line": number, "uid": uid}
        if uid not in places:
            problems.append(_("Line %(line)d: no chosen paper has the identifier “%(uid)s”.") % words)
        elif uid in twice:
            problems.append(_("Line %(line)d: two chosen papers have the identifier “%(uid)s”.") % words)
    return ([] if problems else [(places[uid], address) for _n, (uid, address) in cells]), problems
