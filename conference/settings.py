"""Settings of the site, read from the environment and `.env`. Defaults are safe for production."""

from pathlib import Path

import django_stubs_ext
from django.conf.locale import LANG_INFO
from django.utils.csp import CSP
from django.utils.text import capfirst
from environs import EnvError

from conference.environment import environment, hosts, mailers, problems, safe_database, stored_key
from conference.logs import logging_settings

django_stubs_ext.monkeypatch()

BASE_DIR = Path(__file__).resolve().parent.parent

env = environment(BASE_DIR)

VAR_DIR: Path = env.path("PLENARY_VAR_DIR", BASE_DIR / "var")
VAR_DIR.mkdir(parents=True, exist_ok=True)

DEBUG: bool = env.bool("DEBUG", False)
SECRET_KEY: str = env.str("SECRET_KEY", "") or stored_key(VAR_DIR / "secret-key")
SITE_NAME: str = env.str("SITE_NAME", "Plenary")
SITE_URL: str = env.str("SITE_URL", "http://127.0.0.1:8000").rstrip("/")
# The host of SITE_URL and this machine's own names need not be said.
ALLOWED_HOSTS: list[str] = hosts(SITE_URL, env.list("ALLOWED_HOSTS", []))
CSRF_TRUSTED_ORIGINS: list[str] = env.list("CSRF_TRUSTED_ORIGINS", [])
# The only hosts that an import by address may ask.
IMPORT_HOSTS: list[str] = env.list("IMPORT_HOSTS", ["api2.openreview.net", "api.openreview.net"])

INSTALLED_APPS = [
    # Before the apps that take its list of tasks from the admin.
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

# PgBouncer is between the site and PostgreSQL: each transaction may have another connection.
PGBOUNCER: bool = env.bool("PGBOUNCER", False)
stored: dict[str, object] = env.dj_db_url("DATABASE_URL", f"sqlite:///{VAR_DIR / 'plenary.sqlite3'}")
DATABASES = {"default": safe_database(stored, PGBOUNCER)}
if env.str("DATABASE_REPLICA_URL", ""):
    replica: dict[str, object] = env.dj_db_url("DATABASE_REPLICA_URL")
    DATABASES["replica"] = {**safe_database(replica, PGBOUNCER), "TEST": {"MIRROR": "default"}}
    DATABASE_ROUTERS = ["content.replica.ReplicaRouter"]

# What several processes share; without it each has a cache of its own.
CACHE_URL: str = env.str("CACHE_URL", "")
CACHES: dict[str, dict[str, object]] = {
    "default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}
}
# What the cache raises while it is unavailable. Redis's client takes 8 MB: loaded only if used.
CACHE_ERRORS: tuple[type[Exception], ...] = ()
if CACHE_URL:
    from redis.exceptions import RedisError

    CACHE_ERRORS = (RedisError,)
    # Wait half a second at most: callers continue without it.
    CACHES["default"] = {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": CACHE_URL,
        "OPTIONS": {"socket_timeout": 0.5, "socket_connect_timeout": 0.5},
        "KEY_PREFIX": "plenary",
    }

# How far imports are: the worker says it, pages read it. Processes of one machine share the folder.
CACHES["imports"] = (
    CACHES["default"]
    if CACHE_URL
    else {
        "BACKEND": "django.core.cache.backends.filebased.FileBasedCache",
        "LOCATION": str(VAR_DIR / "imports"),
    }
)

# The page cache (docs/caching.md): for so many seconds after a change readers may get the old page, while the
# new one is rendered; caches in front of the site may keep a page for so many.
PAGE_CACHE_STALE_SECONDS: float = env.float("PAGE_CACHE_STALE_SECONDS", 10.0)
SHARED_CACHE_SECONDS: int = env.int("SHARED_CACHE_SECONDS", 1)
PAGE_CACHE_STATES = "conference.cache_lifetimes.read_cache_states"
# Where invalidated tags are sent, by POST or PURGE, with a header such as "Fastly-Key: …".
PURGE_URL: str = env.str("PURGE_URL", "")
PURGE_METHOD: str = env.str("PURGE_METHOD", "PURGE").upper()
PURGE_HEADER: str = env.str("PURGE_HEADER", "")

# The language of the admin, of files, and of pages whose address names none. What a browser asks for does not
# count: pages are cached by address.
LANGUAGE_CODE: str = env.str("LANGUAGE_CODE", "en").lower()
# The languages that pages can be read in, each under its own name.
TRANSLATED = ["de", "fr", "es", "zh-hans"]
LANGUAGES = [
    (code, capfirst(str(LANG_INFO.get(code, {}).get("name_local", code))))
    for code in dict.fromkeys([LANGUAGE_CODE, *map(str.lower, env.list("LANGUAGES", TRANSLATED))])
]
# A folder of translations outside the code comes first.
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

# Media in a bucket: any service that speaks S3. The site hands its files out, as it knows who may have them.
if env.str("S3_BUCKET", ""):
    STORAGES["default"] = {
        # Its options are as the package names them.
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
        },
    }
