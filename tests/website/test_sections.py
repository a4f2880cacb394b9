"""Sections of an edition: those with public content, however it was written."""

from collections.abc import Callable

import pytest

from conference.models import Edition
from people.models import Person
from tests import factories as make
from website.menu import filled_sections

pytestmark = pytest.mark.django_db

ADA = "Ada Lovelace"


def test_edition_without_public_content_has_no_sections(edition: Edition) -> None:
    make.make_person()
    draft = make.make_paper(edition, [ADA], status="draft")
    make.make_material(draft, "video")
    assert filled_sections(edition).sections == set()


@pytest.mark.parametrize(
    "add_appearance",
    [
        lambda edition, ada: make.make_paper(edition, [ada]),
        lambda edition, ada: make.make_presentation(make.make_session(edition), speakers=[ada]),
        lambda edition, ada: make.add_role(make.make_session(edition), ada),
        lambda edition, ada: make.make_committee_role(edition, ada),
        lambda edition, ada: make.make_award(edition, [ada]),
    ],
    ids=["paper", "talk", "session", "committee", "award"],
)
def test_each_kind_of_appearance_brings_the_people_section(
    edition: Edition, add_appearance: Callable[[Edition, Person], object]
) -> None:
    ada = make.make_person(ADA)
    add_appearance(edition, ada)
    assert "people" in filled_sections(edition).sections
    assert list(Person.objects.published()) == [ada]
    Person.objects.filter(pk=ada.pk).update(merged_into=make.make_person())
    assert "people" not in filled_sections(edition).sections


def test_award_of_a_paper_brings_no_people_section(edition: Edition) -> None:
    make.make_award(edition, [make.make_paper(edition)])
    assert filled_sections(edition).sections == {"papers", "awards"}


@pytest.mark.parametrize("recorded", ["session", "talk", "video", "nothing"])
def test_each_kind_of_recording_brings_the_recordings_section(edition: Edition, recorded: str) -> None:
    url = "https://example.org/watch"
    session = make.make_session(edition, recording_url=url if recorded == "session" else "")
    paper = make.make_paper(edition)
    make.make_presentation(session, paper=paper, recording_url=url if recorded == "talk" else "")
    make.make_material(paper, "video", visible=recorded == "video")
    make.make_material(make.make_paper(edition), "video")
    assert ("recordings" in filled_sections(edition).sections) == (recorded != "nothing")


def test_recording_of_another_edition_brings_no_section(edition: Edition) -> None:
    make.make_session(make.make_edition(2020), recording_url="https://example.org/watch")
    assert filled_sections(edition).sections == set()
