"""Parser of search words for a day, room, kind or topic of an edition, or an edition. Pure functions.

`read_filters()` splits a text into filters and the words that remain to be searched for. With a poster
session on Wednesday 8 July, a room "Hall A" and a topic "Robotics":

| text | filters | words |
|---|---|---|
| posters on scaling laws wednesday | kind poster, day 2026-07-08 | scaling laws |
| kind:poster day:wed room:"Hall A" | kind poster, day 2026-07-08, room hall-a | |
| tutorials on 8 July in Hall A | kind tutorial, day 2026-07-08, room hall-a | |
| robotics posters | topic robotics, kind poster | |
| robotics for surgery | | robotics for surgery |
| "wednesday" -posters | | "wednesday" -posters |

- "papers" before "on" or "by", as in "papers on graphs", is ignored.
- Without an operator, only complete names are recognized. A topic is recognized only if no other words
  remain, since more words mean a wider search.
- Phrases and excluded words are not changed, nor are operators with an unknown value.
- Only the first filter of each facet is used; `chosen` facets, which were chosen elsewhere, get none.
- `plain` words, whose filter the visitor removed, are not recognized without an operator.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import cached_property
from itertools import product

from django.utils.dates import MONTHS, MONTHS_AP, WEEKDAYS, WEEKDAYS_ABBR
from django.utils.translation import gettext, pgettext

from search.folding import fold_words
from search.query import MAX_QUERY_CHARS, OPERATORS, QUOTES, part_pattern

# In order of precedence, if two of them have the same name.
FACETS = ("day", "room", "kind", "topic", "edition")
PART = part_pattern([*OPERATORS, *FACETS])
# Without an operator, these often have another meaning.
ORDINARY_WORDS = frozenset(
    [
        *("break", "demo", "meal", "opening", "other", "panel", "registration", "sat", "session"),
        *("sessions", "social", "sun", "talk"),
    ]
)
# Shorter names of rooms, such as "301", need an operator.
MIN_ROOM_CHARS = 4
# Longer names need an operator.
MAX_NAME_TOKENS = 10
ENGLISH_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
ENGLISH_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
WEEKDAY_FORMS = {1: ["tue", "tues"], 2: ["wed", "weds"], 3: ["thu", "thur", "thurs"]}

CONNECTING = "about and at by for from in of on the"

# Folded words, such as ("hall", "a").
type Words = tuple[str, ...]
# The value of each name, such as "hall-a"; `None` if two values have the same name.
type Meanings = dict[Words, str | None]


@dataclass(frozen=True, slots=True)
class Filter:
    """A facet and its value as in addresses, and the span of the text from which it was parsed."""

    facet: str
    value: str
    start: int
    end: int
    # Whether it was written as an operator, such as day:wed.
    is_explicit: bool = False


@dataclass(frozen=True)
class Vocabulary:
    """The names that are recognized in a text, those after an operator, and those of topics."""

    names: Mapping[Words, tuple[str, str]]
    values: Mapping[str, Meanings]
    topics: Meanings


@dataclass(frozen=True)
class Reading:
    """A parsed text. `skipped` are the spans of ignored words, such as "on" before a day."""

    text: str
    filters: tuple[Filter, ...] = ()
    skipped: tuple[tuple[int, int], ...] = field(default=(), compare=False)

    @cached_property
    def words(self) -> str:
        """The text that remains to be searched for."""
        return self.without(self.filters)

    def without(self, filters: Iterable[Filter]) -> str:
        """Return the text without these filters and the connecting words."""
        spans = sorted([*self.skipped, *((filter_.start, filter_.end) for filter_ in filters)])
        parts, position = [], 0
        for start, end in spans:
            parts.append(self.text[position:start])
            position = end
        return " ".join(" ".join([*parts, self.text[position:]]).split())

    def source_text(self, filter_: Filter) -> str:
        """Return the words from which this filter was parsed."""
        return self.text[filter_.start : filter_.end]

    @property
    def filter_words(self) -> list[str]:
        """The words that are filters, as they were typed without an operator."""
        return [self.source_text(filter_) for filter_ in self.filters if not filter_.is_explicit]


@dataclass(frozen=True, slots=True)
class _Token:
    """A part of the text: a plain word, or a part with an operator, quotes or a minus; with folded words."""

    start: int
    end: int
    words: Words
    is_plain: bool
    facet: str = ""


def read_filters(
    text: str, vocabulary: Vocabulary, *, plain: Iterable[str] = (), chosen: Collection[str] = ()
) -> Reading:
    """Split a text into filters and words; see the module's documentation for the rules."""
    text = text[:MAX_QUERY_CHARS]
    tokens = list(_tokens(text))
    plain_names = {tuple(fold_words(name)) for name in plain}
    by_facet: dict[str, Filter] = {}
    parts: list[_Token | Filter] = []
    index = 0
    while index < len(tokens):
        filter_, count = _longest_filter(tokens, index, vocabulary, plain_names)
        index += count
        if filter_ is None or filter_.facet in by_facet or filter_.facet in chosen:
            parts += tokens[index - count : index]
        else:
            by_facet[filter_.facet] = filter_
            parts.append(filter_)
    remaining, skipped = _without_connecting_words(parts)
    if "topic" not in by_facet and "topic" not in chosen:
        topic = _topic_filter(remaining, vocabulary.topics, plain_names)
        # A filter between the words of a topic separates them.
        if topic and not any(topic.start < filter_.start < topic.end for filter_ in by_facet.values()):
            by_facet["topic"] = topic
    filters = sorted(by_facet.values(), key=lambda filter_: filter_.start)
    return Reading(text, tuple(filters), tuple(skipped))


