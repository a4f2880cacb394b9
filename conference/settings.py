"""Settings of the site, read from the environment and `.env`. Defaults are safe for production."""

from pathlib import Path

import django_stubs_ext
from django.conf.locale import LANG_INFO
from django.utils.csp import CSP
from django.utils.text import capfirst
from environs import EnvError

from conference.environment import (
    bucket_timeouts,
    environment,
    hosts,
    mailers,
    problems,
    safe_database,
    stored_key,
    with_short_timeouts,
)
from conference.logs import logging_settings

django_stubs_ext.monkeypatch()

BASE_DIR = Path(__file__).resolve().parent.parent

env = environment(BASE_DIR)

VAR_DIR = Path(env.str("PLENARY_VAR_DIR", "") or BASE_DIR / "var")
VAR_DIR.mkdir(parents=True, exist_ok=True)

DEBUG: bool = env.bool("DEBUG", False)
SECRET_KEY: str = env.str("SECRET_KEY", "") or stored_key(VAR_DIR / "secret-key")
SITE_NAME: str = env.str("SITE_NAME", "Plenary")
SITE_URL: str = env.str("SITE_URL", "http://127.0.0.1:8000").rstrip("/")
# The host of SITE_URL and the loopback names are always allowed.
ALLOWED_HOSTS: list[str] = hosts(SITE_URL, env.list("ALLOWED_HOSTS", []))
CSRF_TRUSTED_ORIGINS: list[str] = env.list("CSRF_TRUSTED_ORIGINS", [])
# The only hosts that imports by URL may request.
IMPORT_HOSTS: list[str] = env.list("IMPORT_HOSTS", ["api2.openreview.net", "api.openreview.net"])

INSTALLED_APPS = [
    # Must precede the apps that remove its list of tasks from the admin.
    "django_tasks_db",
    "website",
    "operations",
    "api",
    "exchange",
    "schedule",
    "papers",
    "people",
    "conference",
    "accounts",
    "pagecache",
    "content",
    "search",
    "django_filters",
    "knox",
    "rest_framework",
    "editorial.apps.EditorialAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
]

MIDDLEWARE = [
    "operations.monitoring.notes.RequestNoteMiddleware",
    "conference.headers.HeadersMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "django.middleware.csp.ContentSecurityPolicyMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "content.languages.LanguageMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "conference.request_edition.PreviewMiddleware",
]

ROOT_URLCONF = "website.urls"
WSGI_APPLICATION = "website.wsgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "website.context_processors.site",
            ],
        },
    },
]

# With PgBouncer in front of PostgreSQL, each transaction may use another server connection.
PGBOUNCER: bool = env.bool("PGBOUNCER", False)
database: dict[str, object] = env.dj_db_url("DATABASE_URL", f"sqlite:///{VAR_DIR / 'plenary.sqlite3'}")
# How long a write waits for the transaction of another one, in seconds.
DATABASE_LOCK_TIMEOUT: int = env.int("DATABASE_LOCK_TIMEOUT", 10)
DATABASES = {"default": safe_database(database, PGBOUNCER, DATABASE_LOCK_TIMEOUT)}
if env.str("DATABASE_REPLICA_URL", ""):
    replica: dict[str, object] = env.dj_db_url("DATABASE_REPLICA_URL")
    DATABASES["replica"] = {
        **safe_database(with_short_timeouts(replica), PGBOUNCER, DATABASE_LOCK_TIMEOUT),
        "TEST": {"MIRROR": "default"},
    }
    DATABASE_ROUTERS = ["content.replica.ReplicaRouter"]

# The cache that all processes share; without it each process has its own.
CACHE_URL: str = env.str("CACHE_URL", "")
CACHES: dict[str, dict[str, object]] = {
    "default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}
}
# Exceptions of the cache while it is unavailable. Import the Redis client only if used, as it takes 8 MB.
CACHE_ERRORS: tuple[type[Exception], ...] = ()
if CACHE_URL:
    from redis.exceptions import RedisError

    CACHE_ERRORS = (RedisError,)
    # Use short timeouts, because callers continue without the cache.
    CACHES["default"] = {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": CACHE_URL,
        "OPTIONS": {"socket_timeout": 0.5, "socket_connect_timeout": 0.5},
        "KEY_PREFIX": "plenary",
    }

# The progress of imports, which the worker writes and pages read. Processes of a machine share the folder.
CACHES["imports"] = (
    CACHES["default"]
    if CACHE_URL
    else {
        "BACKEND": "django.core.cache.backends.filebased.FileBasedCache",
        "LOCATION": str(VAR_DIR / "imports"),
    }
)

