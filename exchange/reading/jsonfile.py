"""From bytes to a JSON object, or a sentence that says why the file holds none."""

import json
from collections.abc import Sequence

from django.utils.translation import gettext

from exchange.files import Source
from exchange.problems import Where
from exchange.reading.decoding import decode
from exchange.reading.findings import Findings, short

ADVICE = "Save it as JSON in the encoding UTF-8."


class _RefusedError(ValueError):
    """Something that Python's parser takes and JSON, or our files, must not hold."""


def _object(pairs: Sequence[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise _RefusedError(f'The name "{short(twice)}" stands twice in one object. Keep one of them.')
    return found


def _constant(name: str) -> object:
    raise _RefusedError(f"{name} is not JSON. Leave the field out instead.")


def read_object(source: Source, findings: Findings) -> dict[str, object] | None:
    """Return the object that the file holds; report and return None where it holds something else."""
    text = decode(source, findings, advice=ADVICE)
    if text is None:
        return None
    try:
        found = json.loads(text, object_pairs_hook=_object, parse_constant=_constant)
    except json.JSONDecodeError as error:
        message = gettext("This is not JSON: %(msg)s (line %(lineno)s, column %(colno)s).") % {
            "msg": error.msg,
            "lineno": error.lineno,
            "colno": error.colno,
        }
    except RecursionError:
        message = gettext("Lists and objects are nested too deeply here for a conference program.")
    except _RefusedError as error:
        message = str(error)
    except ValueError:
        message = gettext("A number in this file is far too long.")
    else:
        if isinstance(found, dict):
            return found
        message = gettext('The file must hold one JSON object: it begins with "{" and ends with "}".')
    findings.problem(Where(source.name), "", message)
    return None