def _tokens(text: str) -> Iterator[_Token]:
    for match in PART.finditer(text.translate(QUOTES)):
        value = match["word"] if match["phrase"] is None else match["phrase"]
        operator = (match["operator"] or "").lower()
        is_plain = not (match["minus"] or operator or match["phrase"] is not None)
        facet = operator if operator in FACETS and not match["minus"] else ""
        if words := tuple(fold_words(value)):
            yield _Token(match.start(), match.end(), words, is_plain, facet)


def _longest_filter(
    tokens: Sequence[_Token], index: int, vocabulary: Vocabulary, plain_names: Collection[Words]
) -> tuple[Filter | None, int]:
    """Return the longest filter that begins with this token, and its number of tokens."""
    first = tokens[index]
    if first.facet:
        value = _find_value(vocabulary.values.get(first.facet, {}), first.words)
        return (Filter(first.facet, value, first.start, first.end, True) if value else None), 1
    longest: tuple[Filter | None, int] = None, 1
    name: Words = ()
    for count, token in enumerate(tokens[index:], start=1):
        if not token.is_plain:
            break
        name += token.words
        if name in vocabulary.names and name not in plain_names:
            facet, value = vocabulary.names[name]
            longest = Filter(facet, value, first.start, token.end), count
        elif count > MAX_NAME_TOKENS:
            break
    return longest


def _topic_filter(
    tokens: Sequence[_Token], topics: Meanings, plain_names: Collection[Words]
) -> Filter | None:
    """Return the topic whose name consists of all remaining words."""
    name = tuple(word for token in tokens for word in token.words)
    slug = topics.get(name)
    if not slug or name in plain_names or not all(token.is_plain for token in tokens):
        return None
    return Filter("topic", slug, tokens[0].start, tokens[-1].end)


def _find_value(values: Meanings, name: Words) -> str | None:
    """Return the value of this name, or of the only name that begins with these words."""
    if name in values:
        return values[name]
    matches = {value for candidate, value in values.items() if _begins(candidate, name)}
    return matches.pop() if len(matches) == 1 else None


def _begins(name: Words, typed: Words) -> bool:
    *before, last = typed
    return (
        name[: len(before)] == tuple(before)
        and len(name) >= len(typed)
        and name[len(before)].startswith(last)
    )


