"""The newer layout `schedule2`: a list of events that refer to rooms, tracks and persons by key.

Each event is converted to its structure in `schedule.json`, which `formats.frab.reading` reads.
"""

from collections import Counter
from collections.abc import Iterator
from datetime import date, datetime, time, tzinfo

from django.utils.translation import gettext

from exchange.formats.frab.words import pick_language
from exchange.problems import Where, short
from exchange.reading.papers import shorten_list
from exchange.reading.textfiles import JsonObject
from exchange.reading.values import InvalidValueError, parse_date, parse_datetime, slug

TEXTS = ("title", "subtitle", "abstract", "description", "biography")
type Content = dict[str, object]


def is_schedule2(schedule: JsonObject) -> bool:
    return isinstance(schedule.content.get("events"), list)


def iterate_events(
    schedule: JsonObject, conference: JsonObject, zone: tzinfo
) -> Iterator[tuple[str, JsonObject, date | None, time]]:
    """Yield for each event: its room, the event, the day that it belongs to, and the start of days."""
    rooms = {key: room for room in _objects(conference, "rooms") for key in _keys(room)}
    tracks = {key: track for track in _objects(conference, "tracks") for key in _keys(track)}
    people = _objects(schedule, "persons")
    persons = {key: _translate_texts(person) for person in people for key in _keys(person)}
    days = list(_days(conference, zone))
    # The first day may begin later and the last one end earlier, so the most common hour is used.
    turns = Counter(moment.time() for _, *ends in days for moment in ends)
    begins = turns.most_common(1)[0][0] if turns else time()
    guids: dict[str, set[str]] = {}
    for event in schedule.objects("events", are_rows=True):
        content = _translate_texts(event.content)
        room, track = _resolve_name(content.get("room"), rooms), _resolve_name(content.get("track"), tracks)
        content |= {"date": content.get("start"), "room": room, "track": track}
        if isinstance(kind := content.get("type"), str):
            # They are constants, such as LIGHTNING_TALK.
            content["type"] = kind.replace("_", " ").capitalize()
        participants = event.items("participants")
        content["persons"] = [
            {**persons.get(str(one.get("guid")), {}), **one} if isinstance(one, dict) else one
            for one in participants
        ]
        for one in participants:
            name, guid = (one.get("name"), one.get("guid")) if isinstance(one, dict) else (None, None)
            if isinstance(name, str) and isinstance(guid, str) and guid:
                guids.setdefault(name, set()).add(guid)
        title = content.get("title")
        if not content.get("guid"):
            # Breaks may have no code.
            content["code"] = content.get("code") or slug(f"{title} {content['date']}")
        called = f" ({short(title)})" if isinstance(title, str) and title else ""
        where = Where(event.where.file, f"{event.where.place}{called}")
        start = _parse_moment(content["date"], zone)
        own = next((day for day, first, last in days if start and first <= start < last), None)
        yield room, JsonObject(content, where, event.findings), own, begins
    _note_namesakes(guids, schedule)


def _note_namesakes(guids: dict[str, set[str]], schedule: JsonObject) -> None:
    """Report people of one name, who become one person. Guids are not stored: they hash e-mail addresses."""
    namesakes = sorted(name for name, found in guids.items() if len(found) > 1)
    if namesakes:
        message = gettext("Names of more than one person in the file, who are one here: %(names)s.")
        schedule.findings.note("doubt", schedule.where, message, names=shorten_list(namesakes))


def _objects(parent: JsonObject, name: str) -> list[Content]:
    return [one for one in parent.items(name) if isinstance(one, dict)]


def _keys(content: Content) -> list[str]:
    return [key for name in ("guid", "slug") if isinstance(key := content.get(name), str) and key]


def _resolve_name(reference: object, known: dict[str, Content]) -> str:
    """Return the name of a referenced object. A reference is an object with guid, slug or name, or a name."""
    if not isinstance(reference, dict):
        return reference if isinstance(reference, str) else ""
    found = next((known[key] for key in _keys(reference) if key in known), reference)
    return pick_language(found.get("name") or found.get("slug"))


def _translate_texts(content: "Content | object") -> Content:
    """Return an object with its texts in one language."""
    found: Content = dict(content) if isinstance(content, dict) else {}
    return found | {name: pick_language(found[name]) for name in TEXTS if isinstance(found.get(name), dict)}


def _days(conference: JsonObject, zone: tzinfo) -> Iterator[tuple[date, datetime, datetime]]:
    for one in conference.objects("days", are_rows=True):
        start, end = (_parse_moment(one.content.get(name), zone) for name in ("start", "end"))
        try:
            own = parse_date(one.line("date"))
        except InvalidValueError as error:
            one.problem("date", str(error))
            continue
        if start and end:
            yield own, start, end


def _parse_moment(value: object, zone: tzinfo) -> datetime | None:
    try:
        return parse_datetime(value, zone).astimezone(zone) if isinstance(value, str) else None
    except InvalidValueError:
        return None
