"""The people of synthetic programs: many come back in later years, some write much, some share a name."""

import random
from dataclasses import dataclass
from functools import lru_cache

from bench.synthetic.names import CULTURES, Culture, Name
from bench.synthetic.words import GOALS
from exchange.reading.slugs import slug
from exchange.records import UNSTATED, InstitutionRecord, PersonRecord, PersonRef

# People for each paper of a year; each year so many of a hundred are new.
PER_PAPER = 2.4
NEW = 0.3
# The higher, the more of the papers are written by the same few.
SKEW = 1.8
HOSTS = tuple(host for culture in CULTURES for host in culture.institutions)
BIOGRAPHY = "{name} works on {topic} at {place}, and has taught it for {years} years."


@dataclass(frozen=True, slots=True)
class Member:
    """Somebody: how they are called, and where they work."""

    uid: str
    name: str
    given: str
    family: str
    native: str
    institution: str

    @property
    def ref(self) -> PersonRef:
        return PersonRef(name=self.name, uid=self.uid)

    @property
    def host(self) -> str:
        """Return the key of the institution."""
        return slug(self.institution)


@dataclass(frozen=True, slots=True)
class Community:
    """Everybody who may write a paper in one year."""

    seed: int
    first: int
    size: int

    def somebody(self, chance: random.Random) -> Member:
        """Return a member, the busy ones more often."""
        return member(self.seed, self.first + int(self.size * chance.random() ** SKEW))

    def team(self, chance: random.Random, size: int) -> tuple[Member, ...]:
        """Return different members, in an order: as many as asked, or all."""
        found: dict[str, Member] = {}
        while len(found) < min(size, self.size // 2):
            one = self.somebody(chance)
            found.setdefault(one.uid, one)
        return tuple(found.values())


def community(seed: int, papers: int, year: int) -> Community:
    """Return who is there in the year with this number, counted from 0."""
    size = max(20, int(papers * PER_PAPER))
    return Community(seed, int(size * NEW) * year, size)


@lru_cache(maxsize=200_000)
def member(seed: int, number: int) -> Member:
    """Return the member with this number, always the same."""
    chance = random.Random(f"{seed}:person:{number}")
    culture = chance.choices(CULTURES, WEIGHTS)[0]
    given, family = given_name(culture, chance), chance.choice(culture.family)
    native = culture.own.format(given=given[1], family=family[1]).replace("_", " ") if given[1] else ""
    host = chance.choice(culture.institutions) if chance.random() < STAYING else chance.choice(HOSTS)
    name = f"{given[0]} {family[0]}"
    return Member(f"g{seed}-{number}", name, given[0], family[0], native, host[0])


WEIGHTS = [culture.weight for culture in CULTURES]
STAYING = 0.7


def given_name(culture: Culture, chance: random.Random) -> Name:
    """Return a given name: often of two parts where that is the way, sometimes with an initial."""
    name, native = chance.choice(culture.given)
    if culture.own == "{family}{given}" and len(native) == 1 and chance.random() < 0.7:
        second, second_native = chance.choice(culture.given)
        if len(second_native) == 1:
            return f"{name}{second.lower()}", f"{native}{second_native}"
    if not culture.own and chance.random() < 0.25:
        return f"{name} {chance.choice('ABCDEFGHJKLMNPRSTW')}.", ""
    return name, native


def person_record(one: Member, biography: str = "") -> PersonRecord:
    """Return all that is known of somebody."""
    return PersonRecord(
        ref=one.ref,
        given=one.given,
        family=one.family,
        native_name=one.native,
        affiliation=one.institution,
        homepage=f"https://example.org/~{one.uid}" if one.uid.endswith(("1", "7")) else "",
        biography=biography or UNSTATED,
    )


def biography(one: Member) -> str:
    """Return a few words about a speaker: the same in every year."""
    chance = random.Random(one.uid)
    topic, years = chance.choice(GOALS).lower(), chance.randint(5, 30)
    return BIOGRAPHY.format(name=one.name, topic=topic, place=one.institution, years=years)


def institution_records() -> tuple[InstitutionRecord, ...]:
    """Return every institution."""
    return tuple(InstitutionRecord(slug=slug(name), name=name, country=country) for name, country in HOSTS)
