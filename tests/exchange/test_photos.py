"""Tests of pictures of people: addresses in a file are fetched, stored and reverted with the import."""

import io
from collections.abc import Iterator
from dataclasses import replace

import pytest
from PIL import Image

from exchange.imports.load import Report, load
from exchange.jobs.photos import fetch_photos
from exchange.jobs.undo import undo
from exchange.records import PersonRef, PhotoRecord, Program
from people.models import Person
from tests.exchange.programs import author, paper, program
from tests.exchange.test_fetching import Site
from tests.factories import make_edition

pytestmark = pytest.mark.django_db
MIA = PersonRef(name="Mia Zed", ids=(("camp.test", "1"),))


def picture(kind: str = "PNG") -> bytes:
    content = io.BytesIO()
    Image.new("RGB", (2, 2)).save(content, kind)
    return content.getvalue()


@pytest.fixture
def site() -> Iterator[Site]:
    made = Site()
    made.policy = replace(made.policy, token="")
    yield made
    made.server.shutdown()
    made.server.server_close()


def pictured(site: Site) -> Program:
    return replace(
        program(replace(paper("p1"), authors=(replace(author("Mia Zed"), person=MIA),))),
        photos=(PhotoRecord(person=MIA, url=site.url),),
    )


def imported(site: Site, body: bytes, **options: bool) -> Report:
    site.script = [(200, {}, body)]
    found, photos = fetch_photos(pictured(site), site.policy, **options)
    return load(found, "2021", photos=photos)


def messages(report: Report) -> list[str]:
    return [note.message for note in report.notes if note.kind == "warning"]


def test_picture_comes_in_once_and_goes_with_the_import(site: Site) -> None:
    make_edition()
    report = imported(site, picture())
    mia = Person.objects.get()
    with mia.photo.open() as file:
        assert file.read() == picture()
    imported(site, picture())
    assert (len(site.asked), messages(report)) == (1, [])

    assert report.run
    undo(report.run)
    assert not Person.objects.exists()


def test_picture_comes_to_somebody_who_is_here_and_stays_removed(site: Site) -> None:
    make_edition()
    load(replace(pictured(site), photos=()), "2021")
    imported(site, picture("JPEG"))
    mia = Person.objects.get()
    assert str(mia.photo).endswith(f"{mia.uid}.jpg")
    mia.photo = ""
    mia.save()
    imported(site, picture())

    assert (len(site.asked), Person.objects.get().photo.name) == (1, "")


def test_what_is_no_picture_is_named_and_the_rest_comes_in(site: Site) -> None:
    make_edition()
    report = imported(site, b"<svg/>")

    assert messages(report) == ["The picture of Mia Zed is left out: The picture can’t be read."]
    assert Person.objects.get().photo.name == ""


def test_no_other_host_is_asked(site: Site) -> None:
    found, photos = fetch_photos(pictured(site))

    said = (
        "Pictures of people are left out, because the setting IMPORT_HOSTS does not name 127.0.0.1: Mia Zed."
    )
    assert ([note.message for note in found.notes], photos, site.asked) == ([said], {}, [])


def test_preview_fetches_nothing(site: Site) -> None:
    found, photos = fetch_photos(pictured(site), site.policy, dry_run=True)

    assert (found.notes, photos, site.asked) == ((), {}, [])


def two_pictured(site: Site) -> Program:
    second = PersonRef(name="Ann Yo", ids=(("camp.test", "2"),))
    one = pictured(site)
    return replace(one, photos=(*one.photos, PhotoRecord(person=second, url=f"{site.url}&second")))


def test_pictures_beyond_the_time_limit_are_counted(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("exchange.jobs.photos.MAX_TOTAL_SECONDS", 0)
    found, photos = fetch_photos(two_pictured(site), site.policy)

    said = "2 pictures are left out: Fetching took more than 0 seconds. Import the file again to fetch them."
    assert ([note.message for note in found.notes], photos, site.asked) == ([said], {}, [])


def test_no_retry_goes_beyond_the_time_limit(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("exchange.jobs.photos.MAX_TOTAL_SECONDS", 0.9)
    site.script = [(503, {}, b"")]
    found, photos = fetch_photos(pictured(site), site.policy)

    said = (
        f"The picture of Mia Zed is left out: {site.url.partition('?')[0]}: The site responded with 503. "
        "Tried 1 time. Try again later."
    )
    assert ([note.message for note in found.notes], photos, site.waited) == ([said], {}, [])


def test_no_more_is_fetched_than_an_import_may_take(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("exchange.jobs.photos.MAX_TOTAL_BYTES", 5_000_000)
    site.script = [(200, {}, picture())]
    found, photos = fetch_photos(two_pictured(site), site.policy)

    said = (
        "1 picture is left out: An import takes at most 5 MB of pictures. Import the file again to fetch it."
    )
    assert ([note.message for note in found.notes], len(photos), len(site.asked)) == ([said], 1, 1)
