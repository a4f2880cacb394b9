"""Synthetic papers: titles, abstracts, authors, topics and materials, from a seed."""

import random
from collections.abc import Iterator

from bench.synthetic import words
from bench.synthetic.community import Community, Member
from exchange.reading.slugs import slug
from exchange.records import AuthorRecord, MaterialRecord, PaperRecord, TopicRecord

SENTENCES = (6, 10)
# How many authors, and of a thousand papers how many have so many.
TEAMS = {
    1: 25,
    2: 90,
    3: 170,
    4: 200,
    5: 170,
    6: 120,
    7: 85,
    8: 55,
    9: 35,
    11: 25,
    14: 14,
    19: 7,
    32: 3,
    150: 1,
}
# Of a thousand: published, withdrawn, still a draft.
STATES = {"published": 985, "withdrawn": 10, "draft": 5}


def topic_records() -> tuple[TopicRecord, ...]:
    """Return the topics, each below its field."""
    records: list[TopicRecord] = []
    for place, (name, parts) in enumerate(words.TOPICS.items(), 1):
        records.append(TopicRecord(slug=slug(name), name=name, parent=None, position=place))
        records += [
            TopicRecord(slug=slug(f"{name} {part}"), name=part, parent=slug(name), position=position)
            for position, part in enumerate(parts, 1)
        ]
    return tuple(records)


TOPIC_SLUGS = tuple(record.slug for record in topic_records() if record.parent)
TRACKS = [name for name, _ in words.TRACKS]
TRACK_WEIGHTS = [weight for _, weight in words.TRACKS]


def terms(chance: random.Random) -> dict[str, str]:
    """Return what one paper is about: the words that its sentences share."""
    method, other = chance.sample(words.METHODS, 2)
    initials = "".join(part[0] for part in method.replace("-", " ").split())
    return {
        "method": method,
        "method2": other,
        "goal": chance.choice(words.GOALS),
        "quality": chance.choice(words.QUALITIES),
        "tex": chance.choice(words.TEX),
        "name": f"{initials}{chance.choice(('Net', 'former', 'Bench', '++', 'Lite', 'Flow'))}",
    }


def abstract(about: dict[str, str], chance: random.Random) -> str:
    """Return some sentences, in two paragraphs where they are many."""
    said = {key: text if key == "name" else text.lower() for key, text in about.items()}
    chosen = chance.sample(words.SENTENCES, chance.randint(*SENTENCES))
    sentences = [
        sentence.format(**said, number=chance.randint(2, 90), share=chance.randint(2, 45))
        for sentence in chosen
    ]
    if len(sentences) < SENTENCES[1]:
        return " ".join(sentences)
    return f"{' '.join(sentences[:5])}\n\n{' '.join(sentences[5:])}"


def papers(seed: int, year: int, number: int, people: Community) -> Iterator[PaperRecord]:
    """Yield the papers of one year, each the same however many others there are."""
    for key in range(1, number + 1):
        yield paper(random.Random(f"{seed}:{year}:{key}"), year, key, people)


def paper(chance: random.Random, year: int, key: int, people: Community) -> PaperRecord:
    """Return one paper."""
    about = terms(chance)
    size = chance.choices(list(TEAMS), list(TEAMS.values()))[0]
    team = people.team(chance, size)
    first = 1 + 12 * key
    return PaperRecord(
        uid=f"{year}-{key:05}",
        title=chance.choice(words.TITLES).format(**about),
        abstract=abstract(about, chance),
        lay_summary=f"We make {about['goal'].lower()} easier to study." if chance.random() < 0.1 else "",
        track=chance.choices(TRACKS, TRACK_WEIGHTS)[0],
        topic=chance.choice(TOPIC_SLUGS),
        keywords=(about["method"].lower(), about["goal"].lower()),
        decision="Accept",
        status=chance.choices(list(STATES), list(STATES.values()))[0],
        doi=f"10.5555/plenary.{year}.{key:05}",
        pages=f"{first}-{first + 11}",
        authors=authors(team, chance),
        materials=tuple(materials(f"{year}-{key:05}", chance)),
    )


def authors(team: tuple[Member, ...], chance: random.Random) -> tuple[AuthorRecord, ...]:
    """Return the authors in order: one presents, one answers letters."""
    presenting = 0 if chance.random() < 0.8 else chance.randrange(len(team))
    return tuple(
        AuthorRecord(
            person=one.ref,
            affiliations=(one.institution,),
            institutions=(one.host,),
            corresponding=place == len(team) - 1,
            presenting=place == presenting,
        )
        for place, one in enumerate(team)
    )


def materials(uid: str, chance: random.Random) -> Iterator[MaterialRecord]:
    """Yield what is there beside the abstract."""
    yield MaterialRecord(kind="pdf", url=f"https://example.org/papers/{uid}.pdf")
    if chance.random() < 0.5:
        yield MaterialRecord(kind="code", url=f"https://example.org/code/{uid}")
    if chance.random() < 0.3:
        yield MaterialRecord(kind="slides", url=f"https://example.org/slides/{uid}.pdf")
    if chance.random() < 0.2:
        yield MaterialRecord(kind="video", url=f"https://example.org/videos/{uid}", label="Talk (5 min)")
