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
        rng = random.Random(self.uid)
        topic, years = rng.choice(GOALS).lower(), rng.randint(5, 30)
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

    def pick_member(self, rng: random.Random) -> Member:
        """Return a random member, with a preference for prolific ones."""
        first = int(self.size * NEW) * self.year
        return member(self.seed, first + int(self.size * rng.random() ** SKEW))

    def team(self, rng: random.Random, size: int) -> tuple[Member, ...]:
        """Return `size` distinct members, but at most half of all."""
        members: dict[str, Member] = {}
        while len(members) < min(size, self.size // 2):
            candidate = self.pick_member(rng)
            members.setdefault(candidate.uid, candidate)
        return tuple(members.values())


@lru_cache(maxsize=200_000)
def member(seed: int, number: int) -> Member:
    """Return the member with this number, which depends only on the seed."""
    rng = random.Random(f"{seed}:person:{number}")
    culture = rng.choices(CULTURES, WEIGHTS)[0]
    (given, native), (family, native_family) = given_name(culture, rng), rng.choice(culture.family)
    native = (
        culture.native_format.format(given=native, family=native_family).replace("_", " ") if native else ""
    )
    host, _ = rng.choice(culture.institutions if rng.random() < STAYING else HOSTS)
    return Member(f"g{seed}-{number}", given, family, native, host)


def given_name(culture: Culture, rng: random.Random) -> tuple[str, str]:
    """Return a given name, often of two parts in cultures with such names, sometimes with an initial."""
    name, native = rng.choice(culture.given)
    if culture.native_format == "{family}{given}" and len(native) == 1 and rng.random() < 0.7:
        second, second_native = rng.choice(culture.given)
        if len(second_native) == 1:
            return f"{name}{second.lower()}", f"{native}{second_native}"
    if not culture.native_format and rng.random() < 0.25:
        return f"{name} {rng.choice('ABCDEFGHJKLMNPRSTW')}.", ""
    return name, native


def institution_records() -> tuple[InstitutionRecord, ...]:
    """Return the records of all institutions."""
    return tuple(InstitutionRecord(slug=slug(name), name=name, country=country) for name, country in HOSTS)
