"""People of synthetic programs. Many return in later years, some have many papers, some share a name."""

import random
from dataclasses import dataclass
from functools import lru_cache

from bench.synthetic.names import CULTURES, Culture
from bench.synthetic.words import GOALS
from exchange.reading.values import slug
from exchange.records import UNSTATED, InstitutionRecord, PersonRecord, PersonRef

# People per paper of a year, and the share of new ones in each year.
PER_PAPER, NEW = 2.4, 0.3
# An exponent: the higher it is, the more papers are by the same few people.
SKEW = 1.8
# The share of people who work in the country that their name is from.
STAYING = 0.7
HOSTS = tuple(host for culture in CULTURES for host in culture.institutions)
WEIGHTS = [culture.weight for culture in CULTURES]


@dataclass(frozen=True, slots=True)
class Member:
    """A person with name and institution."""

    uid: str
    given: str
    family: str
    native: str
    institution: str

    @property
    def name(self) -> str:
        return f"{self.given} {self.family}"

    @property
    def ref(self) -> PersonRef:
        return PersonRef(name=self.name, uid=self.uid)

    def record(self, is_speaker: bool) -> PersonRecord:
        """Return the record; speakers have a biography, which is the same in all years."""
        chance = random.Random(self.uid)
        topic, years = chance.choice(GOALS).lower(), chance.randint(5, 30)
        biography = f"{self.name} works on {topic} at {self.institution}; has taught it for {years} years."
        return PersonRecord(
            ref=self.ref,
            given=self.given,
            family=self.family,
            native_name=self.native,
            affiliation=self.institution,
            homepage=f"https://example.org/~{self.uid}" if self.uid.endswith(("1", "7")) else "",
            biography=biography if is_speaker else UNSTATED,
        )


@dataclass(frozen=True, slots=True)
class Community:
    """All possible authors of a year; `year` counts from 0."""

    seed: int
    papers: int
    year: int

    @property
    def size(self) -> int:
        return max(20, int(self.papers * PER_PAPER))

    def pick_member(self, chance: random.Random) -> Member:
        """Return a random member, with a preference for prolific ones."""
        first = int(self.size * NEW) * self.year
        return member(self.seed, first + int(self.size * chance.random() ** SKEW))

    def team(self, chance: random.Random, size: int) -> tuple[Member, ...]:
        """Return `size` distinct members, but at most half of all."""
        found: dict[str, Member] = {}
        while len(found) < min(size, self.size // 2):
            one = self.pick_member(chance)
            found.setdefault(one.uid, one)
        return tuple(found.values())


@lru_cache(maxsize=200_000)
def member(seed: int, number: int) -> Member:
    """Return the member with this number, which depends only on the seed."""
    chance = random.Random(f"{seed}:person:{number}")
    culture = chance.choices(CULTURES, WEIGHTS)[0]
    (given, native), (family, native_family) = given_name(culture, chance), chance.choice(culture.family)
    native = culture.own.format(given=native, family=native_family).replace("_", " ") if native else ""
    host, _ = chance.choice(culture.institutions if chance.random() < STAYING else HOSTS)
    return Member(f"g{seed}-{number}", given, family, native, host)


def given_name(culture: Culture, chance: random.Random) -> tuple[str, str]:
    """Return a given name, often of two parts in cultures with such names, sometimes with an initial."""
    name, native = chance.choice(culture.given)
    if culture.own == "{family}{given}" and len(native) == 1 and chance.random() < 0.7:
        second, second_native = chance.choice(culture.given)
        if len(second_native) == 1:
            return f"{name}{second.lower()}", f"{native}{second_native}"
    if not culture.own and chance.random() < 0.25:
        return f"{name} {chance.choice('ABCDEFGHJKLMNPRSTW')}.", ""
    return name, native


def institution_records() -> tuple[InstitutionRecord, ...]:
    """Return the records of all institutions."""
    return tuple(InstitutionRecord(slug=slug(name), name=name, country=country) for name, country in HOSTS)
