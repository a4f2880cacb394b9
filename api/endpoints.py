"""The view set of each resource, with its filters; the fields are declared in `resources`."""

from api import filters
from api.resources import conference, papers, people, schedule
from api.viewsets import ReadOnlyViewSet
from api.writing.views import WritingMixin
from people.models import Institution, Person


class ResourceViewSet(WritingMixin, ReadOnlyViewSet):
    """A resource to read, and to write where that is declared."""


class Conferences(ResourceViewSet):
    resource = conference.CONFERENCES


class Editions(ResourceViewSet):
    resource, filterset = conference.EDITIONS, filters.EditionFilter


class People(ResourceViewSet):
    resource, filterset = people.PEOPLE, filters.PersonFilter

    def moved_to(self, id: str) -> str | None:
        """Somebody who was merged goes on as the one who remained."""
        person = Person.objects.survivor(id, self.reader.at)
        return people.PEOPLE.url(None, person.uid) if person else None


class Institutions(ResourceViewSet):
    resource, filterset = people.INSTITUTIONS, filters.InstitutionFilter

    def moved_to(self, id: str) -> str | None:
        """An institution that was merged goes on as the one that remained."""
        institution = Institution.objects.survivor(id, self.reader.at)
        return people.INSTITUTIONS.url(None, institution.slug) if institution else None


class Topics(ResourceViewSet):
    resource, filterset = papers.TOPICS, filters.TopicFilter


class Papers(ResourceViewSet):
    resource, filterset = papers.PAPERS, filters.PaperFilter


class Awards(ResourceViewSet):
    resource, filterset = papers.AWARDS, filters.AwardFilter


class Materials(ResourceViewSet):
    resource, filterset = papers.MATERIALS, filters.MaterialFilter


class Rooms(ResourceViewSet):
    resource, filterset = schedule.ROOMS, filters.RoomFilter


class Sessions(ResourceViewSet):
    resource, filterset = schedule.SESSIONS, filters.SessionFilter


class Presentations(ResourceViewSet):
    resource, filterset = schedule.PRESENTATIONS, filters.PresentationFilter


class Sponsors(ResourceViewSet):
    resource, filterset = conference.SPONSORS, filters.SponsorFilter


class Pages(ResourceViewSet):
    resource, filterset = conference.PAGES, filters.PageFilter


class Announcements(ResourceViewSet):
    resource, filterset = conference.ANNOUNCEMENTS, filters.AnnouncementFilter


class Releases(ResourceViewSet):
    resource, filterset = schedule.RELEASES, filters.ReleaseFilter


VIEWSETS: tuple[type[ResourceViewSet], ...] = (
    Conferences, Editions, People, Institutions, Topics, Papers, Awards, Materials, Rooms, Sessions,
    Presentations, Sponsors, Pages, Announcements, Releases,
)  # fmt: skip
