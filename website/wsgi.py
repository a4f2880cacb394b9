"""The WSGI application that the server runs: Django behind its page cache, with a layer around both."""

import gc
import os

# Garbage collection while loading finds nothing and takes a quarter of the time.
gc.disable()

from django.core.wsgi import get_wsgi_application  # noqa: E402
from django.urls import get_resolver  # noqa: E402

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "conference.settings")

from conference.environment import settings_or_exit  # noqa: E402

settings_or_exit()
django = get_wsgi_application()

# They need the models, which Django has loaded by now.
from operations.monitoring.wsgi import MonitoringLayer  # noqa: E402
from pagecache.middleware import PageCache  # noqa: E402

pages = PageCache(django)
application = MonitoringLayer(pages)

# Loads all views before the first request.
get_resolver().url_patterns  # noqa: B018
# What was loaded stays: the collector need not scan it during requests.
gc.freeze()
gc.enable()
