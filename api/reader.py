"""Who reads, and therefore which rows there are: the only place of the API that asks `published()`."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from conference.models import Edition


@dataclass(frozen=True, slots=True)
class Reader:
    """Somebody who reads at a moment. Lists, details, nested rows and filters all take rows from here."""

    at: datetime

    def rows(self, model: Any) -> Any:
        """Return the rows of a model that this reader may see."""
        return model.objects.published(self.at)

    def editions(self) -> Any:
        """Return the editions that this reader may see."""
        return self.rows(Edition)
