"""A population of authors whose truth is known: who is listed twice, in which spelling, and who is not.

Names are drawn as in real programs: few families have many bearers, most have few. All hangs on the seed.
"""

import random
from dataclasses import dataclass, field

from bench.callnames import (
    CHINESE,
    CLOSINGS,
    ENDINGS,
    INDIAN,
    INDIAN_GIVEN,
    KOREAN,
    KOREAN_SYLLABLES,
    NORTHERN,
    NORTHERN_GIVEN,
    OPENINGS,
    SPANISH,
    SPANISH_GIVEN,
    SYLLABLES,
    WESTERN,
    WESTERN_GIVEN,
)


@dataclass(slots=True)
class Somebody:
    """Who somebody really is."""

    given: str
    family: str
    lab: int
    is_eastern: bool = False


@dataclass(slots=True)
class Record:
    """How somebody is listed: `who` is the truth, `how` the kind of variation of a second record."""

    who: int
    name: str
    how: str = ""
    place: str = ""
    orcid: str = ""
    email: str = ""
    papers: set[int] = field(default_factory=set)


def some(chance: random.Random, names: list[str]) -> str:
    """Return a name, the first of the list far oftener than the last."""
    return chance.choices(names, [1 / (place + 1.5) for place in range(len(names))])[0]


def coined(chance: random.Random) -> str:
    """Return a family name that few have."""
    middle = chance.choice(["", "", *OPENINGS[:12], "a", "e", "i", "o", "ö", "é"])
    return chance.choice(OPENINGS) + middle + chance.choice(ENDINGS)


def somebody(chance: random.Random, labs: int) -> Somebody:
    """Return a person of one of the languages that meet at a conference."""
    pick, lab = chance.random(), int(labs * chance.random() ** 1.5)
    if pick < 0.35:
        given = some(chance, SYLLABLES) + (chance.choice(SYLLABLES) if chance.random() < 0.8 else "")
        return Somebody(given, some(chance, CHINESE), lab, is_eastern=True)
    if pick < 0.42:
        given = "-".join(chance.sample(KOREAN_SYLLABLES, 2))
        return Somebody(given, some(chance, KOREAN), lab, is_eastern=True)
    groups = [(0.52, INDIAN_GIVEN, INDIAN), (0.60, SPANISH_GIVEN, SPANISH), (0.65, NORTHERN_GIVEN, NORTHERN)]
    givens, family = next(((g, f) for share, g, f in groups if pick < share), (WESTERN_GIVEN, WESTERN))
    called = (
        some(chance, givens) if chance.random() < 0.6 else chance.choice(OPENINGS) + chance.choice(CLOSINGS)
    )
    name = some(chance, family) if chance.random() < 0.25 else coined(chance)
    return Somebody(called, name, lab)


def written(name: str) -> str:
    return " ".join("-".join(part.capitalize() for part in word.split("-")) for word in name.split())


def usual(one: Somebody) -> str:
    return written(f"{one.given} {one.family}")


def plain(text: str) -> str:
    return text.translate(str.maketrans("áéíóúñäöüøåß", "aeiounaouoas"))


def spelled_out(text: str) -> str:
    spelled: dict[str, str | int | None] = {"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa", "ß": "ss"}
    return text.translate(str.maketrans(spelled))


def slipped(chance: random.Random, word: str) -> str:
    """Return a word with two letters the other way round, or one left out."""
    place = chance.randrange(1, len(word) - 2)
    if chance.random() < 0.5:
        return word[:place] + word[place + 1] + word[place] + word[place + 2 :]
    return word[:place] + word[place + 1 :]


