"""A form that cannot be saved, for a full disk or a lock, comes back with its values, and says why."""

import errno
import sqlite3
from collections.abc import Callable, Iterator
from datetime import timedelta
from io import BytesIO
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.contrib.auth.models import User
from django.core.files.storage import FileSystemStorage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import InternalError, OperationalError, connection
from django.test import Client, RequestFactory
from PIL import Image
from pytest_django import Settings

from api.models import Token
from content.storage.failures import failed_save
from content.storage.uploads import TemporaryUploads, upload_failure
from exchange.models import ImportJob
from papers.models import Material, Paper
from people.models import Person
from tests import factories as make
from tests.admin_forms import admin_url, formset
from tests.exchange.uploads import ADD_URL
from tests.html_pages import Page as HtmlPage

pytestmark = pytest.mark.django_db

PERSON = {
    "uid": "ada",
    "name": "Ada Lovelace",
    "homepage": "https://ada.example",
    **formset("names"),
    **formset("identifiers"),
}
ADVICE = "Nothing was saved. Tell the person who runs the site, then try again."


class FullDisk(FileSystemStorage):
    """A folder in which nothing can be stored."""

    number = errno.ENOSPC

    def _save(self, name: str, content: Any) -> str:
        # As a real one, it has read the file before.
        content.read()
        raise OSError(self.number, "cannot store")


class ReadOnlyDisk(FullDisk):
    number = errno.EROFS


@pytest.fixture(params=["FullDisk", "ReadOnlyDisk"])
def reason(request: pytest.FixtureRequest, settings: Settings) -> str:
    """Return what a form says while no file can be stored."""
    settings.STORAGES = {**settings.STORAGES, "default": {"BACKEND": f"{__name__}.{request.param}"}}
    is_full = request.param == "FullDisk"
    return f"The disk for uploaded files {'is full' if is_full else 'can’t be written to'}. {ADVICE}"


def photo(name: str = "ada.png") -> SimpleUploadedFile:
    buffer = BytesIO()
    Image.new("RGB", (2, 2)).save(buffer, "PNG")
    return SimpleUploadedFile(name, buffer.getvalue(), "image/png")


def values_of(page: Any, *names: str) -> dict[str, object]:
    form = page.context["adminform"].form
    return {name: form[name].value() for name in names}


def test_new_row_comes_back_with_its_values(admin_client: Client, reason: str) -> None:
    page = admin_client.post(admin_url(Person, "add"), {**PERSON, "photo": photo()})

    assert (page.status_code, page.headers["Retry-After"]) == (503, "30")
    assert page.context["adminform"].form.non_field_errors() == [reason]
    assert page.text.count(reason) == 1
    assert values_of(page, "name", "homepage") == {
        "name": "Ada Lovelace",
        "homepage": "https://ada.example",
    }
    assert 'value="https://ada.example"' in page.text
    assert not Person.objects.exists()


def test_changed_row_comes_back_with_its_values(admin_client: Client, reason: str) -> None:
    person = make.make_person("Ada")
    page = admin_client.post(
        admin_url(person, "change"), {**PERSON, "uid": person.uid, "name": "Augusta", "photo": photo()}
    )

    assert (page.status_code, values_of(page, "name")) == (503, {"name": "Augusta"})
    assert page.context["adminform"].form.non_field_errors() == [reason]
    person.refresh_from_db()
    assert (person.name, person.photo.name) == ("Ada", "")


def test_file_of_an_inline_keeps_the_values_of_all_rows(admin_client: Client, reason: str) -> None:
    materials = [{"kind": "pdf", "label": "Our slides", "file": photo("a.png"), "visible": "on"}]
    values = {"edition": make.make_edition().pk, "uid": "p1", "title": "A paper", "status": "draft"}
    rows = formset("authorships") | formset("presentations") | formset("materials", added=materials)
    page = admin_client.post(admin_url(Paper, "add"), {**values, **rows})
    inlines = {inline.formset.prefix: inline.formset for inline in page.context["inline_admin_formsets"]}

    assert (page.status_code, values_of(page, "title")) == (503, {"title": "A paper"})
    assert inlines["materials"].forms[0]["label"].value() == "Our slides"
    assert reason in page.text
    assert (Paper.objects.count(), Material.objects.count()) == (0, 0)


def test_form_is_saved_once_there_is_room(admin_client: Client, reason: str, settings: Settings) -> None:
    admin_client.post(admin_url(Person, "add"), {**PERSON, "photo": photo()})
    storage = "django.core.files.storage.InMemoryStorage"
    settings.STORAGES = {**settings.STORAGES, "default": {"BACKEND": storage}}
    page = admin_client.post(admin_url(Person, "add"), {**PERSON, "photo": photo()})

    assert page.status_code == 302
    assert Person.objects.get().photo.name


