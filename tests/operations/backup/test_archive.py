"""Archives: any damaged byte is detected, and archives contain no secrets."""

import fcntl
import json
import zipfile
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.core.management import CommandError, call_command

from conference.settings import env
from operations.backup.archive import Archive, BadArchiveError, settings_list, write
from operations.backup.restore import is_in_use, migrate_to
from tests import factories as make

pytestmark = pytest.mark.django_db(transaction=True)

AT = datetime(2026, 11, 22, tzinfo=UTC)


@pytest.fixture
def archive_path(tmp_path: Path) -> Path:
    make.make_paper(make.make_edition(), ["Ada", "Béla"])
    default_storage.save("logos/mark.png", ContentFile(b"\x89PNG" * 1000))
    return write(tmp_path / "a.zip", AT).path


def replace_member(archive_path: Path, member: str, content: bytes) -> Path:
    """Return a copy of an archive with other content of one member, and valid checksums of the ZIP format."""
    path = archive_path.with_name("b.zip")
    with zipfile.ZipFile(archive_path) as source, zipfile.ZipFile(path, "w") as target:
        for name in source.namelist():
            target.writestr(name, content if name == member else source.read(name))
    return path


def test_manifest_describes_the_archive(archive_path: Path) -> None:
    with Archive(archive_path) as archive:
        archive.check()
        assert {*archive.files} == {"logos/mark.png"}
        assert archive.tables["papers.authorship"]["rows"] == 2
        assert archive.manifest["made_at"] == "2026-11-22T00:00:00+00:00"
        assert "sessions.session" not in archive.tables
        assert not [label for label in archive.tables if label.startswith("search.")]


def test_site_with_only_accounts_is_in_use() -> None:
    assert is_in_use() is False
    User.objects.create_user("chair")

    assert is_in_use() is True


def test_archive_is_readable_by_its_owner_only(archive_path: Path) -> None:
    assert archive_path.stat().st_mode & 0o777 == 0o600


def test_backup_removes_temporary_files_of_killed_backups(tmp_path: Path) -> None:
    killed, running = (tmp_path / f".{name}.zip.x1y2z3" for name in ("killed", "running"))
    killed.touch()
    with running.open("wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        write(tmp_path / "a.zip", AT)

    assert {path.name for path in tmp_path.iterdir()} == {"a.zip", running.name}


@pytest.mark.parametrize("member", ["rows/papers.paper.jsonl", "media/logos/mark.png"])
def test_changed_content_is_detected(archive_path: Path, member: str) -> None:
    with (
        Archive(replace_member(archive_path, member, b"[]\n")) as archive,
        pytest.raises(BadArchiveError, match="damaged"),
    ):
        archive.check()


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_flipped_byte_is_detected(archive_path: Path, share: float) -> None:
    with zipfile.ZipFile(archive_path) as file:
        member = max(file.infolist(), key=lambda info: info.compress_size)
    start = member.header_offset + 30 + len(member.filename) + 20
    content = bytearray(archive_path.read_bytes())
    content[start + int((member.compress_size - 1) * share)] ^= 0xFF
    archive_path.write_bytes(content)

    with pytest.raises(CommandError):
        call_command("restore", archive_path, check=True)


@pytest.mark.parametrize("member", ["manifest.json", "rows/papers.paper.jsonl"])
def test_any_flipped_byte_of_a_member_is_reported(archive_path: Path, member: str) -> None:
    with zipfile.ZipFile(archive_path) as file:
        info = file.getinfo(member)
    content = archive_path.read_bytes()
    start, end = info.header_offset, info.header_offset + info.compress_size
    for position in range(start, end, max(1, (end - start) // 60)):
        damaged = bytearray(content)
        damaged[position] ^= 0xFF
        archive_path.write_bytes(damaged)
        with suppress(BadArchiveError), Archive(archive_path) as archive:
            archive.check()


@pytest.mark.parametrize("content", [b"", b"no zip", b"PK\x03\x04"])
def test_other_files_are_rejected(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.zip"
    path.write_bytes(content)

    with pytest.raises(CommandError, match="is no backup"):
        call_command("restore", path)


def test_archive_with_unknown_migrations_is_rejected(archive_path: Path) -> None:
    with pytest.raises(BadArchiveError, match=r"another version .* papers\.9999_to_come"):
        migrate_to([("papers", "9999_to_come")])


def test_failed_backup_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: Archive) -> None:
        raise BadArchiveError("The disk told lies.")

    monkeypatch.setattr(Archive, "check", fail)
    with pytest.raises(CommandError, match="No backup was made: The disk told lies"):
        call_command("backup", tmp_path / "new" / "a.zip")
    assert [*(tmp_path / "new").iterdir()] == []


def test_keep_option_deletes_older_backups(tmp_path: Path) -> None:
    for day in (1, 2, 3):
        (tmp_path / f"plenary-2020010{day}T000000Z.zip").touch()
    (tmp_path / "other.zip").touch()
    call_command("backup", tmp_path, keep=2, verbosity=0)

    names = sorted(path.name for path in tmp_path.glob("*.zip"))
    assert names[:2] == ["other.zip", "plenary-20200103T000000Z.zip"]
    assert len(names) == 3


def test_manifest_contains_no_secrets(archive_path: Path) -> None:
    with zipfile.ZipFile(archive_path) as file:
        settings = json.loads(file.read("manifest.json"))["settings"]

    assert settings["SITE_URL"].startswith("http")
    assert {settings.get(name, "(set)") for name in ("SECRET_KEY", "DATABASE_URL", "METRICS_TOKEN")} == {
        "(set)"
    }


def test_manifest_masks_address_and_header_of_purges(monkeypatch: pytest.MonkeyPatch) -> None:
    secrets = {"PURGE_HEADER": "Fastly-Key: abc", "PURGE_URL": "https://me:abc@cdn.example/"}
    monkeypatch.setattr(env, "dump", lambda: {**secrets, "SITE_NAME": "Plenary"})

    assert settings_list() == {"PURGE_HEADER": "(set)", "PURGE_URL": "(set)", "SITE_NAME": "Plenary"}


def test_keep_option_counts_no_archives_with_other_names(tmp_path: Path) -> None:
    (tmp_path / "plenary-before-upgrade.zip").touch()
    call_command("backup", tmp_path, keep=1, verbosity=0)

    names = sorted(path.name for path in tmp_path.glob("*.zip"))
    assert names[1:] == ["plenary-before-upgrade.zip"]
    assert len(names) == 2


def test_file_that_is_deleted_during_a_backup_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    default_storage.save("logos/mark.png", ContentFile(b"x"))
    monkeypatch.setattr(
        "operations.backup.archive.stored_files", lambda: ["logos/deleted.png", "logos/mark.png"]
    )
    path = write(tmp_path / "a.zip", AT).path

    with Archive(path) as archive:
        assert [*archive.files] == ["logos/mark.png"]
