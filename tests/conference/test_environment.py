"""Settings: one site URL, secrets from files, and errors for missing or unsafe values."""

from pathlib import Path

import pytest

from conference.environment import address_problems, hosts, mailers, problems
from tests.processes import manage

PRODUCTION = {"SITE_URL": "https://program.example.org", "BEHIND_PROXY": "true"}


def values(**differing: object) -> dict[str, object]:
    """Return the settings of a safe installation, except for the given ones."""
    return {
        "SITE_URL": "https://program.example.org",
        "SECRET_KEY": "k3y" + "abcdefghij" * 5,
        "ALLOWED_HOSTS": ["program.example.org"],
        "DEBUG": False,
        "BEHIND_PROXY": True,
        "TRUSTED_PROXIES": 1,
        "LOG_FORMAT": "json",
        "TASK_BACKEND": "database",
        "PAGE_CACHE_STALE_SECONDS": 10.0,
        "SHARED_CACHE_SECONDS": 1,
        "PURGE_METHOD": "PURGE",
        "PURGE_HEADER": "",
        "METRICS_TOKEN": "",
        "SENTRY_DSN": "",
        "MAILERS": {},
        "DEFAULT_FROM_EMAIL": "",
        "STORAGES": {"default": {"BACKEND": "django.core.files.storage.FileSystemStorage"}},
        **differing,
    }


@pytest.mark.parametrize(
    ("name", "differing"),
    [
        ("SECRET_KEY", {"SECRET_KEY": "short"}),
        ("SECRET_KEY", {"SECRET_KEY": "a" * 60}),
        ("SECRET_KEY", {"SECRET_KEY": "django-insecure-" + "abcdefghij" * 5}),
        ("ALLOWED_HOSTS", {"ALLOWED_HOSTS": ["*"]}),
        ("DEBUG", {"DEBUG": True}),
        ("BEHIND_PROXY", {"BEHIND_PROXY": None, "TRUSTED_PROXIES": 0}),
        ("TRUSTED_PROXIES", {"BEHIND_PROXY": False}),
        ("TRUSTED_PROXIES", {"TRUSTED_PROXIES": -1}),
        ("LOG_FORMAT", {"LOG_FORMAT": "xml"}),
        ("PURGE_METHOD", {"PURGE_METHOD": "GET"}),
        ("PURGE_HEADER", {"PURGE_HEADER": "secret"}),
        ("PAGE_CACHE_STALE_SECONDS", {"PAGE_CACHE_STALE_SECONDS": -1.0}),
        ("SHARED_CACHE_SECONDS", {"SHARED_CACHE_SECONDS": -1}),
        ("TASKS", {"TASK_BACKEND": "celery"}),
        ("METRICS_TOKEN", {"METRICS_TOKEN": "guess"}),
        ("SENTRY_DSN", {"SENTRY_DSN": "https://key@errors.example.org/1"}),
        ("S3_BUCKET", {"STORAGES": {"default": {"BACKEND": "storages.backends.s3.S3Storage"}}}),
        ("EMAIL_FROM", {"MAILERS": mailers("mail.example.org", 587, "", "")}),
        ("EMAIL_FROM", {"MAILERS": mailers("localhost", 25, "", ""), "DEFAULT_FROM_EMAIL": "Program"}),
        ("EMAIL_FROM", {"DEFAULT_FROM_EMAIL": "program@example.org"}),
        ("SITE_URL", {"SITE_URL": "http://program.example.org", "TRUSTED_PROXIES": 0}),
    ],
)
def test_each_unsafe_setting_is_named(
    name: str, differing: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("conference.environment.find_spec", lambda name: None)

    assert [line.partition(":")[0] for line in problems(values(**differing))] == [name]


@pytest.mark.parametrize(
    ("way", "is_encrypted"),
    [
        (("m.example.org", 587, "user", "word"), {"use_tls": True, "username": "user", "password": "word"}),
        (("m.example.org", 465, "", ""), {"use_ssl": True}),
        (("localhost", 25, "", ""), {"use_tls": False}),
    ],
)
def test_mail_is_encrypted_but_on_this_machine(
    way: tuple[str, int, str, str], is_encrypted: dict[str, object]
) -> None:
    assert mailers("", *way[1:]) == {}
    known = {"host": way[0], "port": way[1], "timeout": 10}

    assert mailers(*way) == {"default": {"OPTIONS": {**known, **is_encrypted}}}


def test_safe_settings_are_taken() -> None:
    assert problems(values()) == []


@pytest.mark.parametrize(
    "url", ["program.example.org", "ftp://x.org", "https://x.org/site", "https://u:p@x.org", "https://x:y"]
)
def test_an_address_that_is_none_is_refused(url: str) -> None:
    assert [line.partition(":")[0] for line in address_problems(url)] == ["SITE_URL"]


def test_the_address_is_the_host_that_is_answered() -> None:
    assert hosts("https://p.example.org:8443", ["old.example.org"]) == [
        "p.example.org",
        "old.example.org",
        "127.0.0.1",
        "localhost",
        "[::1]",
    ]


def test_all_that_is_refused_is_told_at_once(tmp_path: Path) -> None:
    found = manage(tmp_path, "check", SITE_URL="https://x.org", SECRET_KEY="short", METRICS_TOKEN="x")

    assert found.returncode == 1
    assert found.stderr.startswith("Plenary does not start.")
    assert "Traceback" not in found.stderr
    assert [name in found.stderr for name in ("BEHIND_PROXY", "SECRET_KEY", "METRICS_TOKEN")] == [True] * 3


@pytest.mark.parametrize(
    ("name", "value"),
    [("TRUSTED_PROXIES", "many"), ("DATABASE_URL", "nonsense"), ("SECRET_KEY_FILE", "/nowhere/key")],
)
def test_what_cannot_be_read_is_named(tmp_path: Path, name: str, value: str) -> None:
    found = manage(tmp_path, "check", **{name: value})

    assert found.returncode == 1
    assert name in found.stderr
    assert "Traceback" not in found.stderr


def test_secrets_come_from_files(tmp_path: Path) -> None:
    (tmp_path / "url").write_text("postgres://u:secret@db.example.org/plenary\n")
    shown = "from django.conf import settings; print(settings.DATABASES['default']['HOST'])"
    found = manage(tmp_path, "shell -v 0 -c", shown, DATABASE_URL_FILE=str(tmp_path / "url"))

    assert (found.stdout.strip(), found.returncode) == ("db.example.org", 0), found.stderr


def test_check_deploy_is_clean(tmp_path: Path) -> None:
    found = manage(tmp_path, "check --deploy --fail-level WARNING", **PRODUCTION)

    assert found.stdout.startswith("System check identified no issues"), found.stderr
    assert found.returncode == 0
