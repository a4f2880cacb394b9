"""The WSGI application: Django behind the page cache, with a monitoring layer around both."""

import gc
import os

# Garbage collection takes a quarter of the time of loading and frees nothing.
gc.disable()

from django.core.wsgi import get_wsgi_application  # noqa: E402
from django.urls import get_resolver  # noqa: E402

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "conference.settings")

from conference.environment import settings_or_exit  # noqa: E402
from content.replica import ReplicaLayer  # noqa: E402
from content.request_charset import CharsetLayer  # noqa: E402

settings_or_exit()
django = ReplicaLayer(CharsetLayer(get_wsgi_application()))

# These modules import models, so Django must be set up first.
from content.storage.open_database import keep_database_open  # noqa: E402
from operations.monitoring.wsgi import MonitoringLayer  # noqa: E402
from pagecache.middleware import PageCache  # noqa: E402
from website.warming import warm_at_start  # noqa: E402

pages = PageCache(django)
application = MonitoringLayer(pages)

keep_database_open()

# Load all views before the first request.
get_resolver().url_patterns  # noqa: B018
# Loaded modules are never freed, so exclude their objects from garbage collection.
gc.freeze()
gc.enable()

warm_at_start(pages)
