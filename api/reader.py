"""Who reads, and therefore which rows there are: all rows of the API come from here."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from api.permissions import NOBODY, Asker, visible
from conference.models import Edition


@dataclass(frozen=True, slots=True)
class Reader:
    """Somebody who reads at a moment. Lists, details, nested rows and filters all take rows from here."""

    at: datetime
    asker: Asker = NOBODY

    def rows(self, model: Any) -> Any:
        """Return the rows of a model that this reader may see."""
        return visible(self.asker, model.objects.all(), self.at)

    def editions(self) -> Any:
        """Return the editions that this reader may see."""
        return self.rows(Edition)