def caused_by(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


def sqlite_error(name: str) -> sqlite3.OperationalError:
    error = sqlite3.OperationalError()
    error.sqlite_errorname = name
    return error


DATABASE_ERRORS = {
    "The disk of the database is full.": [
        caused_by(OperationalError(), psycopg.errors.DiskFull()),
        caused_by(OperationalError(), sqlite_error("SQLITE_FULL")),
        caused_by(OperationalError(), sqlite_error("SQLITE_IOERR_WRITE")),
    ],
    "The database is read-only.": [
        caused_by(InternalError(), psycopg.errors.ReadOnlySqlTransaction()),
        caused_by(OperationalError(), sqlite_error("SQLITE_READONLY_DBMOVED")),
    ],
}


@pytest.mark.parametrize(
    ("error", "text"),
    [
        *((error, f"{reason} {ADVICE}") for reason, errors in DATABASE_ERRORS.items() for error in errors),
        (
            caused_by(OperationalError(), psycopg.errors.LockNotAvailable()),
            "Someone else is saving the same data. Nothing was saved: try again in a moment.",
        ),
    ],
)
def test_form_comes_back_if_the_database_cannot_write(
    admin_client: Client, monkeypatch: pytest.MonkeyPatch, error: Exception, text: str
) -> None:
    def fail(*args: object, **kwargs: object) -> None:
        raise error

    monkeypatch.setattr(Person, "save", fail)
    page = admin_client.post(admin_url(Person, "add"), PERSON)

    assert (page.status_code, values_of(page, "name")) == (503, {"name": "Ada Lovelace"})
    assert page.context["adminform"].form.non_field_errors() == [text]


@pytest.fixture
def read_only(transactional_db: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], None]]:
    """Yield a function after which the database refuses writes, as a standby and a protected file do."""

    def refuse_writes() -> None:
        connection.close()
        if connection.vendor == "sqlite":
            uri = f"{Path(connection.settings_dict['NAME']).as_uri()}?mode=ro"
            monkeypatch.setitem(connection.settings_dict, "NAME", uri)
        else:
            with connection.cursor() as cursor:
                cursor.execute("SET default_transaction_read_only = on")

    yield refuse_writes
    connection.close()
    monkeypatch.undo()


READ_ONLY = f"The database is read-only. {ADVICE}"


def test_form_comes_back_from_a_read_only_database(
    read_only: Callable[[], None], admin_client: Client
) -> None:
    person = make.make_person("Ada")
    read_only()
    added = admin_client.post(admin_url(Person, "add"), PERSON)
    changed = admin_client.post(admin_url(person, "change"), {**PERSON, "uid": person.uid, "name": "Augusta"})

    assert [page.status_code for page in (added, changed)] == [503, 503]
    assert [values_of(page, "name")["name"] for page in (added, changed)] == ["Ada Lovelace", "Augusta"]
    for page in (added, changed):
        assert page.context["adminform"].form.non_field_errors() == [READ_ONLY]
    person.refresh_from_db()
    assert person.name == "Ada"


def test_other_writes_to_a_read_only_database_say_so(
    read_only: Callable[[], None], admin_client: Client, client: Client
) -> None:
    edition = make.make_edition(2021)
    paper = make.make_paper(edition, uid="p1")
    chair = User.objects.create_superuser("chair", password="a long password")
    _, token = Token.objects.create(
        chair, expiry=timedelta(days=1), prefix="plenary_", name="app", scope=Token.Scope.WRITE
    )
    headers = {"Authorization": f"Bearer {token}"}
    headers["If-Match"] = client.get("/api/v1/papers/2021/p1/", headers=headers).headers["ETag"]
    read_only()
    for visitor in (client, admin_client):
        visitor.raise_request_exception = False
    answers = [
        client.post("/2021/agenda/stars/", {"star": ""}),
        client.post("/admin/login/", {"username": "chair", "password": "a long password"}),
        admin_client.post(admin_url(paper, "delete"), {"post": "yes"}),
        client.post(
            "/api/v1/papers/", {"edition": "2021", "title": "New"}, "application/json", headers=headers
        ),
        client.delete("/api/v1/papers/2021/p1/", headers=headers),
    ]
    pages = [client.get("/2021/papers/"), admin_client.get(admin_url(paper, "change"))]

    assert [answer.status_code for answer in answers] == [503] * 5
    assert [READ_ONLY in answer.text for answer in answers] == [True] * 5
    assert [answer.json() for answer in answers[3:]] == [{"detail": READ_ONLY}] * 2
    assert [page.status_code for page in pages] == [200, 200]
    assert Paper.objects.count() == 1


@pytest.mark.parametrize("error", [OperationalError(), OSError(errno.ECONNRESET, "reset"), ValueError()])
def test_other_errors_are_no_failed_saves(error: Exception) -> None:
    assert failed_save(error) is None


