"""The application that the server runs, but without its page cache: Django makes each answer anew."""

import website.wsgi
from website.running.layer import Layer

application = Layer(website.wsgi.django)
