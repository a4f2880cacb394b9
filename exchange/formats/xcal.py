"""xCal (RFC 6321): the calendar of `formats.ics` as XML, with the same events. Written only."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any
from xml.sax.saxutils import escape

from django.utils.translation import gettext_lazy as _

from exchange.files import Context, Format, OutputFile
from exchange.formats.frab.words import clean_text
from exchange.formats.ics import CalendarScope, calendar_name, components
from exchange.records import Program

OPENING = (
    '<?xml version="1.0" encoding="UTF-8"?>\n'
    '<icalendar xmlns="urn:ietf:params:xml:ns:icalendar-2.0">\n<vcalendar>\n'
)
# Name, parameters, type and values.
type Property = list[Any]
CLOSING = "</components>\n</vcalendar>\n</icalendar>\n"


def write(program: Program, context: Context) -> Iterable[OutputFile]:
    """Write one calendar with all sessions, and the talks that have a time of their own."""
    pieces = calendar([CalendarScope(program, context)], calendar_name(program, context))
    yield OutputFile(f"{context.edition}.xcal", pieces)


def calendar(parts: Sequence[CalendarScope], name: str) -> Iterator[bytes]:
    component_iterator = components(parts, name)
    yield f"{OPENING}{_properties(next(component_iterator).to_jcal()[1])}<components>\n".encode()
    for component in component_iterator:
        yield _component(component.to_jcal()).encode()
    yield CLOSING.encode()


def _component(jcal: list[Any]) -> str:
    """Return a component: jCal (RFC 7265) has the same properties, types and values in JSON."""
    name, properties, parts = jcal
    inner = f"<components>\n{''.join(map(_component, parts))}</components>\n" if parts else ""
    return f"<{name}>\n{_properties(properties)}{inner}</{name}>\n"


def _properties(properties: list[Property]) -> str:
    return (
        f"<properties>\n{''.join(_property(*jcal_property) for jcal_property in properties)}</properties>\n"
    )


def _property(name: str, parameters: dict[str, str], kind: str, *values: object) -> str:
    parameter_elements = "".join(_element(key, _element("text", value)) for key, value in parameters.items())
    parameters_element = f"<parameters>{parameter_elements}</parameters>" if parameter_elements else ""
    return (
        f"<{name}>{parameters_element}{''.join(_element(kind, _value(value)) for value in values)}</{name}>\n"
    )


def _element(name: str, content: str) -> str:
    return f"<{name}>{content}</{name}>"


def _value(value: object) -> str:
    """Return a value as XML; a rule for repetitions is an element for each of its parts."""
    if not isinstance(value, dict):
        return escape(clean_text(str(value)))
    parts = (
        (key, element)
        for key, part in value.items()
        for element in (part if isinstance(part, list) else [part])
    )
    return "".join(_element(key, escape(str(element))) for key, element in parts)


FORMAT = Format(
    name="xcal",
    label=_("Calendar (xCal)"),
    description=_("The same calendar as XML (RFC 6321), for programs that don’t read iCalendar."),
    extensions=("xcal",),
    media_type="application/calendar+xml; charset=utf-8",
    write=write,
)
