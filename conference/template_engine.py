"""Django's templates; what a page was made of is gone as soon as it is written.

A context and what is in it hold each other, so that all rows of a page would stay, three megabytes for a hall
of 700 posters, until Python looks for garbage.
"""

from typing import Any

from django.http import HttpRequest
from django.template import Context, TemplateDoesNotExist
from django.template.backends import django
from django.template.context import make_context


class Template(django.Template):
    """A template whose context ends with its page."""

    def render(self, context: Any = None, request: HttpRequest | None = None) -> Any:
        made: Context = make_context(context, request, autoescape=self.backend.engine.autoescape)
        try:
            page = self.template.render(made)
        except TemplateDoesNotExist as missing:
            django.reraise(missing, self.backend)
        # Not where it fails: who looks for the cause wants to see what there was.
        made.dicts.clear()
        return page


class Templates(django.DjangoTemplates):
    """The backend named in the settings."""

    def from_string(self, template_code: str) -> Template:
        return Template(self.engine.from_string(template_code), self)

    def get_template(self, template_name: str) -> Template:
        return Template(super().get_template(template_name).template, self)
