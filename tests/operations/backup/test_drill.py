"""The drill of docs/deploying.md: back up, lose all data, restore, check; and change the database engine."""

import json
import shutil
import subprocess
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.processes import make_tables, manage, output, start

# A program with data that is easily lost: order, many-to-many relations, files, accents, times, accounts.
SEED = """
from django.contrib.auth.models import Group, Permission, User
from django.core.files.base import ContentFile
from tests import factories as make
from tests.website.sample_program import make_public_program
program = make_public_program()
edition, person = program["edition"], make.make_person("Zoë 李 Łukasz", email="zoe@example.org")
person.photo.save("zoe.png", ContentFile(bytes(range(256)) * 4000))
make.make_person("Yves").photo.save("yves.png", ContentFile(b"yves"))
paper = make.make_paper(edition, [person, "Ada", "Béla"], title="$a_1$ & naïve", keywords=["x", "ü"])
paper.authorships.get(position=2).institutions.add(make.make_institution())
group = Group.objects.create(name="chairs")
group.permissions.add(Permission.objects.get(codename="change_paper"))
User.objects.create_user("chair", "chair@example.org", "correct horse").groups.add(group)
"""
# Checks `verify`, statistics, an account, pages, the search index and new rows.
CHECK_SITE = """
from django.contrib.auth import authenticate
from django.core.management import call_command
from django.test import Client, override_settings
from papers.models import Paper
from tests.operations.test_table_statistics import papers_in_statistics
print(papers_in_statistics() == Paper.objects.count())
call_command("verify", verbosity=0)
user = authenticate(username="chair", password="correct horse")
plain = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
override_settings(STORAGES={"default": plain, "staticfiles": plain}).enable()
client = Client(SERVER_NAME="127.0.0.1")
page = client.get(Paper.objects.get(title__contains="naïve").get_absolute_url())
results = client.get("/search/?q=lukasz").content.decode()
new = Paper.objects.create(edition=Paper.objects.first().edition, title="New")
print(user.has_perm("papers.change_paper"), "Béla" in page.content.decode(), "Zoë 李" in results, new.pk > 0)
"""

BACKUP = """
from django.core.management import call_command
call_command("backup", {target!r})
"""


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of an installation on SQLite with a program and an archive. Tests use copies."""
    folder = tmp_path_factory.mktemp("drill") / "first"
    make_tables(folder)
    assert "verified." in output(start(folder, SEED + BACKUP.format(target=str(archive_of(folder)))))
    return folder


@pytest.fixture
def seeded(original: Path, tmp_path: Path) -> Path:
    """Return a copy of the installation for one test."""
    shutil.copy(archive_of(original), archive_of(tmp_path / "first"))
    return Path(shutil.copytree(original, tmp_path / "first"))


def archive_of(folder: Path) -> Path:
    """Return the path of the archive that was made of an installation before the test."""
    return folder.with_suffix(".zip")


def restore(folder: Path, archive: Path, **env: str) -> None:
    result = manage(folder, "restore", str(archive), **env)
    assert result.returncode == 0, result.stderr


def backup(folder: Path, target: Path, **env: str) -> Path:
    """Back up a site and check that it works, in one new process."""
    lines = output(start(folder, BACKUP.format(target=str(target)) + CHECK_SITE, **env)).splitlines()
    assert "verified." in lines[0]
    assert " ".join(lines[1:]).split() == ["True"] * 5
    return target


def read_archive(archive: Path) -> tuple[dict[str, list[Any]], dict[str, bytes]]:
    """Return rows by table and files of an archive, without the site's revision, which restoring advances."""
    with zipfile.ZipFile(archive) as file:
        names = [name for name in file.namelist() if name.startswith("rows/") and "siterevision" not in name]
        rows = {name: [json.loads(line) for line in file.read(name).splitlines()] for name in names}
        media = {name: file.read(name) for name in file.namelist() if name.startswith("media/")}
    return rows, media


@pytest.mark.anywhere
def test_drill_on_sqlite(seeded: Path, tmp_path: Path) -> None:
    first = archive_of(seeded)
    restore(tmp_path / "second", first)
    second = backup(tmp_path / "second", tmp_path / "second.zip")

    assert read_archive(second) == read_archive(first)
    assert len(read_archive(first)[1]) == 2


@pytest.mark.server
def test_drill_to_postgresql_and_back(seeded: Path, tmp_path: Path, postgres: str) -> None:
    first = archive_of(seeded)
    restore(tmp_path / "second", first, DATABASE_URL=postgres)
    second = backup(tmp_path / "second", tmp_path / "second.zip", DATABASE_URL=postgres)
    restore(tmp_path / "third", second)
    third = backup(tmp_path / "third", tmp_path / "third.zip")

    assert read_archive(first) == read_archive(second) == read_archive(third)


# A restore that fails after copying files, with one photo newer and one deleted. Prints remaining files.
FAIL_RESTORE = """
from pathlib import Path
from unittest import mock
from django.conf import settings
from operations.backup import restore
from operations.backup.archive import Archive
deleted, changed = sorted(file for file in Path(settings.MEDIA_ROOT).rglob("*") if file.is_file())
changed.write_bytes(b"newer")
deleted.unlink()
with (
    Archive(Path({archive!r})) as archive,
    mock.patch.object(restore, "outdate_cached_pages", side_effect=OSError("full")),
):
    try:
        restore.restore(archive)
    except OSError as error:
        files = [file for file in Path(settings.MEDIA_ROOT).rglob("*") if file.is_file()]
        print(error, [(file == changed, file.read_bytes()) for file in files])
"""


