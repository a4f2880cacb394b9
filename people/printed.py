"""Names as they are printed in one place, which is not the person's name."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from people import names


class NamedAsPrinted(models.Model):
    """A person's part in something, under the name as it is printed there."""

    name = models.CharField(
        _("name as printed"), max_length=200, blank=True, help_text=_("Empty: the person's display name.")
    )

    class Meta:
        abstract = True

    def derive(self) -> None:
        self.name = names.normal(self.name) or str(self.person)  # type: ignore[attr-defined]
