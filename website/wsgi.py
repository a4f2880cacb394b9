"""The WSGI application that the server runs: Django behind its page cache, with a layer around both."""

import gc
import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "conference.settings")

from conference.environment import settings_or_exit

settings_or_exit()
django = get_wsgi_application()

# They need the models, which Django has loaded by now.
from conference.caching import PageCache  # noqa: E402
from website.running.layer import Layer  # noqa: E402

pages = PageCache(django)
application = Layer(pages)

# What was loaded stays: the collector need not look through it whenever a request makes many objects.
gc.collect()
gc.freeze()