@pytest.mark.anywhere
def test_failed_restore_keeps_the_files(seeded: Path) -> None:
    text = output(start(seeded, FAIL_RESTORE.format(archive=str(archive_of(seeded)))))

    assert text == "full [(True, b'newer')]\n"


@pytest.mark.anywhere
def test_restore_replaces_data_only_with_the_replace_option(seeded: Path) -> None:
    before = read_media(seeded)
    photo = min(before)
    photo.write_bytes(b"newer")
    rejected = manage(seeded, "restore", str(archive_of(seeded)))

    assert (rejected.returncode, "--replace" in rejected.stderr) == (1, True)
    assert photo.read_bytes() == b"newer"
    result = manage(seeded, "restore --replace", str(archive_of(seeded)))
    assert result.returncode == 0, result.stderr
    assert read_media(seeded) == before


@pytest.mark.anywhere
def test_backup_during_writes_is_consistent(seeded: Path, tmp_path: Path) -> None:
    files = [tmp_path / f"{number}.zip" for number in range(3)]
    command = "from django.core.management import call_command\n"
    command += "\n".join(f"call_command('backup', {str(file)!r})" for file in files)
    with concurrent_writer(seeded) as writer:
        assert output(start(seeded, command)).count("verified.") == 3
        assert writer.poll() is None
    backups = [read_archive(file)[0] for file in files]

    paper_counts = [len(tables["rows/papers.paper.jsonl"]) for tables in backups]
    assert [len(tables["rows/papers.material.jsonl"]) for tables in backups] == [
        2 * count for count in paper_counts
    ]


# Another connection writes during the snapshot of a new process.
WRITE_DURING_SNAPSHOT = """
import sqlite3
from django.conf import settings
from operations.backup.archive import snapshot
from people.models import Person
with snapshot():
    before = Person.objects.count()
    other = sqlite3.connect(settings.DATABASES["default"]["NAME"], timeout=0)
    other.execute("UPDATE people_person SET email = 'new@example.org'")
    other.commit()
    print(before, Person.objects.filter(email="new@example.org").count())
print(Person.objects.filter(email="new@example.org").count())
"""


@pytest.mark.anywhere
def test_writer_does_not_wait_for_a_backup(seeded: Path) -> None:
    before, inside, after = map(int, output(start(seeded, WRITE_DURING_SNAPSHOT)).split())

    assert (inside, after) == (0, before)
    assert before > 0


def read_media(folder: Path) -> dict[Path, bytes]:
    return {file: file.read_bytes() for file in (folder / "media").rglob("*") if file.is_file()}


@contextmanager
def concurrent_writer(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Run a process that writes continuously during the block."""
    writer = start(folder, WRITER)
    try:
        assert writer.stdout is not None
        writer.stdout.readline()
        yield writer
    finally:
        writer.kill()
        writer.communicate()


# Adds papers with two materials each; many of them between any two queries of a backup.
WRITER = """
from itertools import count
from django.db import transaction
from conference.models import Edition
from papers.models import Material, Paper
from tests import factories as make
Material.objects.all().delete()
Paper.objects.all().delete()
edition = Edition.objects.get(slug="2021")
for number in count():
    with transaction.atomic():
        paper = make.make_paper(edition)
        make.make_material(paper)
        make.make_material(paper, "video")
    if number == 3:
        print("writing", flush=True)
"""


# Reverts one migration, and writes an archive as the older version would have written it.
WRITE_OLDER_ARCHIVE = """
from datetime import UTC, datetime
from pathlib import Path
from django.core.management import call_command
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from operations.backup import archive as writer
graph = MigrationLoader(connection).graph
leaves = [leaf for leaf in graph.leaf_nodes() if not graph.node_map[leaf].children]
nodes = {{leaf: graph.node_map[leaf] for leaf in leaves}}
parents = {{leaf: [node.key for node in nodes[leaf].parents if node.key[0] == leaf[0]] for leaf in leaves}}
leaf, (parent, *_) = next((leaf, keys) for leaf, keys in parents.items() if keys and leaf[0] in {apps})
call_command("migrate", *parent, verbosity=0)
targets = [parent if node == leaf else node for node in graph.leaf_nodes()]
writer.apps = MigrationLoader(connection).project_state(targets).apps
writer.migrations = lambda: [list(target) for target in targets]
writer.write(Path({path!r}), datetime.now(UTC))
print(*leaf)
"""


@pytest.mark.anywhere
def test_archive_of_an_older_version_is_restored(seeded: Path, tmp_path: Path) -> None:
    older = tmp_path / "older.zip"
    # An app with more than one migration; the project's own apps may have only one.
    apps = {"auth"}
    output(start(seeded, WRITE_OLDER_ARCHIVE.format(apps=apps, path=str(older))))
    restore(tmp_path / "second", older)
    newer = backup(tmp_path / "second", tmp_path / "second.zip")

    assert migrations(newer) != migrations(older)
    assert read_archive(newer)[1] == read_archive(older)[1]


def migrations(archive: Path) -> list[list[str]]:
    with zipfile.ZipFile(archive) as file:
        migration_names: list[list[str]] = json.loads(file.read("manifest.json"))["migrations"]
    return migration_names
