"""Actions over the list of papers: topic, track, decision, awards, and material from a list of addresses."""

from typing import TYPE_CHECKING, Any

from django import forms
from django.core.exceptions import PermissionDenied
from django.db.models import Max
from django.http import HttpRequest
from django.utils.translation import gettext, ngettext_lazy
from django.utils.translation import gettext_lazy as _

from content.bulk import BulkChange, BulkPlan, Values
from editorial.access import ScopedAdmin, access_for
from editorial.actions import ActionForm, BulkAction, Words
from editorial.field_actions import SAME, ChosenField, SetField
from papers import link_list
from papers.models import Award, AwardGrant, Material, Topic

if TYPE_CHECKING:
    pass


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
    """Let papers, or people, win an award, behind those who have it."""

    form_class = AwardForm

    def __init__(self, name: str, words: Words, winner: str = "paper") -> None:
        super().__init__(name, words)
        # The column of a grant that holds such a row.
        self.winner = winner

    def plan(self, desk: ScopedAdmin, request: HttpRequest, rows: list[Any], values: Values) -> BulkPlan:
        award = values["award"]
        access = access_for(request)
        if not (access.may("change", Award, award) and access.may_part("add", AwardGrant, award)):
            raise PermissionDenied
        grants = AwardGrant.objects.filter(award=award)
        last = grants.aggregate(last=Max("position"))["last"] or 0
        winners = {*grants.values_list(self.winner, flat=True)}
        merged = [row for row in rows if getattr(row, "merged_into_id", None)]
        gone = gettext("It was merged into another.")
        plan = BulkPlan(
            same=[row for row in rows if row.pk in winners], skipped=[(row, gone) for row in merged]
        )
        fresh = [row for row in rows if row.pk not in winners and row not in merged]
        says = gettext("gets the award “%(award)s”") % {"award": award}
        for place, row in enumerate(fresh, start=last + 1):
            made = AwardGrant(award=award, position=place, **{self.winner: row})
            plan.lines.append(BulkChange(row, says, made=made))
        return plan


class LinksForm(ActionForm):
    kind = forms.ChoiceField(label=_("kind"), choices=Material.Kind.choices)
    label = forms.CharField(
        label=_("label"),
        max_length=Material._meta.get_field("label").max_length,
        required=False,
        help_text=_("Empty: the kind."),
    )
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

    def plan(self, desk: ScopedAdmin, request: HttpRequest, rows: list[Any], values: Values) -> BulkPlan:
        pairs, problems = link_list.matched(values["addresses"], [row.uid for row in rows])
        known = Material.objects.filter(paper__in=[row.pk for row in rows])
        here = {*known.filter(kind=values["kind"]).values_list("paper", "url")}
        last = dict(known.values_list("paper").annotate(last=Max("position")).order_by())
        plan, access = BulkPlan(problems=problems), access_for(request)
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
            if not access.may("add", Material, made):
                plan.skipped.append((paper, gettext("You may not add material to it.")))
                continue
            made.clean_in_memory()
            says = gettext("gets %(kind)s %(address)s") % {"kind": kind, "address": address}
            plan.lines.append(BulkChange(paper, says, made=made))
        return plan


GRANTING = Words(
    _("Grant an award to selected %(verbose_name_plural)s"),
    _("%(amount)s got the award."),
    ngettext_lazy("%(count)d has the award already.", "%(count)d have the award already.", "count"),
    _("Grant the award to %(amount)s"),
)
grant_to_people = GrantAward("grant_award", GRANTING, "person")
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
    GrantAward("grant_award", GRANTING),
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