def _without_connecting_words(
    parts: Sequence[_Token | Filter],
) -> tuple[list[_Token], list[tuple[int, int]]]:
    """Return the remaining tokens, and the spans of those that are ignored next to another part."""
    skipped = {ignored for index in range(len(parts)) for ignored in _ignored_indexes(parts, index)}
    tokens = [part for index, part in enumerate(parts) if isinstance(part, _Token) and index not in skipped]
    return tokens, [(parts[index].start, parts[index].end) for index in sorted(skipped)]


def _ignored_indexes(parts: Sequence[_Token | Filter], index: int) -> Iterator[int]:
    """Yield the indexes of ignored words near this part: "on" Wednesday, posters "on"; "papers by" Hinton."""
    part = parts[index]
    before, after = (list(_connecting_indexes(parts, index, step)) for step in (-1, 1))
    if isinstance(part, Filter):
        yield from before
        if part.facet == "kind":
            yield from after
        return
    is_noun = part.is_plain and part.words in {("papers",), tuple(fold_words(gettext("papers")))}
    follows_filter = index > 0 and isinstance(parts[index - 1], Filter)
    if is_noun and (index == 0 or follows_filter):
        following = parts[index + len(after) + 1 :]
        if after or follows_filter or (following and isinstance(following[0], Filter)):
            yield index
            yield from after


def _connecting_indexes(parts: Sequence[_Token | Filter], index: int, step: int) -> Iterator[int]:
    """Yield the indexes of the connecting words next to this part, before or after it."""
    # Many visitors type English words in any language of the site.
    connecting = {*fold_words(CONNECTING), *fold_words(gettext("about and at by for from in of on the"))}
    neighbor = index + step
    while 0 <= neighbor < len(parts):
        part = parts[neighbor]
        if isinstance(part, Filter) or not part.is_plain or not connecting.issuperset(part.words):
            return
        yield neighbor
        neighbor += step


# The names of an edition


def edition_vocabulary(
    days: Iterable[date],
    rooms: Mapping[str, str],
    kinds: Mapping[str, Iterable[str]],
    topics: Sequence[tuple[str, str]],
    today: date | None = None,
) -> Vocabulary:
    """Return the words for these days, rooms (slug: name), kinds (slug: labels) and topics (slug, name).

    If `today` is one of the days, "today" and "tomorrow" are recognized as well.
    """
    sorted_days = sorted(days)
    bare_days, any_days = day_names(sorted_days, today)
    bare_kinds, any_kinds = kind_names(kinds)
    room_names = _unique((tuple(fold_words(name)), slug) for slug, name in rooms.items())
    topic_names = _unique((tuple(fold_words(name)), slug) for slug, name in topics)
    names: dict[Words, tuple[str, str]] = {}
    long_rooms = {
        name: slug for name, slug in room_names.items() if len("".join(name)) >= MIN_ROOM_CHARS and slug
    }
    for facet, values_by_name in (("kind", bare_kinds), ("room", long_rooms), ("day", bare_days)):
        names |= {name: (facet, value) for name, value in values_by_name.items() if name and value}
    values = {
        "day": any_days,
        "room": {**room_names, **_slugs(rooms)},
        "kind": {**any_kinds, **_slugs(kinds)},
        "topic": {**topic_names, **_slugs(slug for slug, _name in topics)},
    }
    return Vocabulary(names, values, topic_names)


def site_vocabulary(editions: Iterable[tuple[str, str, int]]) -> Vocabulary:
    """Return the words for these editions (slug, name, year): the name, or the year if it is unique."""
    rows = [*editions]
    pairs = [(name, slug) for slug, name, _year in rows] + [(str(year), slug) for slug, _name, year in rows]
    names = _unique((tuple(fold_words(name)), slug) for name, slug in pairs)
    bare = {name: ("edition", slug) for name, slug in names.items() if slug}
    return Vocabulary(bare, {"edition": {**names, **_slugs(slug for slug, *_ in rows)}}, {})


def _slugs(slugs: Iterable[str]) -> Meanings:
    return {tuple(fold_words(slug)): slug for slug in slugs}