# The page cache (docs/caching.md): the seconds after a change in which readers may get the old page while the
# new one is rendered, and the seconds for which caches in front of the site may store a page.
PAGE_CACHE_STALE_SECONDS: float = env.float("PAGE_CACHE_STALE_SECONDS", 10.0)
SHARED_CACHE_SECONDS: int = env.int("SHARED_CACHE_SECONDS", 1)
# For how many seconds a new process renders the most requested pages before it answers requests.
WARM_SECONDS: float = env.float("WARM_SECONDS", 0.0)
PAGE_CACHE_STATES = "conference.cache_lifetimes.read_cache_states"
# The URL to which invalidated tags are sent, by POST or PURGE, with a header such as "Fastly-Key: …".
PURGE_URL: str = env.str("PURGE_URL", "")
PURGE_METHOD: str = env.str("PURGE_METHOD", "PURGE").upper()
PURGE_HEADER: str = env.str("PURGE_HEADER", "")

# The language of the admin, of files, and of pages without a language in their URL. The languages that a
# browser accepts are ignored, because pages are cached by URL.
LANGUAGE_CODE: str = env.str("LANGUAGE_CODE", "en").lower()
# The languages of pages, each under its own name.
TRANSLATED = ["de", "fr", "es", "zh-hans"]
LANGUAGES = [
    (code, capfirst(str(LANG_INFO.get(code, {}).get("name_local", code))))
    for code in dict.fromkeys([LANGUAGE_CODE, *map(str.lower, env.list("LANGUAGES", TRANSLATED))])
]
# Translations in this folder take precedence over those of the apps.
LOCALE_PATHS: list[Path] = [env.path("LOCALE_DIR")] if env.str("LOCALE_DIR", "") else []
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = True
FORMAT_MODULE_PATH = ["conference.formats"]

STATIC_URL = "static/"
STATIC_ROOT: Path = env.path("STATIC_DIR", VAR_DIR / "static")
STATIC_ROOT.mkdir(exist_ok=True)
STATICFILES_DIRS = [BASE_DIR / "static"]
STATICFILES_FINDERS = [
    "django.contrib.staticfiles.finders.FileSystemFinder",
    "conference.static_files.ProgramFinder",
]
MEDIA_URL = "media/"
MEDIA_ROOT = VAR_DIR / "media"
STORAGES: dict[str, dict[str, object]] = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "conference.static_files.HashedStorage"},
}

# Media in an S3 bucket. The site serves the files itself, because it checks permissions.
if env.str("S3_BUCKET", ""):
    STORAGES["default"] = {
        # Options of django-storages.
        "BACKEND": "storages.backends.s3.S3Storage",
        "OPTIONS": {
            "bucket_name": env.str("S3_BUCKET"),
            "endpoint_url": env.str("S3_ENDPOINT", "") or None,
            "region_name": env.str("S3_REGION", "") or None,
            "access_key": env.str("S3_ACCESS_KEY", "") or None,
            "secret_key": env.str("S3_SECRET_KEY", "") or None,
            "custom_domain": f"{SITE_URL.partition('://')[2]}/media",
            "url_protocol": f"{SITE_URL.partition('://')[0]}:",
            "querystring_auth": False,
            "file_overwrite": False,
            **bucket_timeouts(),
        },
    }
# Tasks that take minutes run in the request (the demo), or by `manage.py worker` (production).
TASK_BACKENDS = {
    "immediate": "django.tasks.backends.immediate.ImmediateBackend",
    "database": "django_tasks_db.DatabaseBackend",
}
TASK_BACKEND: str = env.str("TASKS", "immediate")
TASKS = {"default": {"BACKEND": TASK_BACKENDS.get(TASK_BACKEND, "")}}
# The maximum total size of the files uploaded for an import.
IMPORT_MEGABYTES: int = env.int("IMPORT_MEGABYTES", 100)

# Permissions of Django apply everywhere, those of a role in its edition (`accounts.access_scope`).
AUTHENTICATION_BACKENDS = ["accounts.access_scope.RoleBackend"]

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]

# If SITE_URL is https, cookies and redirects require it; a demo on 127.0.0.1 uses plain http.
HTTPS = SITE_URL.startswith("https://")
SECURE_SSL_REDIRECT = HTTPS
# These are requested by local probes over http.
SECURE_REDIRECT_EXEMPT = [r"^(healthz|readyz|metrics)\Z"]
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
# Not enabled by default, because other subdomains may not support https.
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = env.bool("HSTS_SUBDOMAINS", False)
# The site runs without a mail server, too (mail.W001).
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021", "mail.W001"]
SECURE_REFERRER_POLICY = "strict-origin-when-cross-origin"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
SESSION_ENGINE = "accounts.sessions"
# Failures in a quarter of an hour. All participants at a venue may share one address.
SIGN_IN_FAILURES_PER_ACCOUNT: int = env.int("SIGN_IN_FAILURES_PER_ACCOUNT", 10)
SIGN_IN_FAILURES_PER_ADDRESS: int = env.int("SIGN_IN_FAILURES_PER_ADDRESS", 100)
SESSION_COOKIE_HTTPONLY = CSRF_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
# Set only when a visitor chooses to store the agenda on the server.
AGENDA_COOKIE_NAME = "agenda"
X_FRAME_OPTIONS = "DENY"
CSRF_FAILURE_VIEW = "website.views.csrf_refused"
BEHIND_PROXY: bool | None = env.bool("BEHIND_PROXY", None)
if BEHIND_PROXY:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")