# What takes minutes: at once in the request (the demo), or by `manage.py db_worker` (production).
TASK_BACKENDS = {
    "immediate": "django.tasks.backends.immediate.ImmediateBackend",
    "database": "django_tasks_db.DatabaseBackend",
}
TASK_BACKEND: str = env.str("TASKS", "immediate")
TASKS = {"default": {"BACKEND": TASK_BACKENDS.get(TASK_BACKEND, "")}}
# Private files, such as uploads that wait to be imported. Never inside the media.
IMPORT_MEGABYTES: int = env.int("IMPORT_MEGABYTES", 100)

# Django's permissions hold everywhere, those of a role in its edition (`accounts.access_scope`).
AUTHENTICATION_BACKENDS = ["accounts.access_scope.RoleBackend"]

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]

# Behind https (SITE_URL says so) cookies and redirects are strict; a demo on 127.0.0.1 speaks plain http.
HTTPS = SITE_URL.startswith("https://")
SECURE_SSL_REDIRECT = HTTPS
# Asked by this machine, by its own name.
SECURE_REDIRECT_EXEMPT = [r"^(healthz|readyz|metrics)\Z"]
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
# Only the conference's own people know whether all their other subdomains speak https.
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = env.bool("HSTS_SUBDOMAINS", False)
# Without a mail server nothing is mailed.
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021", "mail.W001"]
SECURE_REFERRER_POLICY = "strict-origin-when-cross-origin"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
SESSION_ENGINE = "accounts.sessions"
# Failures in a quarter of an hour; a venue of thousands may share one address.
SIGN_IN_FAILURES_PER_ACCOUNT: int = env.int("SIGN_IN_FAILURES_PER_ACCOUNT", 10)
SIGN_IN_FAILURES_PER_ADDRESS: int = env.int("SIGN_IN_FAILURES_PER_ADDRESS", 100)
SESSION_COOKIE_HTTPONLY = CSRF_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
# Set when a visitor wants the own agenda kept here; never before.
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
# Where players of videos are, such as www.youtube-nocookie.com: these play in a paper's page after a click.
VIDEO_HOSTS: list[str] = env.list("VIDEO_HOSTS", [])

# A session with 800 posters, or a paper with 150 authors, is one form (Django's own limit is 1,000 fields).
DATA_UPLOAD_MAX_NUMBER_FIELDS = 20_000

# Proxies of our own in front of the site: so many entries of X-Forwarded-For, from its end, are true.
TRUSTED_PROXIES: int = env.int("TRUSTED_PROXIES", 1 if BEHIND_PROXY else 0)
# A venue of thousands may share one address; what the page cache answers does not count.
API_REQUESTS_PER_MINUTE: int = env.int("API_REQUESTS_PER_MINUTE", 1200)
API_REQUESTS_PER_MINUTE_AND_TOKEN: int = env.int("API_REQUESTS_PER_MINUTE_AND_TOKEN", 600)
EDITION_MODEL = "conference.Edition"
# A series of editions, in which somebody may have a role.
SERIES_MODEL = "conference.Conference"
# The home page of an edition shows all apps, so its view is in the highest package.
EDITION_VIEW = "website:edition"
# What brings the search index up to date before the API searches: a package above it knows what goes in.
SEARCH_INDEX_REFRESH = "operations.indexing.update.refresh"

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        # The first one says how to sign in, where an answer is 401.
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

# Tokens of the API (`api.models.Token`): hashed by the package, which has no tables of its own here.
KNOX_TOKEN_MODEL = "api.Token"  # noqa: S105  the name of a model
MIGRATION_MODULES = {"knox": None}
REST_KNOX = {"AUTH_HEADER_PREFIX": "Bearer", "TOKEN_PREFIX": "plenary_", "TOKEN_TTL": None}

# Protects /metrics; without a token there is no such page.
METRICS_TOKEN: str = env.str("METRICS_TOKEN", "")
# Where processes add up their counts: emptied at each start, best in memory.
METRICS_DIR: str = env.str("METRICS_DIR", "")
# /readyz says no below it, in MB.
LEAST_FREE_DISK: int = env.int("LEAST_FREE_DISK", 200)
# Errors go to a Sentry of one's own, without anything personal. Needs the package sentry-sdk.
SENTRY_DSN: str = env.str("SENTRY_DSN", "")

# By this server invitations are mailed; without one their links are copied.
mail_user = env.str("EMAIL_HOST_USER", ""), env.str("EMAIL_HOST_PASSWORD", "")
MAILERS = mailers(env.str("EMAIL_HOST", ""), env.int("EMAIL_PORT", 587), *mail_user)
DEFAULT_FROM_EMAIL: str = env.str("EMAIL_FROM", "")

# Machines read JSON; people at a terminal do not.
LOG_FORMAT: str = env.str("LOG_FORMAT", "json" if HTTPS else "text")
LOGGING = logging_settings(LOG_FORMAT)

if found := problems(globals()):
    raise EnvError("\n".join(found))