def _unique(pairs: Iterable[tuple[Words, str]]) -> Meanings:
    """Return the value of each name, `None` if several values have it."""
    meanings: Meanings = {}
    for name, value in pairs:
        meanings[name] = value if meanings.get(name, value) == value else None
    meanings.pop((), None)
    return meanings


def day_names(days: Sequence[date], today: date | None) -> tuple[Meanings, Meanings]:
    """Return the names of days in a text, and those after an operator."""
    bare: list[tuple[Words, str]] = []
    short: list[tuple[Words, str]] = []
    weekdays = [day.weekday() for day in days]
    for day in days:
        value = day.isoformat()
        dates = list(_date_names(day))
        forms = list(_weekday_names(day))
        bare += ((date_words, value) for date_words in dates)
        bare += ((weekday + date_words, value) for weekday, date_words in product(forms, dates))
        if weekdays.count(day.weekday()) == 1:
            bare += ((weekday, value) for weekday in forms if not ORDINARY_WORDS.issuperset(weekday))
            short += ((weekday, value) for weekday in forms)
        short.append(((str(day.day),), value))
    if today and today in days:
        tomorrow = today + timedelta(days=1)
        relative_days = {
            gettext("today"): today,
            gettext("tomorrow"): tomorrow,
            "today": today,
            "tomorrow": tomorrow,
        }
        bare += (
            (tuple(fold_words(name)), day.isoformat()) for name, day in relative_days.items() if day in days
        )
    return _unique(bare), _unique([*bare, *short])


def _weekday_names(day: date) -> Iterator[Words]:
    """Yield the names of a day's weekday, in English and the current language."""
    number = day.weekday()
    english = ENGLISH_WEEKDAYS[number]
    for name in dict.fromkeys(
        [
            english,
            english[:3],
            *WEEKDAY_FORMS.get(number, ()),
            str(WEEKDAYS[number]),
            str(WEEKDAYS_ABBR[number]),
        ]
    ):
        yield tuple(fold_words(name))


def _date_names(day: date) -> Iterator[Words]:
    """Yield 2026 07 08; 8 july, july 8, 8th of july, and so on, with the year and without it."""
    yield tuple(fold_words(day.isoformat()))
    english = ENGLISH_MONTHS[day.month - 1]
    months = [english, english[:3], str(MONTHS[day.month]), str(MONTHS_AP[day.month])]
    ordinals = {1: "st", 2: "nd", 3: "rd"}
    ordinal = "th" if day.day in (11, 12, 13) else ordinals.get(day.day % 10, "th")
    numbers = [str(day.day), f"{day.day}{ordinal}"]
    for month, number in product(dict.fromkeys(tuple(fold_words(month)) for month in months), numbers):
        for name in ((number, *month), (*month, number), (number, "of", *month)):
            yield name
            yield (*name, str(day.year))


def kind_names(kinds: Mapping[str, Iterable[str]]) -> tuple[Meanings, Meanings]:
    """Return the names of kinds in a text, in singular and plural, and those after an operator."""
    pairs = [
        (name, slug)
        for slug, labels in kinds.items()
        for label in dict.fromkeys([*labels, slug.replace("_", " ").replace("-", " ")])
        for name in _singular_and_plural(tuple(fold_words(label)))
    ]
    any_kinds = _unique(pairs)
    bare_kinds = {name: slug for name, slug in any_kinds.items() if not ORDINARY_WORDS.issuperset(name)}
    return bare_kinds, any_kinds


def _singular_and_plural(name: Words) -> Iterator[Words]:
    """Yield "poster session", "poster sessions", and "poster", "posters"."""
    session = pgettext("last word of a kind of session, such as “Oral session”", "session")
    singular = {name, name[:-1] if name[-1:] in (("session",), (session,)) else name} - {()}
    for form in singular:
        yield form
        # For other languages, `kinds` contains the plurals.
        yield form if form[-1].endswith("s") else (*form[:-1], f"{form[-1]}s")
