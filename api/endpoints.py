"""The resources, each with what narrows its list; what they hold is declared in `resources`."""

from api import filtersets as narrowed
from api.resources import conference, papers, people, schedule
from api.viewsets import ResourceViewSet as Reading
from api.writing.views import WritingMixin
from people.models import Institution, Person


class ResourceViewSet(WritingMixin, Reading):
    """A resource to read, and to write where that is declared."""


class Conferences(ResourceViewSet):
    resource = conference.CONFERENCES


class Editions(ResourceViewSet):
    resource, filterset = conference.EDITIONS, narrowed.EditionFilter


class People(ResourceViewSet):
    resource, filterset = people.PEOPLE, narrowed.PersonFilter

    def moved_to(self, id: str) -> str | None:
        """Somebody who was merged goes on as the one who remained."""
        person = Person.objects.survivor(id, self.reader.at)
        return people.PEOPLE.url(None, person.uid) if person else None


class Institutions(ResourceViewSet):
    resource, filterset = people.INSTITUTIONS, narrowed.InstitutionFilter

    def moved_to(self, id: str) -> str | None:
        """An institution that was merged goes on as the one that remained."""
        institution = Institution.objects.survivor(id, self.reader.at)
        return people.INSTITUTIONS.url(None, institution.slug) if institution else None


class Topics(ResourceViewSet):
    resource, filterset = papers.TOPICS, narrowed.TopicFilter


class Papers(ResourceViewSet):
    resource, filterset = papers.PAPERS, narrowed.PaperFilter


class Awards(ResourceViewSet):
    resource, filterset = papers.AWARDS, narrowed.AwardFilter


class Materials(ResourceViewSet):
    resource, filterset = papers.MATERIALS, narrowed.MaterialFilter


class Rooms(ResourceViewSet):
    resource, filterset = schedule.ROOMS, narrowed.RoomFilter


class Sessions(ResourceViewSet):
    resource, filterset = schedule.SESSIONS, narrowed.SessionFilter


class Presentations(ResourceViewSet):
    resource, filterset = schedule.PRESENTATIONS, narrowed.PresentationFilter


class Sponsors(ResourceViewSet):
    resource, filterset = conference.SPONSORS, narrowed.SponsorFilter


class Pages(ResourceViewSet):
    resource, filterset = conference.PAGES, narrowed.PageFilter


class Announcements(ResourceViewSet):
    resource, filterset = conference.ANNOUNCEMENTS, narrowed.AnnouncementFilter


class Releases(ResourceViewSet):
    resource, filterset = schedule.RELEASES, narrowed.ReleaseFilter


ALL: tuple[type[ResourceViewSet], ...] = (
    Conferences, Editions, People, Institutions, Topics, Papers, Awards, Materials, Rooms, Sessions,
    Presentations, Sponsors, Pages, Announcements, Releases,
)  # fmt: skip
