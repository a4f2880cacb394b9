"""The newer layout `schedule2`: a list of events that refer to rooms, tracks and persons by key.

Each event is converted to its structure in `schedule.json`, which `formats.frab.reading` reads.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import date, datetime, time, tzinfo

from exchange.formats.frab.words import pick_language
from exchange.problems import Where, short
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
    room_by_key = {key: room for room in _objects(conference, "rooms") for key in _keys(room)}
    track_by_key = {key: track for track in _objects(conference, "tracks") for key in _keys(track)}
    people = _objects(schedule, "persons")
    person_by_key = {key: _translate_texts(person) for person in people for key in _keys(person)}
    days = list(_days(conference, zone))
    # The first day may begin later and the last one end earlier, so the most common hour is used.
    day_start_counts = Counter(moment.time() for _, *limits in days for moment in limits)
    day_start = day_start_counts.most_common(1)[0][0] if day_start_counts else time()
    for event in schedule.objects("events", are_rows=True):
        content = _translate_texts(event.content)
        room_name = _resolve_name(content.get("room"), room_by_key)
        track_name = _resolve_name(content.get("track"), track_by_key)
        content |= {"date": content.get("start"), "room": room_name, "track": track_name}
        if isinstance(event_type := content.get("type"), str):
            # They are constants, such as LIGHTNING_TALK.
            content["type"] = event_type.replace("_", " ").capitalize()
        persons: list[object] = []
        for participant in event.items("participants"):
            if not isinstance(participant, dict):
                persons.append(participant)
                continue
            persons.append({**person_by_key.get(str(participant.get("guid")), {}), **participant})
        content["persons"] = persons
        title = content.get("title")
        if not content.get("guid"):
            # Breaks may have no code.
            content["code"] = content.get("code") or slug(f"{title} {content['date']}")
        title_suffix = f" ({short(title)})" if isinstance(title, str) and title else ""
        where = Where(event.where.file, f"{event.where.place}{title_suffix}")
        start = _parse_moment(content["date"], zone)
        event_day = next(
            (day for day, day_begin, day_end in days if start and day_begin <= start < day_end), None
        )
        yield room_name, JsonObject(content, where, event.findings), event_day, day_start


def _objects(parent: JsonObject, name: str) -> list[Content]:
    return [item for item in parent.items(name) if isinstance(item, dict)]


def _keys(content: Content) -> list[str]:
    return [key for name in ("guid", "slug") if isinstance(key := content.get(name), str) and key]


def _resolve_name(reference: object, object_by_key: dict[str, Content]) -> str:
    """Return the name of a referenced object. A reference is an object with guid, slug or name, or a name."""
    if not isinstance(reference, dict):
        return reference if isinstance(reference, str) else ""
    target = next((object_by_key[key] for key in _keys(reference) if key in object_by_key), reference)
    return pick_language(target.get("name") or target.get("slug"))


def _translate_texts(content: Mapping[str, object]) -> Content:
    """Return an object with its texts in one language."""
    texts = {name: pick_language(content[name]) for name in TEXTS if isinstance(content.get(name), dict)}
    return {**content, **texts}


def _days(conference: JsonObject, zone: tzinfo) -> Iterator[tuple[date, datetime, datetime]]:
    for day_object in conference.objects("days", are_rows=True):
        start, end = (_parse_moment(day_object.content.get(name), zone) for name in ("start", "end"))
        try:
            day = parse_date(day_object.line("date"))
        except InvalidValueError as error:
            day_object.problem("date", str(error))
            continue
        if start and end:
            yield day, start, end


def _parse_moment(value: object, zone: tzinfo) -> datetime | None:
    try:
        return parse_datetime(value, zone).astimezone(zone) if isinstance(value, str) else None
    except InvalidValueError:
        return None
