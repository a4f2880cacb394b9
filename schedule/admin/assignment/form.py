"""The filters of the page that puts papers into sessions."""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.db.models import TextChoices
from django.http import QueryDict
from django.utils.functional import cached_property
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from conference.models import Edition
from content import times
from schedule.admin.kinds import own_kinds_in
from schedule.models import Presentation, Session
from schedule.schedule_filters import sort_as_tree
from schedule.session_kinds import AppliesTo, kind_choices, kind_label

DEFAULT_MINUTES, MAX_MINUTES = 15, 600


class Show(TextChoices):
    UNSCHEDULED = "unscheduled", _("In no session, or waiting for one")
    WITHOUT_KIND = "without", _("Not in a session as this kind")
    PLANNED = "planned", _("Planned here")


class AssignmentForm(forms.Form):
    """Form of filters of papers and sessions, and of the kind of new presentations."""

    show = forms.ChoiceField(label=_("Papers"), choices=Show, required=False)
    kind = forms.ChoiceField(label=_("Present as"), required=False)
    topic = forms.ChoiceField(label=_("Topic"), required=False)
    decision = forms.ChoiceField(label=_("Decision"), required=False)
    q = forms.CharField(label=_("Words of the title, an author"), required=False, max_length=200)
    kinds = forms.MultipleChoiceField(
        label=_("Kinds of sessions"), required=False, widget=forms.CheckboxSelectMultiple
    )
    day = forms.ChoiceField(label=_("Day"), required=False)
    minutes = forms.IntegerField(
        label=_("Minutes per talk"), required=False, min_value=1, max_value=MAX_MINUTES
    )

    def __init__(self, data: QueryDict, edition: Edition, sessions: Iterable[Session]) -> None:
        super().__init__(data)
        fields: Any = self.fields
        own_kinds = own_kinds_in([edition.pk], Presentation)
        kinds = kind_choices(AppliesTo.PRESENTATION, own_kinds)
        fields["kind"].choices = [("", gettext("As the session")), *kinds]
        topics = sort_as_tree(edition.topics.all())
        topic_choices = [(str(topic.pk), f"{vars(topic)['indent']}{topic.name}") for topic in topics]
        fields["topic"].choices = [("", gettext("All topics")), ("none", gettext("No topic")), *topic_choices]
        decisions = edition.papers.order_by("decision").values_list("decision", flat=True).distinct()
        fields["decision"].choices = [
            ("", gettext("All decisions")),
            *((decision, decision) for decision in decisions if decision),
        ]
        kind_labels = {
            session.kind: kind_label(AppliesTo.SESSION, session.kind, session.kind_name)
            for session in sessions
        }
        fields["kinds"].choices = sorted(kind_labels.items(), key=lambda pair: pair[1])
        days = sorted({edition.day_of(session.start) for session in sessions})
        fields["day"].choices = [
            ("", gettext("All days")),
            *((day.isoformat(), times.short_day(day)) for day in days),
        ]

    @cached_property
    def filters(self) -> dict[str, Any]:
        """The valid values."""
        self.is_valid()
        return self.cleaned_data

    @property
    def minutes_each(self) -> int:
        return self.filters.get("minutes") or DEFAULT_MINUTES
