"""The admin of conferences, editions, and the free content of their sites."""

from conference.admin import models

__all__ = ["models"]