def test_other_pages_say_what_is_full(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: object, **kwargs: object) -> None:
        raise caused_by(OperationalError(), sqlite_error("SQLITE_FULL"))

    make.make_edition(2021)
    monkeypatch.setattr("schedule.agenda.agendas.create_agenda", fail)
    client.raise_request_exception = False
    page = client.post("/2021/agenda/stars/")

    assert (page.status_code, page.headers["Retry-After"]) == (503, "30")
    assert f"The disk of the database is full. {ADVICE}" in page.text


def test_page_of_the_admin_that_cannot_save_sends_its_form_again(
    admin_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    paper = make.make_paper(make.make_edition(2021), status="draft")
    address = admin_url(Paper, "changelist")
    choice = {"action": "publish", "_selected_action": [str(paper.pk)], "note": 'two\nlines & "quotes"'}
    choice["_confirmed"] = admin_client.post(address, choice).context["plan"].digest
    admin_client.raise_request_exception = False

    def fail(*args: object, **kwargs: object) -> None:
        raise caused_by(OperationalError(), sqlite_error("SQLITE_FULL"))

    with monkeypatch.context() as patch:
        patch.setattr("content.bulk.write", fail)
        page = admin_client.post(address, choice)
        password = {"old_password": "password", "new_password1": "a" * 12, "new_password2": "a" * 12}
        patch.setattr("django.contrib.auth.models.User.save", fail)
        secret_page = admin_client.post("/admin/password_change/", password)
    fields = [(tag.attributes["name"], tag.attributes["value"]) for tag in HtmlPage(page.text).all("input")]

    assert (page.status_code, secret_page.status_code) == (503, 503)
    assert f"The disk of the database is full. {ADVICE}" in page.text
    assert dict(fields) == {**choice, "_selected_action": str(paper.pk)}
    assert admin_client.post(address, dict(fields)).status_code == 302
    paper.refresh_from_db()
    assert paper.status == "published"
    assert "<input" not in secret_page.text


# Large uploads, which are written to the folder for temporary files while they arrive


def test_temporary_file_on_a_full_disk_is_dropped() -> None:
    handler = TemporaryUploads(RequestFactory().post("/"))
    handler.new_file("photo", "a.png", "image/png", None)
    handler.file.file = Path("/dev/full").open("wb")  # noqa: SIM115 # closed with the upload
    handler.receive_data_chunk(bytes(100), 0)

    assert handler.file_complete(100) is None
    assert vars(handler.request)["upload_failure"] == f"The disk for temporary files is full. {ADVICE}"


def test_form_comes_back_without_room_for_temporary_files(
    admin_client: Client, settings: Settings, tmp_path: Path
) -> None:
    settings.FILE_UPLOAD_MAX_MEMORY_SIZE = 10
    settings.FILE_UPLOAD_TEMP_DIR = tmp_path / "missing"
    page = admin_client.post(admin_url(Person, "add"), {**PERSON, "photo": photo()})
    reason = f"The disk for temporary files can’t be written to. {ADVICE}"

    assert (page.status_code, values_of(page, "name")) == (503, {"name": "Ada Lovelace"})
    assert page.context["adminform"].form.non_field_errors() == [reason]
    assert not Person.objects.exists()


def test_import_comes_back_with_its_choices(
    admin_client: Client, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    edition = make.make_edition(2021)
    values = {"edition": edition.pk, "format": "program_json"}

    def fail(*args: object, **kwargs: object) -> None:
        raise caused_by(OperationalError(), sqlite_error("SQLITE_FULL"))

    with monkeypatch.context() as patch:
        patch.setattr("exchange.jobs.uploads.store", fail)
        file = SimpleUploadedFile("program.json", b"{}")
        page = admin_client.post(ADD_URL, {**values, "sources": [file]})
    settings.FILE_UPLOAD_MAX_MEMORY_SIZE = 1
    settings.FILE_UPLOAD_TEMP_DIR = tmp_path / "missing"
    file = SimpleUploadedFile("program.json", b"{}")
    without_temporary = admin_client.post(ADD_URL, {**values, "sources": [file]})

    assert [page.status_code, without_temporary.status_code] == [503, 503]
    assert f"The disk of the database is full. {ADVICE}" in page.text
    assert f"The disk for temporary files can’t be written to. {ADVICE}" in without_temporary.text
    for response in (page, without_temporary):
        form = response.context["form"]
        assert (form["edition"].value(), form["format"].value()) == (str(edition.pk), "program_json")
    assert not ImportJob.objects.exists()


def test_request_without_uploads_has_no_failure() -> None:
    assert upload_failure(RequestFactory().post("/", {"a": "b"})) is None
