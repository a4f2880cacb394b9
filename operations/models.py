"""What the site remembers about its own operation."""

from typing import ClassVar

from django.db import models
from django.db.models import Q


class DerivedTextVersion(models.Model):
    """The version of the code that derived the stored texts, such as rendered HTML. One row."""

    personal_fields: ClassVar[tuple[str, ...]] = ()
    impersonal_fields: ClassVar[tuple[str, ...]] = ("fingerprint",)

    fingerprint = models.CharField(max_length=64)

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(pk=1), name="derived_text_version_is_one_row")]

    def __str__(self) -> str:
        return self.fingerprint
