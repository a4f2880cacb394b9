"""The time zone in which an edition's files are read and written."""

from zoneinfo import ZoneInfo

from exchange.files import Context
from exchange.reading.fields import zone_called
from exchange.records import Program, stated


def zone_of(program: Program, context: Context) -> ZoneInfo:
    """Return the zone that the program states for its edition, else the zone of the edition at hand."""
    own = stated(program.edition.timezone, "") if program.edition else ""
    return zone_called(own or context.timezone)
