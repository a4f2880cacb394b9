"""From bytes to what a YAML file holds: lists, objects and text, nothing else. Judged before it is built.

All single values stay text as written (a title `No` is not false): whoever reads them knows their type.
"""

from typing import Any

import yaml
from django.utils.translation import gettext

from exchange.files import Source
from exchange.problems import Where
from exchange.reading.decoding import decode
from exchange.reading.findings import Findings, short

ADVICE = "Save it as YAML in the encoding UTF-8."
MAX_DEPTH = 40
MAX_BYTES = 50_000_000
MAX_YAML_EVENTS = 2_000_000
# Values by which files say that there is none.
NOTHING = frozenset(("", "~", "null", "Null", "NULL", "None"))
OPENING = (yaml.SequenceStartEvent, yaml.MappingStartEvent)
CLOSING = (yaml.SequenceEndEvent, yaml.MappingEndEvent)


def read_yaml(source: Source, findings: Findings) -> Any:
    """Return the lists, dicts and texts of a file; report and return None where it cannot be read."""
    where = Where(source.name)
    if len(source.content) > MAX_BYTES:
        message = gettext("The file is larger than %(megabytes)s MB. Is this a conference program?")
        findings.problem(where, "", message % {"megabytes": MAX_BYTES // 1_000_000})
        return None
    text = decode(source, findings, advice=ADVICE)
    if text is None:
        return None
    try:
        refusal = _refusal(text)
        if not refusal:
            return yaml.load(text, Loader=yaml.CBaseLoader)  # noqa: S506 - makes texts, lists and dicts only
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark else "?"
        message = gettext("Line %(line)s is not YAML: %(error)s.")
        reason = short(str(getattr(error, "problem", None) or getattr(error, "reason", error)))
        refusal = message % {"line": line, "error": reason}
    except (ValueError, TypeError, RecursionError) as error:
        refusal = gettext("The file is not YAML: %(error)s.") % {"error": short(str(error))}
    findings.problem(where, "", refusal)
    return None


def _refusal(text: str) -> str:
    """Walk the file without building anything; say why it must not be built, or nothing."""
    depth = 0
    for count, event in enumerate(yaml.parse(text, Loader=yaml.CBaseLoader)):
        depth += isinstance(event, OPENING) - isinstance(event, CLOSING)
        if isinstance(event, yaml.AliasEvent):
            line = _line(event)
            message = gettext("Line %(line)s repeats another part by an alias (*%(name)s). Write it out.")
            return message % {"line": line, "name": short(str(event.anchor))}
        if depth > MAX_DEPTH:
            line = _line(event)
            return gettext("Lists and objects are nested too deeply on line %(line)s.") % {"line": line}
        if count > MAX_YAML_EVENTS:
            return gettext("The file holds too many values for a conference program.")
    return ""


def _line(event: yaml.Event) -> int:
    return event.start_mark.line + 1 if event.start_mark else 0


def scalar(value: object) -> str:
    """Return a single value as text; what stands for nothing, and what is no single value, is empty."""
    return value if isinstance(value, str) and value not in NOTHING else ""
