"""A program of which one half changes in tests, while the other half stays."""

from conference.models import Edition
from tests import factories as make


def make_two_sets() -> Edition:
    """Create two unrelated sets of rows of each model; the rows of a set refer to each other."""
    edition = make.make_edition()
    for name in ("one", "two"):
        person = make.make_person(name.title(), uid=f"p-{name}")
        topic = make.make_topic(edition, slug=f"t-{name}")
        paper = make.make_paper(edition, [person], uid=name, topic=topic)
        paper.authorships.get().institutions.add(make.make_institution(slug=f"i-{name}"))
        make.make_material(paper)
        make.make_award(edition, [paper], uid=f"a-{name}")
        session = make.make_session(edition, uid=f"s-{name}", room=make.make_room(edition, slug=f"r-{name}"))
        make.add_role(session, make.make_person(f"Chair {name}", uid=f"c-{name}"))
        make.make_presentation(session, paper, uid=f"t-{name}")
    return edition
