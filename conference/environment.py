"""Reading and validation of settings from the environment, `.env`, or files named by `NAME_FILE`.

The settings themselves are in `conference.settings`. This module is imported before Django is set up.
"""

import os
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.core.exceptions import ValidationError
from django.core.management.utils import get_random_secret_key
from django.core.validators import validate_email
from environs import EnvError, FileAwareEnv

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
MIN_SECRET_CHARS = 50
MIN_DISTINCT_CHARS = 5
MIN_TOKEN_CHARS = 16
# The timeout of mail servers in seconds, and the port of SMTP over TLS.
MAIL_SECONDS, SMTPS = 10, 465
MISSING_PACKAGE = "needs a package of the extra “production”, which is not installed:"
PROXY = (
    "BEHIND_PROXY: SITE_URL begins with https. Say true where nginx or a load balancer speaks https in "
    "front, false where this process does so itself; a wrong guess would redirect every visitor in circles."
)


def environment(folder: Path) -> FileAwareEnv:
    """Return the reader of settings. The environment takes precedence over `.env`."""
    env = FileAwareEnv(strip_whitespace=True)
    env.read_env(str(folder / ".env"), recurse=False)
    return env


def stored_key(path: Path) -> str:
    """Return the secret key of the installation; create it first if needed, readable by its owner only."""
    if not path.exists():
        path.touch(mode=0o600)
        path.write_text(get_random_secret_key())
    return path.read_text().strip()


def mailers(host: str, port: int, user: str, password: str) -> dict[str, dict[str, object]]:
    """Return the setting `MAILERS`, with TLS unless the host is this machine; empty without a host."""
    if not host:
        return {}
    options: dict[str, object] = {"host": host, "port": port, "timeout": MAIL_SECONDS}
    options |= {"username": user, "password": password} if user else {}
    options |= {"use_ssl": True} if port == SMTPS else {"use_tls": host not in LOOPBACK}
    return {"default": {"OPTIONS": options}}


def safe_database(config: dict[str, Any], pgbouncer: bool, lock_seconds: int) -> dict[str, Any]:
    """Return the settings of a database, for concurrent writers on SQLite, and for PgBouncer.

    `lock_seconds`: how long a statement waits for the lock of another transaction; 0 means without limit.
    """
    if config["ENGINE"].endswith("sqlite3"):
        # With WAL, readers never wait for writers. With IMMEDIATE, writers take the lock when they begin.
        pragmas = "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA cache_size=-8000;"
        config["OPTIONS"] = {"transaction_mode": "IMMEDIATE", "timeout": 20, "init_command": pragmas}
        return config
    config["CONN_MAX_AGE"] = 60
    config["CONN_HEALTH_CHECKS"] = True
    config["DISABLE_SERVER_SIDE_CURSORS"] = pgbouncer
    defaults: dict[str, object] = {"connect_timeout": 5}
    if not pgbouncer:
        # Compiling a query with many subqueries takes PostgreSQL seconds, running it milliseconds. PgBouncer
        # refuses these parameters, so docs/deploying.md sets them in the database.
        own = f"-c jit=off -c lock_timeout={lock_seconds}s"
        defaults["options"] = f"{own} {os.environ.get('PGOPTIONS', '')}".strip()
    config["OPTIONS"] = defaults | config.get("OPTIONS", {})
    return config


