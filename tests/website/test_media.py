"""Uploaded files: who may read them, and who may cache them."""

from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.test import Client
from pytest_django import Settings

from conference.models import Edition
from papers.models import Paper
from people.models import Person
from tests import factories as make
from tests.access.world import World, make_world

pytestmark = pytest.mark.django_db
SLIDES_URL = "/media/material/slides.pdf"


@pytest.fixture
def paper() -> Paper:
    default_storage.save("material/slides.pdf", ContentFile(b"slides"))
    paper = make.make_paper(make.make_edition())
    make.make_material(paper, "slides", url="", file="material/slides.pdf")
    return paper


def test_slides_of_a_public_paper_are_public(client: Client, paper: Paper) -> None:
    response: Any = client.get(SLIDES_URL)
    unmodified = client.get(SLIDES_URL, headers={"If-None-Match": response["ETag"]})

    assert b"".join(response) == b"slides"
    assert response["Cache-Control"] == "public, max-age=0, must-revalidate"
    assert not response.has_header("Vary")
    assert (unmodified.status_code, unmodified.content) == (304, b"")


@pytest.mark.parametrize(
    "changes",
    [
        {"visible": False},
        {"paper__status": "draft"},
        {"paper__status": "withdrawn"},
        {"paper__edition__papers_public_from": None},
        {"file": "material/newer.pdf"},
    ],
)
def test_hidden_slides_are_404(client: Client, paper: Paper, changes: dict[str, Any]) -> None:
    etag = client.get(SLIDES_URL)["ETag"]
    material = paper.materials.get()
    for lookup, value in changes.items():
        *relations, name = lookup.split("__")
        row: Any = material
        for relation in relations:
            row = getattr(row, relation)
        setattr(row, name, value)
        row.save()

    assert client.get(SLIDES_URL).status_code == 404
    assert client.get(SLIDES_URL, headers={"If-None-Match": etag}).status_code == 404
    assert client.get("/media/logos/../material/slides.pdf").status_code == 404
    assert client.get("/media//material/slides.pdf").status_code == 404


def cache_control_for(world: World, user: str, url: str) -> str:
    """Return the header Cache-Control of a file for a user, or "" if the user may not read it."""
    response = world.client(user).get(url)
    return response["Cache-Control"] if response.status_code == 200 else ""


def test_unpublished_files_are_not_cached_and_only_for_staff_of_the_edition() -> None:
    world = make_world()
    for name, rows in (("ours", world.rows), ("theirs", world.other_rows)):
        default_storage.save(f"material/{name}.pdf", ContentFile(b"x"))
        make.make_material(rows["papers.paper"], "slides", url="", file=f"material/{name}.pdf")
    staff = ["session_chair", "viewer", "editor", "chair", "owner"]

    for user in [*staff, "superuser"]:
        assert cache_control_for(world, user, "/media/material/ours.pdf") == "private, no-store", user
    assert [
        cache_control_for(world, user, "/media/material/ours.pdf") for user in ("anonymous", "other")
    ] == ["", ""]
    assert [cache_control_for(world, user, "/media/material/theirs.pdf") for user in staff] == [""] * 5


def test_portrait_is_public_only_while_a_public_person_has_it(client: Client, settings: Settings) -> None:
    settings.PAGE_CACHE_STALE_SECONDS = 10.0
    for name in ("people/ada.png", "logos/mark.png"):
        default_storage.save(name, ContentFile(b"x"))
    edition = make.make_edition(logo="logos/mark.png", papers_public_from=None)
    make.make_paper(edition, [make.make_person("Ada", photo="people/ada.png")])
    portrait, logo = client.get("/media/people/ada.png"), client.get("/media/logos/mark.png")
    Edition.objects.update(papers_public_from=make.PAST)

    assert portrait.status_code == 404
    assert logo["Cache-Control"] == client.get("/media/people/ada.png")["Cache-Control"]
    assert logo["Cache-Control"] == "public, max-age=0, s-maxage=10, must-revalidate"
    Person.objects.update(photo="")
    assert client.get("/media/people/ada.png").status_code == 404


def test_public_file_takes_one_query(client: Client, paper: Paper, django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(1):
        assert client.get(SLIDES_URL).status_code == 200
