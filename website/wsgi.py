"""The WSGI application that the server runs: Django behind its page cache."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "conference.settings")

django = get_wsgi_application()

from conference.caching import PageCache  # noqa: E402  needs the models, which Django has loaded by now

application = PageCache(django)
