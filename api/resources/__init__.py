"""The resources, one declaration each; they register themselves in `api.shapes`."""

from api.resources import conference, papers, people, schedule
from api.shapes import RESOURCES

__all__ = ["RESOURCES", "conference", "papers", "people", "schedule"]
