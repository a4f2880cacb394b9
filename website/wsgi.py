"""The WSGI application that the server runs."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "conference.settings")

application = get_wsgi_application()
