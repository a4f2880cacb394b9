"""Archives: any damaged byte is detected, and archives contain no secrets."""

import fcntl
import json
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.core.management import CommandError, call_command

from operations.backup.archive import Archive, BadArchiveError, write
from operations.backup.restore import is_in_use, migrate_to
from tests import factories as make

pytestmark = pytest.mark.django_db(transaction=True)

AT = datetime(2026, 11, 22, tzinfo=UTC)


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    make.make_paper(make.make_edition(), ["Ada", "Béla"])
    default_storage.save("logos/mark.png", ContentFile(b"\x89PNG" * 1000))
    return write(tmp_path / "a.zip", AT).path


def rewritten(archive: Path, member: str, content: bytes) -> Path:
    """Return a copy of an archive with other content of one member, and valid checksums of the ZIP format."""
    path = archive.with_name("b.zip")
    with zipfile.ZipFile(archive) as source, zipfile.ZipFile(path, "w") as target:
        for name in source.namelist():
            target.writestr(name, content if name == member else source.read(name))
    return path


def test_manifest_describes_the_archive(archive: Path) -> None:
    with Archive(archive) as found:
        found.check()
        assert {*found.files} == {"logos/mark.png"}
        assert found.tables["papers.authorship"]["rows"] == 2
        assert found.manifest["made_at"] == "2026-11-22T00:00:00+00:00"
        assert "sessions.session" not in found.tables
        assert not [label for label in found.tables if label.startswith("search.")]


def test_accounts_alone_are_worth_asking_before_they_are_replaced() -> None:
    assert is_in_use() is False
    User.objects.create_user("chair")

    assert is_in_use() is True


def test_only_its_owner_reads_it(archive: Path) -> None:
    assert archive.stat().st_mode & 0o777 == 0o600


def test_what_a_killed_backup_left_is_removed_by_the_next(tmp_path: Path) -> None:
    killed, running = (tmp_path / f".{name}.zip.x1y2z3" for name in ("killed", "running"))
    killed.touch()
    with running.open("wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        write(tmp_path / "a.zip", AT)

    assert {one.name for one in tmp_path.iterdir()} == {"a.zip", running.name}


@pytest.mark.parametrize("member", ["rows/papers.paper.jsonl", "media/logos/mark.png"])
def test_changed_content_is_noticed(archive: Path, member: str) -> None:
    with (
        Archive(rewritten(archive, member, b"[]\n")) as found,
        pytest.raises(BadArchiveError, match="damaged"),
    ):
        found.check()


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_a_flipped_byte_is_noticed(archive: Path, share: float) -> None:
    with zipfile.ZipFile(archive) as file:
        member = max(file.infolist(), key=lambda one: one.compress_size)
    begin = member.header_offset + 30 + len(member.filename) + 20
    content = bytearray(archive.read_bytes())
    content[begin + int((member.compress_size - 1) * share)] ^= 0xFF
    archive.write_bytes(content)

    with pytest.raises(CommandError):
        call_command("restore", archive, check=True)


@pytest.mark.parametrize("content", [b"", b"no zip", b"PK\x03\x04"])
def test_other_files_are_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.zip"
    path.write_bytes(content)

    with pytest.raises(CommandError, match="is no backup"):
        call_command("restore", path)


def test_an_archive_with_unknown_migrations_is_refused(archive: Path) -> None:
    with pytest.raises(BadArchiveError, match=r"another version .* papers\.9999_to_come"):
        migrate_to([("papers", "9999_to_come")])


def test_a_failing_backup_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: Archive) -> None:
        raise BadArchiveError("The disk told lies.")

    monkeypatch.setattr(Archive, "check", fail)
    with pytest.raises(CommandError, match="No backup was made: The disk told lies"):
        call_command("backup", tmp_path / "new" / "a.zip")
    assert [*(tmp_path / "new").iterdir()] == []


def test_old_backups_go_when_asked(tmp_path: Path) -> None:
    for day in (1, 2, 3):
        (tmp_path / f"plenary-2020010{day}T000000Z.zip").touch()
    (tmp_path / "other.zip").touch()
    call_command("backup", tmp_path, keep=2, verbosity=0)

    names = sorted(path.name for path in tmp_path.glob("*.zip"))
    assert names[:2] == ["other.zip", "plenary-20200103T000000Z.zip"]
    assert len(names) == 3


def test_secrets_stay_at_home(archive: Path) -> None:
    with zipfile.ZipFile(archive) as file:
        said = json.loads(file.read("manifest.json"))["settings"]

    assert said["SITE_URL"].startswith("http")
    assert {said.get(name, "(set)") for name in ("SECRET_KEY", "DATABASE_URL", "METRICS_TOKEN")} == {"(set)"}
