"""Large pictures: which are rejected, which copies are stored, and who may read them."""

from io import BytesIO
from pathlib import Path

import pytest
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from PIL import Image

from conference import pictures
from conference.models import Edition, Sponsor
from tests import factories as make
from tests.html_pages import read

pytestmark = pytest.mark.django_db


def noise(width: int = 2000, height: int = 900, form: str = "JPEG") -> SimpleUploadedFile:
    """Return a picture that compresses badly."""
    file = BytesIO()
    image = Image.effect_noise((width // 4, height // 4), 90).resize((width, height)).convert("RGB")
    image.save(file, form)
    return SimpleUploadedFile("My Photo.JPG", file.getvalue())


def test_copies_are_small_named_by_content_and_in_two_formats(edition: Edition, tmp_path: Path) -> None:
    edition.hero = noise()
    edition.full_clean()
    edition.save()

    folder = tmp_path / "media" / "heroes"
    stem = Path(edition.hero.name).stem
    copies = {file.name.removeprefix(f"{stem}-"): file for file in folder.iterdir() if "-" in file.name}
    sizes = {name: Image.open(file).size for name, file in copies.items()}

    assert (len(stem), edition.hero.name) == (24, f"heroes/{stem}.jpg")
    assert sizes == {
        f"{width}.{form}": (width, round(width * 0.45))
        for width in (640, 1280, 1920)
        for form in ("avif", "webp")
    }
    assert max(copies[f"640.{form}"].stat().st_size for form in ("avif", "webp")) <= 60_000


def test_same_picture_is_stored_once(edition: Edition, tmp_path: Path) -> None:
    content = noise(300, 200, "PNG").read()
    for name in ("one.png", "two.png"):
        edition.hero = SimpleUploadedFile(name, content)
        edition.save()

    copies = [file for file in (tmp_path / "media" / "heroes").iterdir() if "-" in file.name]
    assert len(copies) == 6


@pytest.mark.parametrize(
    ("file", "message"),
    [
        (SimpleUploadedFile("a.jpg", b"no picture"), "This is not a picture."),
        (noise(40, 40, "GIF"), "Upload a JPEG, PNG, WebP or AVIF file."),
        (noise(40, 40, "EPS"), "This is not a picture. Upload a JPEG, PNG, WebP or AVIF file."),
    ],
)
def test_unsupported_file_is_refused(edition: Edition, file: SimpleUploadedFile, message: str) -> None:
    edition.hero = file

    with pytest.raises(ValidationError) as error:
        edition.full_clean()

    assert message in error.value.message_dict["hero"][0]


@pytest.mark.parametrize(
    ("file", "message"),
    [
        (noise(40, 40, "GIF"), ""),
        (noise(40, 40, "AVIF"), ""),
        (SimpleUploadedFile("a.jpg", b"no picture"), "This is not a picture."),
        (noise(40, 40, "EPS"), "This is not a picture. Upload a JPEG, PNG, WebP, AVIF or GIF file."),
        (noise(40, 40, "TIFF"), "This is not a picture."),
        (SimpleUploadedFile("cut.jpg", noise(400, 200).read()[:2000]), "This is not a picture."),
        (noise(400, 400), "This picture has more than 50 million pixels."),
        (SimpleUploadedFile("a.png", bytes(5_000_001)), "This picture is larger than 5 MB."),
    ],
)
def test_photos_and_logos_are_pictures_within_bounds(
    edition: Edition, monkeypatch: pytest.MonkeyPatch, file: SimpleUploadedFile, message: str
) -> None:
    monkeypatch.setattr(pictures, "MAX_PIXELS", 100_000)
    rows = [
        (make.make_person("Ada"), "photo"),
        (edition, "logo"),
        (edition.conference, "logo"),
        (Sponsor(edition=edition, name="A", slug="a"), "logo"),
    ]
    shown = []
    for row, field in rows:
        setattr(row, field, file)
        try:
            row.clean_fields(exclude={name.name for name in row._meta.fields} - {field})
        except ValidationError as error:
            shown += error.message_dict[field]

    # The same on each row; nothing for the first two files.
    assert [text[: len(message)] for text in shown] == ([message] * 4 if message else [])


def test_stored_photo_is_not_opened_again(tmp_path: Path) -> None:
    person = make.make_person("Ada")
    person.photo = "people/missing.jpg"
    person.full_clean()


def test_truncated_picture_is_refused(edition: Edition) -> None:
    whole = noise(400, 200).read()
    edition.hero = SimpleUploadedFile("cut.jpg", whole[: len(whole) // 2])

    with pytest.raises(ValidationError, match="not a picture"):
        edition.full_clean()


def test_picture_with_too_many_pixels_is_refused(edition: Edition, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "MAX_PIXELS", 100)
    edition.hero = noise(40, 40)

    with pytest.raises(ValidationError, match="pixels"):
        edition.full_clean()


def test_home_page_shows_the_picture_and_its_copies_instead_of_the_art(
    client: Client, edition: Edition
) -> None:
    edition.hero, edition.hero_focus = noise(400, 200), "top-left"
    edition.save()

    page = read(client, "/2021/")
    (picture,) = page.all("picture", "art")
    avif, webp = picture.inside("source")

    assert picture.attributes["class"] == "art focus-top-left"
    assert (avif.attributes["type"], webp.attributes["type"]) == ("image/avif", "image/webp")
    assert page.all("img", "art") == []
    for address in (picture.inside("img")[0].attributes["src"], avif.attributes["srcset"].split()[0]):
        response = client.get(address)
        assert response.status_code == 200
        assert response.headers["Cache-Control"] == "public, max-age=0, s-maxage=0, must-revalidate"


def test_copies_are_public_only_while_the_edition_shows_the_picture(client: Client, edition: Edition) -> None:
    edition.hero = noise(400, 200)
    edition.save()
    copy = f"/media/{Path(edition.hero.name).with_suffix('')}-640.webp"

    assert client.get(copy).status_code == 200
    Edition.objects.update(public_from=None)
    assert client.get(copy).status_code == 404
    Edition.objects.update(public_from=make.PAST, hero="")
    assert client.get(copy).status_code == 404


def test_picture_without_copies_is_shown_from_its_original_file(client: Client, edition: Edition) -> None:
    Edition.objects.update(hero="heroes/old.png")

    (picture,) = read(client, "/2021/").all("picture", "art")

    assert picture.inside("source") == []
    assert picture.inside("img")[0].attributes["src"] == "/media/heroes/old.png"
