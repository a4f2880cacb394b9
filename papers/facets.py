"""How the list of papers can be narrowed, sorted and grouped by the parameters of its address."""

from collections.abc import Iterable
from typing import Any

from django.http import QueryDict
from django_filters import CharFilter, ChoiceFilter, FilterSet

from conference.paging import BadParameter
from papers.models import Paper, Topic

MAX_WORDS = 100
MAIN_TRACK = "Main track"
NO_TOPIC = "Other papers"


class PaperFilter(FilterSet):  # type: ignore[misc]  # the package has no types
    """`q` words, `topic`, `track`, `sort` title or schedule, `by` topic or track. Others are ignored."""

    q = CharFilter(method="search", max_length=MAX_WORDS)
    topic = ChoiceFilter(method="narrow_to_topic", choices=())
    track = ChoiceFilter(field_name="track", choices=())
    sort = ChoiceFilter(method="arrange", choices=[("title", "Title"), ("schedule", "Time")])
    by = ChoiceFilter(method="arrange", choices=[("topic", "Topic"), ("track", "Track")])

    class Meta:
        model = Paper
        fields: list[str] = []

    def __init__(
        self, parameters: QueryDict, papers: Any, topics: Iterable[Topic] = (), tracks: Iterable[str] = ()
    ) -> None:
        super().__init__(parameters, papers)
        self.topics = {topic.slug: topic for topic in topics}
        self.filters["topic"].extra["choices"] = [(topic.slug, topic.name) for topic in self.topics.values()]
        self.filters["track"].extra["choices"] = [(track, track) for track in tracks]

    @property
    def chosen(self) -> dict[str, str]:
        """The parameters as read; raise `BadParameter` for the first that cannot be."""
        for name in self.form.errors:
            raise BadParameter(name, self.data.get(name, ""), f"{self.form.errors[name][0]}")
        chosen: dict[str, str] = self.form.cleaned_data
        return chosen

    @property
    def rows(self) -> Any:
        """The papers asked for, in order."""
        chosen = self.chosen
        rows = self.qs.by_schedule() if chosen["sort"] == "schedule" else self.qs.by_title()
        return rows.grouped_by(chosen["by"]) if chosen["by"] else rows

    def groups(self, page: Iterable[Paper]) -> dict[str, list[Paper]]:
        """The papers of a page under their topics or tracks; empty where they stand in one list."""
        groups: dict[str, list[Paper]] = {}
        for paper in page if self.chosen["by"] else ():
            groups.setdefault(self._group(paper), []).append(paper)
        return groups

    def _group(self, paper: Paper) -> str:
        if self.chosen["by"] == "track":
            return paper.track or MAIN_TRACK
        return self.topic_label(paper.topic_id) or NO_TOPIC

    def topic_label(self, key: int | None) -> str:
        """The name of a topic behind the name of the one above it."""
        topic = next((topic for topic in self.topics.values() if topic.pk == key), None)
        return " / ".join(str(one) for one in (topic and topic.parent, topic) if one)

    def search(self, rows: Any, name: str, value: str) -> Any:
        return rows.matching(value)

    def narrow_to_topic(self, rows: Any, name: str, value: str) -> Any:
        return rows.below(self.topics[value])

    def arrange(self, rows: Any, name: str, value: str) -> Any:
        """Leave the rows as they are: their order is made of two parameters, in `rows`."""
        return rows
