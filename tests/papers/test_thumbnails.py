"""Tests of thumbnails of papers: made of a stored teaser or PDF, small, with their size in the row."""

import io
import re
from pathlib import Path

import pytest
from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.files.base import ContentFile
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from PIL import Image
from pytest_django import DjangoCaptureOnCommitCallbacks

from conference.models import Edition
from content.history import RowChange
from papers.models import Paper
from papers.thumbnails import make_thumbnail
from tests import factories as make
from tests.html_pages import read

pytestmark = pytest.mark.django_db


def make_picture(
    form: str = "PNG", size: tuple[int, int] = (800, 400), mode: str = "RGB"
) -> ContentFile[bytes]:
    file = io.BytesIO()
    Image.new(mode, size, "red").save(file, form)
    return ContentFile(file.getvalue(), f"picture.{form.lower()}")


def shown_thumbnails(client: Client) -> list[dict[str, str]]:
    return [image.attributes for image in read(client, "/2021/papers/").all("img", "thumb")]


def stored_thumbnail(paper: Paper) -> str:
    paper.refresh_from_db()
    return str(paper.thumbnail)


def test_thumbnail_is_of_the_teaser_or_else_of_the_first_page_of_the_pdf(
    client: Client,
    edition: Edition,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    paper = make.make_paper(edition)
    with django_capture_on_commit_callbacks(execute=True):
        material = make.make_material(paper)
        material.file.save("paper.pdf", make_picture("PDF", (600, 800)))
    of_pdf = stored_thumbnail(paper)
    (image,) = shown_thumbnails(client)
    content = (Path(settings.MEDIA_ROOT) / of_pdf).read_bytes()

    assert re.fullmatch(r"thumbnails/[0-9a-f]{12}-[0-9a-f]{16}-320x240\.webp", of_pdf)
    assert (image["src"], image["width"], image["height"]) == (f"/media/{of_pdf}", "320", "240")
    assert client.get(image["src"]).headers["Content-Type"] == "image/webp"
    assert (image["alt"], image["loading"]) == ("", "lazy")
    assert (content[8:12], len(content) < 7_000) == (b"WEBP", True)
    assert read(client, paper.get_absolute_url()).all("img", "thumb")[0].attributes["src"] == image["src"]

    with django_capture_on_commit_callbacks(execute=True):
        paper.teaser.save("teaser.png", make_picture(mode="RGBA"))
    of_teaser = stored_thumbnail(paper)
    assert of_teaser.endswith("-320x160.webp")

    with django_capture_on_commit_callbacks(execute=True):
        paper.teaser = ""
        paper.save()
    assert stored_thumbnail(paper) == of_pdf

    with django_capture_on_commit_callbacks(execute=True):
        material.visible = False
        material.save()
    assert stored_thumbnail(paper) == ""
    assert shown_thumbnails(client) == []


@pytest.mark.parametrize("changes", [{"kind": "slides"}, {"file": "", "url": "https://example.org/a.pdf"}])
def test_thumbnail_goes_when_the_material_is_no_longer_an_uploaded_pdf(
    edition: Edition,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
    changes: dict[str, str],
) -> None:
    paper = make.make_paper(edition)
    with django_capture_on_commit_callbacks(execute=True):
        material = make.make_material(paper)
        material.file.save("paper.pdf", make_picture("PDF", (600, 800)))
    assert stored_thumbnail(paper)

    with django_capture_on_commit_callbacks(execute=True):
        for name, value in changes.items():
            setattr(material, name, value)
        material.save()

    assert stored_thumbnail(paper) == ""


def test_thumbnail_goes_with_a_pdf_that_is_moved_to_another_paper(
    edition: Edition, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    paper, other_paper = make.make_paper(edition), make.make_paper(edition)
    with django_capture_on_commit_callbacks(execute=True):
        make.make_material(paper).file.save("paper.pdf", make_picture("PDF", (600, 800)))
    thumbnail = stored_thumbnail(paper)

    with django_capture_on_commit_callbacks(execute=True):
        material = paper.materials.get()
        material.paper = other_paper
        material.save()

    assert thumbnail
    assert (stored_thumbnail(paper), stored_thumbnail(other_paper)) == ("", thumbnail)


def test_same_file_is_rendered_once(edition: Edition, monkeypatch: pytest.MonkeyPatch) -> None:
    paper = make.make_paper(edition)
    paper.teaser.save("teaser.png", make_picture())
    make_thumbnail.call(paper.pk)
    name = stored_thumbnail(paper)
    monkeypatch.setattr("subprocess.run", lambda *_args, **_kwargs: pytest.fail("rendered again"))

    make_thumbnail.call(paper.pk)

    assert stored_thumbnail(paper) == name
    assert not any("thumbnail" in change.values for change in RowChange.objects.all())


@pytest.mark.parametrize("content", [b"%PDF-1.7 broken", b"no picture"])
def test_broken_file_has_no_thumbnail(edition: Edition, content: bytes) -> None:
    paper = make.make_paper(edition)
    make.make_material(paper).file.save("paper.pdf", ContentFile(content))

    make_thumbnail.call(paper.pk)

    assert stored_thumbnail(paper) == ""


@pytest.mark.parametrize(
    "file", [ContentFile(b"no picture", "a.png"), ContentFile(make_picture("JPEG").read()[:400], "cut.jpg")]
)
def test_teaser_that_is_no_complete_picture_is_refused(edition: Edition, file: ContentFile[bytes]) -> None:
    paper = make.make_paper(edition)
    paper.teaser = SimpleUploadedFile(str(file.name), file.read())

    with pytest.raises(ValidationError) as error:
        paper.full_clean()

    assert [*error.value.message_dict] == ["teaser"]


def test_pdf_on_another_host_is_not_rendered(edition: Edition, monkeypatch: pytest.MonkeyPatch) -> None:
    paper = make.make_paper(edition)
    make.make_material(paper, url="https://example.org/paper.pdf")
    monkeypatch.setattr("subprocess.run", lambda *_args, **_kwargs: pytest.fail("rendered"))

    make_thumbnail.call(paper.pk)

    assert stored_thumbnail(paper) == ""


def test_similar_posters_and_posters_of_a_session_have_thumbnails(client: Client, edition: Edition) -> None:
    session = make.make_session(edition, kind="poster", counts_as="poster")
    viewed, other = (
        make.make_paper(edition, title=f"Sparse transformers {word}", keywords=["sparsity"])
        for word in ("today", "tomorrow")
    )
    for paper in (viewed, other):
        make.make_presentation(session, paper, kind="poster")
    name = "thumbnails/abc-def-320x240.webp"
    Paper.objects.filter(pk=other.pk).update(thumbnail=name)

    for page in (viewed.get_absolute_url(), session.get_absolute_url()):
        pictures = [picture.attributes for picture in read(client, page).all("img", "thumb")]
        assert [picture["src"] for picture in pictures] == [f"/media/{name}"]
        assert {(picture["width"], picture["height"], picture["loading"]) for picture in pictures} == {
            ("320", "240", "lazy")
        }
    assert read(client, f"/2021/schedule/{edition.day_of(session.start)}/").all("img", "thumb") == []
