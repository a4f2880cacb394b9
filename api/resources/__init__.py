"""The resources, one declaration each; they register themselves in `api.shapes`."""

from api.resources import conference, papers, people, schedule
from api.shapes import RESOURCES

__all__ = ["RESOURCES", "WRITABLE", "conference", "papers", "people", "schedule"]

# Conferences, editions and releases are written in the admin only.
WRITABLE = {name: resource for name, resource in RESOURCES.items() if resource.writable}
