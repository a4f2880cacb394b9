"""Names as printed in one place, which may differ from the person's; hidden names."""

from collections.abc import Hashable, Iterable

from django.db import models
from django.utils.translation import gettext_lazy as _

from people import names


class NamedAsPrinted(models.Model):
    """A person's part in something, under the name as it is printed there."""

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
    """The hidden names of people, by a key of the person; case is ignored (in SQL: `with_shown_names`)."""

    def __init__(self, names: Iterable[tuple[Hashable, str]]) -> None:
        self._names = {(person, name.casefold()) for person, name in names}

    def contains(self, person: Hashable, name: str) -> bool:
        return bool(self._names) and (person, name.casefold()) in self._names

    def shown_name(self, person: Hashable, printed: str, known_as: str) -> str:
        """Return the printed name, or the display name where none is printed or that one is hidden."""
        return printed if printed and not self.contains(person, printed) else known_as
