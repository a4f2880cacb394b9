"""Synthetic papers: titles, abstracts, authors, topics and materials, from a seed."""

import random
from collections.abc import Iterator

from bench.synthetic import words
from bench.synthetic.people import Community
from exchange.reading.values import slug
from exchange.records import AuthorRecord, MaterialRecord, PaperRecord, TopicRecord

SENTENCES = (6, 10)
# Numbers of authors, and how many of a thousand papers have each.
TEAM_SIZES = (1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 14, 19, 32, 150)
TEAM_WEIGHTS = (25, 90, 170, 200, 170, 120, 85, 55, 35, 25, 14, 7, 3, 1)
# How many of a thousand papers have each status.
STATES = {"published": 985, "withdrawn": 10, "draft": 5}
# Kinds of materials, shares of papers that have them, and labels.
MATERIALS = (("code", 0.5, ""), ("slides", 0.3, ""), ("video", 0.2, "Talk (5 min)"))


def topic_records() -> tuple[TopicRecord, ...]:
    """Return the records of the fields, and of the topics below each."""
    records: list[TopicRecord] = []
    for position, (name, parts) in enumerate(words.TOPICS.items(), 1):
        records.append(TopicRecord(slug=slug(name), name=name, parent=None, position=position))
        records += [
            TopicRecord(slug=slug(f"{name} {part}"), name=part, parent=slug(name), position=part_position)
            for part_position, part in enumerate(parts, 1)
        ]
    return tuple(records)


TOPIC_SLUGS = tuple(record.slug for record in topic_records() if record.parent)


def papers(seed: int, year: int, count: int, people: Community) -> Iterator[PaperRecord]:
    """Yield the papers of a year. Each does not depend on the number of others."""
    for number in range(1, count + 1):
        yield paper(random.Random(f"{seed}:{year}:{number}"), year, number, people)


def paper(rng: random.Random, year: int, key: int, people: Community) -> PaperRecord:
    """Return a paper. Its title and its abstract share words."""
    uid, first = f"{year}-{key:05}", 1 + 12 * key
    method, second_method = rng.sample(words.METHODS, 2)
    initials = "".join(part[0] for part in method.replace("-", " ").split())
    fields = {
        "method": method,
        "method2": second_method,
        "goal": rng.choice(words.GOALS),
        "quality": rng.choice(words.QUALITIES),
        "tex": rng.choice(words.TEX),
        "name": f"{initials}{rng.choice(('Net', 'former', 'Bench', '++', 'Lite', 'Flow'))}",
    }
    goal = fields["goal"].lower()
    # One author presents the paper, and the last is the corresponding author.
    team = people.team(rng, rng.choices(TEAM_SIZES, TEAM_WEIGHTS)[0])
    presenter = 0 if rng.random() < 0.8 else rng.randrange(len(team))
    return PaperRecord(
        uid=uid,
        title=rng.choice(words.TITLES).format(**fields),
        abstract=abstract(fields, rng),
        lay_summary=f"We make {goal} easier to study." if rng.random() < 0.1 else "",
        track=rng.choices(list(words.TRACKS), list(words.TRACKS.values()))[0],
        topic=rng.choice(TOPIC_SLUGS),
        keywords=(method.lower(), goal),
        decision="Accept",
        status=rng.choices(list(STATES), list(STATES.values()))[0],
        doi=f"10.5555/plenary.{year}.{key:05}",
        pages=f"{first}-{first + 11}",
        authors=tuple(
            AuthorRecord(
                person=member.ref,
                affiliations=(member.institution,),
                institutions=(slug(member.institution),),
                corresponding=index == len(team) - 1,
                presenting=index == presenter,
            )
            for index, member in enumerate(team)
        ),
        materials=(
            MaterialRecord(kind="pdf", url=f"https://example.org/papers/{uid}.pdf"),
            *(
                MaterialRecord(kind=kind, url=f"https://example.org/{kind}/{uid}", label=label)
                for kind, share, label in MATERIALS
                if rng.random() < share
            ),
        ),
    )


def abstract(fields: dict[str, str], rng: random.Random) -> str:
    """Return random sentences, in two paragraphs if there are many."""
    lower_fields = {key: text if key == "name" else text.lower() for key, text in fields.items()}
    sentences = [
        sentence.format(**lower_fields, number=rng.randint(2, 90), share=rng.randint(2, 45))
        for sentence in rng.sample(words.SENTENCES, rng.randint(*SENTENCES))
    ]
    if len(sentences) < SENTENCES[1]:
        return " ".join(sentences)
    return f"{' '.join(sentences[:5])}\n\n{' '.join(sentences[5:])}"
