"""Settings: one site URL, secrets from files, and errors for missing or unsafe values."""

from pathlib import Path

import pytest
from django.db import connection

from conference.environment import address_problems, hosts, mailers, problems, safe_database
from tests.processes import manage

PRODUCTION = {"SITE_URL": "https://program.example.org", "BEHIND_PROXY": "true"}


def safe_settings(**changes: object) -> dict[str, object]:
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
        "WARM_SECONDS": 0.0,
        "PURGE_METHOD": "PURGE",
        "PURGE_HEADER": "",
        "METRICS_TOKEN": "",
        "SENTRY_DSN": "",
        "MAILERS": {},
        "DEFAULT_FROM_EMAIL": "",
        "STORAGES": {"default": {"BACKEND": "django.core.files.storage.FileSystemStorage"}},
        **changes,
    }


@pytest.mark.parametrize(
    ("name", "changes"),
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
        ("WARM_SECONDS", {"WARM_SECONDS": -1.0}),
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
    name: str, changes: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("conference.environment.find_spec", lambda name: None)

    assert [line.partition(":")[0] for line in problems(safe_settings(**changes))] == [name]


@pytest.mark.parametrize(
    ("server", "options"),
    [
        (("m.example.org", 587, "user", "word"), {"use_tls": True, "username": "user", "password": "word"}),
        (("m.example.org", 465, "", ""), {"use_ssl": True}),
        (("localhost", 25, "", ""), {"use_tls": False}),
    ],
)
def test_mail_is_encrypted_except_on_localhost(
    server: tuple[str, int, str, str], options: dict[str, object]
) -> None:
    assert mailers("", *server[1:]) == {}
    common = {"host": server[0], "port": server[1], "timeout": 10}

    assert mailers(*server) == {"default": {"OPTIONS": {**common, **options}}}


def test_safe_settings_have_no_problems() -> None:
    assert problems(safe_settings()) == []


@pytest.mark.parametrize(
    "url", ["program.example.org", "ftp://x.org", "https://x.org/site", "https://u:p@x.org", "https://x:y"]
)
def test_invalid_site_url_is_refused(url: str) -> None:
    assert [line.partition(":")[0] for line in address_problems(url)] == ["SITE_URL"]


def test_allowed_hosts_are_site_host_extra_hosts_and_localhost() -> None:
    assert hosts("https://p.example.org:8443", ["old.example.org"]) == [
        "p.example.org",
        "old.example.org",
        "127.0.0.1",
        "localhost",
        "[::1]",
    ]


def test_all_refused_settings_are_reported_at_once(tmp_path: Path) -> None:
    process = manage(tmp_path, "check", SITE_URL="https://x.org", SECRET_KEY="short", METRICS_TOKEN="x")

    assert process.returncode == 1
    assert process.stderr.startswith("Plenary does not start.")
    assert "Traceback" not in process.stderr
    assert [name in process.stderr for name in ("BEHIND_PROXY", "SECRET_KEY", "METRICS_TOKEN")] == [True] * 3


@pytest.mark.parametrize(
    ("name", "value"),
    [("TRUSTED_PROXIES", "many"), ("DATABASE_URL", "nonsense"), ("SECRET_KEY_FILE", "/nowhere/key")],
)
def test_unreadable_setting_is_named(tmp_path: Path, name: str, value: str) -> None:
    process = manage(tmp_path, "check", **{name: value})

    assert process.returncode == 1
    assert name in process.stderr
    assert "Traceback" not in process.stderr


def test_setting_is_read_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "url").write_text("postgres://u:secret@db.example.org/plenary\n")
    script = "from django.conf import settings; print(settings.DATABASES['default']['HOST'])"
    process = manage(tmp_path, "shell -v 0 -c", script, DATABASE_URL_FILE=str(tmp_path / "url"))

    assert (process.stdout.strip(), process.returncode) == ("db.example.org", 0), process.stderr


@pytest.mark.django_db
@pytest.mark.skipif(connection.vendor != "postgresql", reason="needs PostgreSQL")
def test_postgresql_compiles_no_query() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SHOW jit")
        assert cursor.fetchone() == ("off",)


def test_pgbouncer_gets_no_options_that_it_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGOPTIONS", "-c work_mem=8MB")
    config = {"ENGINE": "django.db.backends.postgresql"}
    direct, pooled = (
        safe_database({**config}, is_pgbouncer, 10)["OPTIONS"] for is_pgbouncer in (False, True)
    )

    assert pooled == {"connect_timeout": 5}
    assert direct == {"connect_timeout": 5, "options": "-c jit=off -c lock_timeout=10s -c work_mem=8MB"}


def test_empty_folder_of_files_is_the_default_one(tmp_path: Path) -> None:
    script = "from django.conf import settings; print(settings.VAR_DIR == settings.BASE_DIR / 'var')"
    process = manage(tmp_path, "shell -v 0 -c", script, PLENARY_VAR_DIR="")

    assert (process.stdout.strip(), process.returncode) == ("True", 0), process.stderr


def test_check_deploy_reports_no_issues(tmp_path: Path) -> None:
    process = manage(tmp_path, "check --deploy --fail-level WARNING", **PRODUCTION)

    assert process.stdout.startswith("System check identified no issues"), process.stderr
    assert process.returncode == 0
