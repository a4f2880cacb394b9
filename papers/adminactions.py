"""Actions over the list of papers: topic, track, decision, awards, and material from a list of addresses."""

from typing import Any

from django import forms
from django.core.exceptions import PermissionDenied
from django.db.models import Max
from django.http import HttpRequest
from django.utils.translation import gettext, ngettext_lazy
from django.utils.translation import gettext_lazy as _

from conference.adminactions import ActionForm, BulkAction, Words
from conference.adminfieldactions import SAME, ChosenField, SetField
from conference.bulk import Line, Plan
from papers import linklist
from papers.models import Award, AwardGrant, Material, Topic


class TopicForm(ActionForm):
    topic = ChosenField(None, label=_("topic"), required=False, empty_label=_("No topic"))

    def prepare(self) -> None:
        self.fields["topic"].offer(self, Topic)  # type: ignore[attr-defined]


class TrackForm(ActionForm):
    track = forms.CharField(
        label=_("track"), max_length=100, required=False, help_text=_("Empty for the main track.")
    )


class DecisionForm(ActionForm):
    decision = forms.CharField(
        label=_("decision"), max_length=100, required=False, help_text=_("As the review system says it.")
    )


class SetTopic(SetField):
    form_class = TopicForm


class SetTrack(SetField):
    form_class = TrackForm


class SetDecision(SetField):
    form_class = DecisionForm


class AwardForm(ActionForm):
    award = ChosenField(None, label=_("award"))

    def prepare(self) -> None:
        # An award may go to an old paper.
        self.fields["award"].offer(self, Award, edition__isnull=False)  # type: ignore[attr-defined]


class GrantAward(BulkAction):
    """Let papers win an award, behind those who have it."""

    form_class = AwardForm

    def plan(self, desk: Any, request: HttpRequest, rows: list[Any], values: dict[str, Any]) -> Plan:
        award = values["award"]
        if not desk.admin_site.get_model_admin(Award).has_change_permission(request, award):
            raise PermissionDenied
        grants = AwardGrant.objects.filter(award=award)
        last = grants.aggregate(last=Max("position"))["last"] or 0
        winners = {*grants.values_list("paper", flat=True)}
        plan = Plan(same=[row for row in rows if row.pk in winners])
        fresh = [row for row in rows if row.pk not in winners]
        says = gettext("gets the award “%(award)s”") % {"award": award}
        for place, paper in enumerate(fresh, start=last + 1):
            plan.lines.append(Line(paper, says, made=AwardGrant(award=award, paper=paper, position=place)))
        return plan


class LinksForm(ActionForm):
    kind = forms.ChoiceField(label=_("kind"), choices=Material.Kind.choices)
    label = forms.CharField(label=_("label"), max_length=100, required=False, help_text=_("Empty: the kind."))
    visible = forms.BooleanField(label=_("visible"), required=False, initial=True)
    addresses = forms.CharField(
        label=_("addresses"),
        widget=forms.Textarea(attrs={"rows": 8, "class": "vLargeTextField", "spellcheck": "false"}),
        max_length=2_000_000,
        help_text=_(
            "One a line: the paper's identifier and the address, or addresses alone in the order of the list."
        ),
    )


class AddMaterial(BulkAction):
    """Hang addresses on papers; what a paper has already is not added again."""

    form_class = LinksForm

    def plan(self, desk: Any, request: HttpRequest, rows: list[Any], values: dict[str, Any]) -> Plan:
        if not desk.admin_site.get_model_admin(Material).has_add_permission(request):
            raise PermissionDenied
        pairs, problems = linklist.matched(values["addresses"], [row.uid for row in rows])
        known = Material.objects.filter(paper__in=[row.pk for row in rows])
        here = {*known.filter(kind=values["kind"]).values_list("paper", "url")}
        last = dict(known.values_list("paper").annotate(last=Max("position")).order_by())
        plan = Plan(problems=problems)
        kind = Material.Kind(values["kind"]).label
        for index, address in pairs:
            paper = rows[index]
            if (paper.pk, address) in here:
                plan.same.append(paper)
                continue
            here.add((paper.pk, address))
            last[paper.pk] = last.get(paper.pk, 0) + 1
            made = Material(
                paper=paper,
                kind=values["kind"],
                label=values["label"],
                url=address,
                visible=values["visible"],
                position=last[paper.pk],
            )
            made.clean_in_memory()
            says = gettext("gets %(kind)s %(address)s") % {"kind": kind, "address": address}
            plan.lines.append(Line(paper, says, made=made))
        return plan


ACTIONS = [
    SetTopic(
        "set_topic",
        Words(
            _("Set topic of selected %(verbose_name_plural)s"),
            _("%(amount)s got the topic."),
            SAME,
            _("Set topic of %(amount)s"),
        ),
    ),
    SetTrack(
        "set_track",
        Words(
            _("Set track of selected %(verbose_name_plural)s"),
            _("%(amount)s got the track."),
            SAME,
            _("Set track of %(amount)s"),
        ),
    ),
    SetDecision(
        "set_decision",
        Words(
            _("Set decision of selected %(verbose_name_plural)s"),
            _("%(amount)s got the decision."),
            SAME,
            _("Set decision of %(amount)s"),
        ),
    ),
    GrantAward(
        "grant_award",
        Words(
            _("Grant an award to selected %(verbose_name_plural)s"),
            _("%(amount)s got the award."),
            ngettext_lazy("%(count)d has the award already.", "%(count)d have the award already.", "count"),
            _("Grant the award to %(amount)s"),
        ),
    ),
    AddMaterial(
        "add_material",
        Words(
            _("Add material to selected %(verbose_name_plural)s"),
            _("Material was added to %(amount)s."),
            ngettext_lazy("%(count)d is there already.", "%(count)d are there already.", "count"),
            _("Add material to %(amount)s"),
        ),
    ),
]
