"""Names as printed, which may differ from the display name of the person, and hidden names."""

from collections.abc import Hashable, Iterable

from django.db import models
from django.utils.translation import gettext_lazy as _

from people import names


class NamedAsPrinted(models.Model):
    """Abstract model of rows that reference a person, with the name as printed."""

    name = models.CharField(
        _("name as printed"),
        max_length=200,
        blank=True,
        help_text=_("Leave empty to use the person’s display name."),
    )

    class Meta:
        abstract = True

    def derive(self) -> None:
        self.name = names.normalize(self.name) or str(self.person)  # type: ignore[attr-defined]


class HiddenNames:
    """The hidden names of people, ignoring case. `with_shown_names` does the same in SQL."""

    def __init__(self, names: Iterable[tuple[Hashable, str]]) -> None:
        self._names = {(person, name.casefold()) for person, name in names}

    def contains(self, person: Hashable, name: str) -> bool:
        return bool(self._names) and (person, name.casefold()) in self._names

    def shown_name(self, person: Hashable, printed_name: str, display_name: str) -> str:
        """Return the printed name, or the display name if the printed one is empty or hidden."""
        return printed_name if printed_name and not self.contains(person, printed_name) else display_name