def with_short_timeouts(config: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of a replica whose machine is given up after seconds, as the primary can answer."""
    if config["ENGINE"].endswith("postgresql"):
        timeouts = {"connect_timeout": 2, "tcp_user_timeout": 5000, "keepalives_idle": 5}
        config["OPTIONS"] = timeouts | config.get("OPTIONS", {})
    return config


def bucket_timeouts() -> dict[str, object]:
    """Return options of django-storages with which a bucket that does not answer is given up in seconds."""
    if not find_spec("botocore"):
        # The missing package is one of the `problems`.
        return {}
    from botocore.config import Config  # type: ignore[import-not-found, unused-ignore]

    config = Config(connect_timeout=3, read_timeout=20, retries={"total_max_attempts": 2})
    return {"client_config": config}


def site_host(url: str) -> str:
    """Return the host of a URL in the form of a Host header, without port; empty if there is none."""
    host = urlsplit(url).hostname or ""
    return f"[{host}]" if ":" in host else host


def hosts(url: str, other_hosts: list[str]) -> list[str]:
    """Return the allowed hosts: that of the site, others from settings, and loopback names for probes."""
    return [*dict.fromkeys(filter(None, [site_host(url), *other_hosts, *LOOPBACK]))]


def address_problems(url: str) -> list[str]:
    """Return the reasons why this URL cannot be that of the site."""
    try:
        parts = urlsplit(url)
        _port = parts.port
    except ValueError as error:
        return [f"SITE_URL: “{url}” is no address ({error})."]
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        return [f"SITE_URL: “{url}” is no address. Write it whole, such as https://program.example.org."]
    if parts.path or parts.query or parts.fragment or parts.username:
        return [f"SITE_URL: “{url}” has more than a host. The site stands at the root of its host."]
    if parts.scheme == "http" and site_host(url) not in LOOPBACK:
        return [f"SITE_URL: “{url}” is not https. Passwords would cross the network for all to read."]
    return []


def is_email(text: str) -> bool:
    try:
        validate_email(text)
    except ValidationError:
        return False
    return True


def problems(values: Mapping[str, Any]) -> list[str]:
    """Return a message for each missing or unsafe setting, which begins with its name."""
    secret, token = values["SECRET_KEY"], values["METRICS_TOKEN"]
    is_https = values["SITE_URL"].startswith("https://")
    is_weak_secret = (
        len(secret) < MIN_SECRET_CHARS or len(set(secret)) < MIN_DISTINCT_CHARS or "insecure" in secret
    )
    uses_bucket = "storages" in values["STORAGES"]["default"]["BACKEND"]
    purge_header = values["PURGE_HEADER"]
    sender, sends_mail = values["DEFAULT_FROM_EMAIL"], bool(values["MAILERS"])
    rules = [
        (
            is_weak_secret,
            f"SECRET_KEY: easy to guess. Use {MIN_SECRET_CHARS} random characters, or leave it out.",
        ),
        ("*" in values["ALLOWED_HOSTS"], "ALLOWED_HOSTS: “*” lets anybody choose the host. Name the hosts."),
        (
            is_https and values["DEBUG"],
            "DEBUG: must be off on a public site; its pages show settings and data.",
        ),
        (is_https and values["BEHIND_PROXY"] is None, PROXY),
        (values["TRUSTED_PROXIES"] < 0, "TRUSTED_PROXIES: cannot be less than 0."),
        (
            values["TRUSTED_PROXIES"] > 0 and not values["BEHIND_PROXY"],
            "TRUSTED_PROXIES: says that there are proxies, but BEHIND_PROXY does not.",
        ),
        (values["TASK_BACKEND"] not in {"immediate", "database"}, "TASKS: say immediate or database."),
        (values["PURGE_METHOD"] not in {"POST", "PURGE"}, "PURGE_METHOD: say POST or PURGE."),
        (values["PAGE_CACHE_STALE_SECONDS"] < 0, "PAGE_CACHE_STALE_SECONDS: cannot be less than 0."),
        (values["SHARED_CACHE_SECONDS"] < 0, "SHARED_CACHE_SECONDS: cannot be less than 0."),
        (values["WARM_SECONDS"] < 0, "WARM_SECONDS: cannot be less than 0."),
        (purge_header != "" and ": " not in purge_header, "PURGE_HEADER: say “Name: value”."),
        (values["LOG_FORMAT"] not in {"json", "text"}, "LOG_FORMAT: say json or text."),
        (bool(token) and len(token) < MIN_TOKEN_CHARS, f"METRICS_TOKEN: needs {MIN_TOKEN_CHARS} characters."),
        (
            bool(values["SENTRY_DSN"]) and not find_spec("sentry_sdk"),
            f"SENTRY_DSN: {MISSING_PACKAGE} sentry-sdk.",
        ),
        (sends_mail != bool(sender), "EMAIL_FROM: needs EMAIL_HOST, and EMAIL_HOST needs it."),
        (bool(sender) and not is_email(sender), f"EMAIL_FROM: “{sender}” is no e-mail address."),
        (uses_bucket and not find_spec("storages"), f"S3_BUCKET: {MISSING_PACKAGE} django-storages."),
    ]
    return [*address_problems(values["SITE_URL"]), *(message for is_broken, message in rules if is_broken)]


def settings_or_exit() -> None:
    """Load the settings; if they are refused, exit with the reasons instead of a traceback."""
    from django.conf import settings
    from django.core.exceptions import ImproperlyConfigured

    try:
        bool(settings.INSTALLED_APPS)
    except (EnvError, ImproperlyConfigured, ValueError, OSError) as error:
        lines = "".join(f"\n  {line}" for line in str(error).splitlines())
        sys.exit(f"Plenary does not start. Its settings are refused:{lines}")
