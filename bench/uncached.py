"""The application that the server runs, but without its page cache: Django makes each answer anew."""

import website.wsgi
from operations.monitoring.wsgi import MonitoringLayer

application = MonitoringLayer(website.wsgi.django)
