"""The edition model, named by a setting as Django's user model is, for packages below the conference app."""

from typing import TYPE_CHECKING

from django.apps import apps
from django.conf import settings

if TYPE_CHECKING:
    from conference.models import Edition


def get_edition_model() -> type["Edition"]:
    """Return the model that `settings.EDITION_MODEL` names."""
    model: type[Edition] = apps.get_model(settings.EDITION_MODEL, require_ready=False)
    return model
