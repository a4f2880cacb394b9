"""From bytes to a JSON object or list, or a sentence that says why the file holds none."""

import json
from collections.abc import Sequence

from django.utils.translation import gettext

from exchange.files import Source
from exchange.problems import Where
from exchange.reading.decoding import decode
from exchange.reading.findings import Findings, short

ADVICE = gettext("Save it as JSON in the encoding UTF-8.")


class _RefusedError(ValueError):
    """Something that Python's parser takes and JSON, or our files, must not hold."""


def _object(pairs: Sequence[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise _RefusedError(
            gettext('The name "%(twice)s" stands twice in one object. Keep one of them.')
            % {"twice": short(twice)}
        )
    return found


def _constant(name: str) -> object:
    raise _RefusedError(gettext("%(name)s is not JSON. Leave the field out instead.") % {"name": name})


def read_object(source: Source, findings: Findings) -> dict[str, object] | None:
    """Return the object that the file holds; report and return None where it holds something else."""
    found = read_json(source, findings)
    if isinstance(found, dict) or found is _NOTHING:
        return found if isinstance(found, dict) else None
    message = gettext('The file must hold one JSON object: it begins with "{" and ends with "}".')
    findings.problem(Where(source.name), "", message)
    return None


def read_list(source: Source, name: str, findings: Findings) -> list[object]:
    """Return the list that the file holds, by itself or as `name` in an object; report any other content."""
    found = read_json(source, findings)
    rows = found.get(name) if isinstance(found, dict) else found
    if isinstance(rows, list):
        return rows
    if found is not _NOTHING:
        message = gettext('The file must hold a list, by itself or in an object with "%(name)s".') % {
            "name": name
        }
        findings.problem(Where(source.name), name, message)
    return []


_NOTHING = object()


def read_json(source: Source, findings: Findings) -> object:
    """Return what the file holds; report and return a value of no other use where it is not JSON."""
    text = decode(source, findings, advice=ADVICE)
    if text is None:
        return _NOTHING
    try:
        return json.loads(text, object_pairs_hook=_object, parse_constant=_constant)
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
    findings.problem(Where(source.name), "", message)
    return _NOTHING
