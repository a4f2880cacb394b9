"""Tests of photos of people: URLs in a file are fetched, and photos are stored and undone with the import."""

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
from tests.exchange.fake_site import FakeSite
from tests.exchange.programs import author, paper, program
from tests.factories import make_edition

pytestmark = pytest.mark.django_db
MIA = PersonRef(name="Mia Zed", ids=(("camp.test", "1"),))


def image_bytes(kind: str = "PNG") -> bytes:
    content = io.BytesIO()
    Image.new("RGB", (2, 2)).save(content, kind)
    return content.getvalue()


@pytest.fixture
def site() -> Iterator[FakeSite]:
    with FakeSite() as site:
        site.policy = replace(site.policy, token="")
        yield site


def program_with_photo(site: FakeSite) -> Program:
    return replace(
        program(replace(paper("p1"), authors=(replace(author("Mia Zed"), person=MIA),))),
        photos=(PhotoRecord(person=MIA, url=site.url),),
    )


def import_photo(site: FakeSite, body: bytes, **options: bool) -> Report:
    site.responses = [(200, {}, body)]
    fetched, photos = fetch_photos(program_with_photo(site), site.policy, **options)
    return load(fetched, "2021", photos=photos)


def warnings(report: Report) -> list[str]:
    return [note.message for note in report.notes if note.kind == "warning"]


def test_photo_is_fetched_once_and_removed_with_the_import(site: FakeSite) -> None:
    make_edition()
    report = import_photo(site, image_bytes())
    mia = Person.objects.get()
    with mia.photo.open() as file:
        assert file.read() == image_bytes()
    import_photo(site, image_bytes())
    assert (len(site.requested_paths), warnings(report)) == (1, [])

    assert report.run
    undo(report.run)
    assert not Person.objects.exists()


def test_import_of_only_a_photo_can_be_undone(site: FakeSite) -> None:
    make_edition()
    load(replace(program_with_photo(site), photos=()), "2021")
    report = import_photo(site, image_bytes())

    assert Person.objects.get().photo
    assert report.run
    undo(report.run)
    assert not Person.objects.get().photo


def test_photo_removed_by_hand_is_not_fetched_again(site: FakeSite) -> None:
    make_edition()
    load(replace(program_with_photo(site), photos=()), "2021")
    import_photo(site, image_bytes("JPEG"))
    mia = Person.objects.get()
    assert str(mia.photo).endswith(f"{mia.uid}.jpg")
    mia.photo = ""
    mia.save()
    import_photo(site, image_bytes())

    assert (len(site.requested_paths), Person.objects.get().photo.name) == (1, "")


def test_invalid_photo_is_reported_and_the_person_imported(site: FakeSite) -> None:
    make_edition()
    report = import_photo(site, b"<svg/>")

    assert warnings(report) == [
        (
            "The picture of Mia Zed is left out: "
            "The picture can’t be read: it is not a whole JPEG, PNG, WebP or GIF."
        )
    ]
    assert Person.objects.get().photo.name == ""


def test_photos_of_other_hosts_are_not_fetched(site: FakeSite) -> None:
    fetched, photos = fetch_photos(program_with_photo(site))

    message = (
        "Pictures of people are left out, because the setting IMPORT_HOSTS does not name 127.0.0.1: Mia Zed."
    )
    assert ([note.message for note in fetched.notes], photos, site.requested_paths) == ([message], {}, [])


def test_preview_fetches_no_photos(site: FakeSite) -> None:
    fetched, photos = fetch_photos(program_with_photo(site), site.policy, dry_run=True)

    assert (fetched.notes, photos, site.requested_paths) == ((), {}, [])


def program_with_two_photos(site: FakeSite) -> Program:
    second_person = PersonRef(name="Ann Yo", ids=(("camp.test", "2"),))
    first_program = program_with_photo(site)
    return replace(
        first_program,
        photos=(*first_program.photos, PhotoRecord(person=second_person, url=f"{site.url}&second")),
    )


def test_photos_beyond_the_time_limit_are_counted(site: FakeSite, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("exchange.jobs.photos.MAX_TOTAL_SECONDS", 0)
    fetched, photos = fetch_photos(program_with_two_photos(site), site.policy)

    message = (
        "2 pictures are left out: Fetching took more than 0 seconds. Import the file again to fetch them."
    )
    assert ([note.message for note in fetched.notes], photos, site.requested_paths) == ([message], {}, [])


def test_photo_is_not_retried_beyond_the_time_limit(site: FakeSite, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("exchange.jobs.photos.MAX_TOTAL_SECONDS", 0.9)
    site.responses = [(503, {}, b"")]
    fetched, photos = fetch_photos(program_with_photo(site), site.policy)

    message = (
        f"The picture of Mia Zed is left out: {site.url.partition('?')[0]}: The site responded with 503. "
        "Tried 1 time. Try again later."
    )
    assert ([note.message for note in fetched.notes], photos, site.waits) == ([message], {}, [])


def test_photos_beyond_the_size_limit_are_left_out(site: FakeSite, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("exchange.jobs.photos.MAX_TOTAL_BYTES", 5_000_000)
    site.responses = [(200, {}, image_bytes())]
    fetched, photos = fetch_photos(program_with_two_photos(site), site.policy)

    message = (
        "1 picture is left out: An import takes at most 5 MB of pictures. Import the file again to fetch it."
    )
    assert ([note.message for note in fetched.notes], len(photos), len(site.requested_paths)) == (
        [message],
        1,
        1,
    )