SECURE_CSP = {
    "default-src": [CSP.NONE],
    "script-src": [CSP.SELF],
    "style-src": [CSP.SELF],
    "img-src": [CSP.SELF, "data:"],
    "font-src": [CSP.SELF],
    "connect-src": [CSP.SELF],
    "manifest-src": [CSP.SELF],
    "form-action": [CSP.SELF],
    "base-uri": [CSP.NONE],
    "frame-ancestors": [CSP.NONE],
}
# Hosts of video players, such as www.youtube-nocookie.com, which pages of papers embed after a click.
VIDEO_HOSTS: list[str] = env.list("VIDEO_HOSTS", [])

# Large uploads do not lose the other values of their form if the disk is full.
FILE_UPLOAD_HANDLERS = [
    "django.core.files.uploadhandler.MemoryFileUploadHandler",
    "content.storage.uploads.TemporaryUploads",
]
# A session with 800 posters or a paper with 150 authors is one form. Django's default is 1,000 fields.
DATA_UPLOAD_MAX_NUMBER_FIELDS = 20_000

# The number of our own proxies in front of the site, so of trusted last entries of X-Forwarded-For.
TRUSTED_PROXIES: int = env.int("TRUSTED_PROXIES", 1 if BEHIND_PROXY else 0)
# All participants at a venue may share one address. Responses from the page cache are not counted.
API_REQUESTS_PER_MINUTE: int = env.int("API_REQUESTS_PER_MINUTE", 1200)
API_REQUESTS_PER_MINUTE_AND_TOKEN: int = env.int("API_REQUESTS_PER_MINUTE_AND_TOKEN", 600)
EDITION_MODEL = "conference.Edition"
# The model of series of editions, which can have roles, too.
SERIES_MODEL = "conference.Conference"
# The home page of an edition uses all apps, so its view is in the highest package.
EDITION_VIEW = "website:edition"
# The function that updates the search index before the API searches; it is in a higher package.
SEARCH_INDEX_REFRESH = "operations.indexing.update.refresh"

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        # The first one sets WWW-Authenticate in 401 responses.
        "api.permissions.BearerTokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "api.media_types.OnlyJson",
    "DEFAULT_PARSER_CLASSES": ["api.media_types.BoundedJSONParser"],
    "DEFAULT_PERMISSION_CLASSES": [],
    "DEFAULT_RENDERER_CLASSES": ["api.media_types.OrjsonRenderer"],
    "DEFAULT_THROTTLE_CLASSES": ["api.throttling.PerMinuteThrottle"],
    "EXCEPTION_HANDLER": "api.errors.answer_error",
    "DEFAULT_METADATA_CLASS": None,
    "URL_FORMAT_OVERRIDE": None,
}

# knox hashes the tokens of the API (`api.models.Token`). Its own tables are not created.
KNOX_TOKEN_MODEL = "api.Token"  # noqa: S105  the name of a model
MIGRATION_MODULES = {"knox": None}
REST_KNOX = {"AUTH_HEADER_PREFIX": "Bearer", "TOKEN_PREFIX": "plenary_", "TOKEN_TTL": None}

# The token for /metrics; without one the page does not exist.
METRICS_TOKEN: str = env.str("METRICS_TOKEN", "")
# The folder in which processes add up their counts. Empty it at each start; best is one in memory.
METRICS_DIR: str = env.str("METRICS_DIR", "")
# /readyz fails below this free space, in MB.
LEAST_FREE_DISK: int = env.int("LEAST_FREE_DISK", 200)
# Errors are reported to this Sentry, without personal data. Needs the package sentry-sdk.
SENTRY_DSN: str = env.str("SENTRY_DSN", "")

# The mail server for invitations; without one, chairs copy their links.
mail_user = env.str("EMAIL_HOST_USER", ""), env.str("EMAIL_HOST_PASSWORD", "")
MAILERS = mailers(env.str("EMAIL_HOST", ""), env.int("EMAIL_PORT", 587), *mail_user)
DEFAULT_FROM_EMAIL: str = env.str("EMAIL_FROM", "")

# JSON in production, plain text at a terminal.
LOG_FORMAT: str = env.str("LOG_FORMAT", "json" if HTTPS else "text")
LOGGING = logging_settings(LOG_FORMAT)

if setting_problems := problems(globals()):
    raise EnvError("\n".join(setting_problems))