def varied(how: str, chance: random.Random, one: Somebody) -> str:
    """Return a name in another spelling."""
    given, family = one.given, one.family
    some_cases = [usual(one).upper(), usual(one).lower(), f"{written(given)} {family.upper()}"]
    spellings = {
        "case": chance.choice(some_cases),
        "accents": written(chance.choice([plain, spelled_out])(f"{given} {family}")),
        "order": written(f"{family} {given}"),
        "comma": written(f"{family}, {given}"),
        "initials": written(f"{given[0]}. {family}"),
        "middle initial": written(f"{given} {chance.choice('abcdefghjklmprst')}. {family}"),
        "second surname": written(f"{given} {family} {chance.choice(SPANISH)}"),
        "doubled surname": written(f"{given} {family} {family}"),
        "called": written(f"{given} ") + f"({chance.choice(WESTERN_GIVEN).capitalize()}) {written(family)}",
        "token": f"{usual(one)} {chance.choice(['NameError', 'null', 'None'])}",
        "hyphen": written(given.replace("-", chance.choice(["", " "])) + f" {family}"),
        "slip": written(f"{given} {slipped(chance, family)}") if len(family) > MANY else usual(one),
        "same": usual(one),
    }
    return spellings[how]


MANY = 5
VARIATIONS = (
    "case", "accents", "order", "comma", "initials", "middle initial", "second surname", "doubled surname",
    "called", "token", "hyphen", "slip", "same",
)  # fmt: skip
TWICE = "twice on a paper, "


def fits(how: str, one: Somebody) -> bool:
    """Tell whether a variation makes another spelling of this name."""
    name = f"{one.given} {one.family}"
    return {
        "accents": not name.isascii(),
        "hyphen": "-" in one.given,
        "second surname": not one.is_eastern,
        "called": one.is_eastern,
        "slip": len(one.family) > MANY,
    }.get(how, True)


def population(people: int, seed: int = 20, *, share: float = 0.03) -> list[Record]:
    """Return the records of so many people, a share of whom is listed twice."""
    chance = random.Random(seed)
    labs = max(2, people // 12)
    truth = [somebody(chance, labs) for _ in range(people)]
    for place in range(0, people // 50, 2):
        # Namesakes beside those whom chance makes, some of them at one place.
        truth[place + 1].given, truth[place + 1].family = truth[place].given, truth[place].family
    records = [Record(who, usual(one), place=where(chance, one, labs)) for who, one in enumerate(truth)]
    write_papers(chance, records, truth)
    for record in records:
        if chance.random() < 0.15:
            record.orcid = f"0000-{record.who:012d}"
        if chance.random() < 0.1:
            record.email = f"p{record.who}@example.org"
    kinds = [*VARIATIONS, *(TWICE + how for how in ("case", "order", "called", "doubled surname"))]
    for number in range(int(people * share)):
        how = kinds[number % len(kinds)]
        who = chance.choice(
            [w for w in chance.sample(range(people), 40) if fits(how.removeprefix(TWICE), truth[w])] or [0]
        )
        records.append(second(chance, records, truth, who, how))
    return records


def where(chance: random.Random, one: Somebody, labs: int) -> str:
    """Return the university of a lab; four labs share one."""
    return (
        f"University {one.lab // 4}"
        if chance.random() < 0.9
        else f"Company {chance.randrange(labs // 8 + 1)}"
    )


def write_papers(chance: random.Random, records: list[Record], truth: list[Somebody]) -> None:
    """Let people write with others of their lab, and sometimes with those of another."""
    labs: dict[int, list[int]] = {}
    for who, one in enumerate(truth):
        labs.setdefault(one.lab, []).append(who)
    for number in range(len(records) // 2):
        together = set(chance.choices(labs[truth[number].lab], k=chance.randint(1, 4))) | {number}
        if chance.random() < 0.3:
            together.add(chance.randrange(len(records)))
        for who in together:
            records[who].papers.add(number)


def second(chance: random.Random, records: list[Record], truth: list[Somebody], who: int, how: str) -> Record:
    """Return another record of somebody, with some of the papers."""
    first = records[who]
    record = Record(who, varied(how.removeprefix(TWICE), chance, truth[who]), how=how)
    record.place = first.place if chance.random() < 0.7 else f"Company {chance.randrange(200)}"
    record.email = first.email if chance.random() < 0.5 else ""
    if how.startswith(TWICE):
        record.papers = set(chance.sample(sorted(first.papers), 1)) if first.papers else set()
        record.place = first.place
    elif len(first.papers) > 1:
        record.papers = set(chance.sample(sorted(first.papers), len(first.papers) // 2))
        first.papers -= record.papers
    return record
