"""Bulk actions for papers: set the topic, track or decision, grant awards, and add materials by address."""

import re
from collections.abc import Sequence
from typing import Any

from django import forms
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import Max
from django.http import HttpRequest
from django.utils.translation import gettext, ngettext_lazy
from django.utils.translation import gettext_lazy as _

from content.bulk import BulkChange, BulkPlan, Values
from content.fields import validate_http_url
from editorial.access import ScopedAdmin, access_for
from editorial.actions import HAS_IT_ALREADY, ActionForm, ActionTexts, BulkAction, ChosenField, SetField
from papers.models import Award, AwardGrant, Material, Topic

SEPARATORS = re.compile(r"[\s,;]+")
MAX_URL_CHARS = 1000


class TopicForm(ActionForm):
    topic = ChosenField(None, label=_("topic"), required=False, empty_label=_("No topic"))

    def prepare(self) -> None:
        self.fields["topic"].offer_rows(self, Topic)  # type: ignore[attr-defined]


class TrackForm(ActionForm):
    track = forms.CharField(
        label=_("track"), max_length=100, required=False, help_text=_("Empty for the main track.")
    )


class DecisionForm(ActionForm):
    decision = forms.CharField(
        label=_("decision"), max_length=100, required=False, help_text=_("As named in the review system.")
    )


def set_field(name: str, form_class: type[ActionForm], texts: ActionTexts) -> SetField:
    action = SetField(name, texts)
    action.form_class = form_class
    return action


class AwardForm(ActionForm):
    award = ChosenField(None, label=_("award"))

    def prepare(self) -> None:
        # Offer awards of all editions, because an award may go to an older paper.
        self.fields["award"].offer_rows(self, Award, edition__isnull=False)  # type: ignore[attr-defined]


class GrantAward(BulkAction):
    """Action that grants an award to papers or people. They follow the previous winners."""

    form_class = AwardForm

    def __init__(self, name: str, texts: ActionTexts, winner: str = "paper") -> None:
        super().__init__(name, texts)
        # The foreign key of a grant to such a row.
        self.winner = winner

    def plan(
        self, model_admin: ScopedAdmin, request: HttpRequest, rows: list[Any], values: Values
    ) -> BulkPlan:
        award = values["award"]
        access = access_for(request)
        if not (access.may("change", Award, award) and access.may_inline("add", AwardGrant, award)):
            raise PermissionDenied
        grants = AwardGrant.objects.filter(award=award)
        last_position = grants.aggregate(last=Max("position"))["last"] or 0
        winners = {*grants.values_list(self.winner, flat=True)}
        merged_rows = [row for row in rows if getattr(row, "merged_into_id", None)]
        reason = gettext("It was merged into another entry.")
        plan = BulkPlan(
            same=[row for row in rows if row.pk in winners], skipped=[(row, reason) for row in merged_rows]
        )
        new_winners = [row for row in rows if row.pk not in winners and row not in merged_rows]
        summary = gettext("gets the award “%(award)s”") % {"award": award}
        for position, row in enumerate(new_winners, start=last_position + 1):
            grant = AwardGrant(award=award, position=position, **{self.winner: row})
            plan.lines.append(BulkChange(row, summary, new_row=grant))
        return plan


def match_urls(source: str, uids: Sequence[str]) -> tuple[list[tuple[int, str]], list[str]]:
    """Match a pasted list of addresses to papers. Lines are `identifier address`, or addresses in order.

    Return pairs of the index of a paper and an address, and error messages with line numbers. `uids` are the
    papers' identifiers, in the order of lines without an identifier.
    """
    numbered = enumerate(source.splitlines(), start=1)
    lines = [(number, cells) for number, line in numbered if (cells := SEPARATORS.sub(" ", line).split())]
    cell_counts = {len(cells) for _number, cells in lines}
    problems = [*filter(None, (_check_line(number, cells) for number, cells in lines))]
    if not lines:
        problems = [gettext("Paste at least one address.")]
    elif problems:
        pass
    elif cell_counts == {2}:
        identifier_problems = (_check_identifier(number, cells[0], uids) for number, cells in lines)
        problems = [*filter(None, identifier_problems)]
    elif cell_counts == {1, 2}:
        problems = [gettext("Start every line with a paper's identifier, or none of them.")]
    elif len(lines) != len(uids):
        message = gettext(
            "%(addresses)d addresses for %(papers)d papers: start each line with the paper's identifier."
        )
        problems = [message % {"addresses": len(lines), "papers": len(uids)}]
    if problems:
        return [], problems
    if cell_counts == {1}:
        return [(index, address) for index, (_number, (address,)) in enumerate(lines)], []
    return [(uids.index(uid), address) for _number, (uid, address) in lines], []


def _check_line(number: int, cells: list[str]) -> str:
    if len(cells) > 2:
        return gettext("Line %(line)d: enter an address, or an identifier and an address.") % {"line": number}
    address = cells[-1]
    try:
        validate_http_url(address)
    except ValidationError as error:
        return gettext("Line %(line)d: “%(address)s” is not a valid address. %(why)s") % {
            "line": number,
            "address": address[:80],
            "why": " ".join(error.messages),
        }
    if len(address) > MAX_URL_CHARS:
        return gettext("Line %(line)d: the address has more than %(most)d characters.") % {
            "line": number,
            "most": MAX_URL_CHARS,
        }
    return ""


def _check_identifier(number: int, uid: str, uids: Sequence[str]) -> str:
    if uids.count(uid) == 1:
        return ""
    message = gettext("Line %(line)d: no chosen paper has the identifier “%(uid)s”.")
    if uid in uids:
        message = gettext("Line %(line)d: two chosen papers have the identifier “%(uid)s”.")
    return message % {"line": number, "uid": uid}


class LinksForm(ActionForm):
    kind = forms.ChoiceField(label=_("kind"), choices=Material.Kind.choices)
    label = forms.CharField(
        label=_("label"),
        max_length=Material._meta.get_field("label").max_length,
        required=False,
        help_text=_("Leave empty to use the kind."),
    )
    visible = forms.BooleanField(label=_("visible"), required=False, initial=True)
    addresses = forms.CharField(
        label=_("addresses"),
        widget=forms.Textarea(attrs={"rows": 8, "class": "vLargeTextField", "spellcheck": "false"}),
        max_length=2_000_000,
        help_text=_(
            "One per line: the paper’s identifier and the address, or only addresses in the order of "
            "the list."
        ),
    )


class AddMaterial(BulkAction):
    """Action that adds materials by address, except those that a paper already has."""

    form_class = LinksForm

    def plan(
        self, model_admin: ScopedAdmin, request: HttpRequest, rows: list[Any], values: Values
    ) -> BulkPlan:
        pairs, problems = match_urls(values["addresses"], [row.uid for row in rows])
        materials = Material.objects.filter(paper__in=[row.pk for row in rows])
        existing_urls = {*materials.filter(kind=values["kind"]).values_list("paper", "url")}
        last_positions = dict(materials.values_list("paper").annotate(last=Max("position")).order_by())
        plan, access = BulkPlan(problems=problems), access_for(request)
        kind = Material.Kind(values["kind"]).label
        for index, address in pairs:
            paper = rows[index]
            if (paper.pk, address) in existing_urls:
                plan.same.append(paper)
                continue
            existing_urls.add((paper.pk, address))
            last_positions[paper.pk] = last_positions.get(paper.pk, 0) + 1
            material = Material(
                paper=paper,
                kind=values["kind"],
                label=values["label"],
                url=address,
                visible=values["visible"],
                position=last_positions[paper.pk],
            )
            if not access.may("add", Material, material):
                plan.skipped.append((paper, gettext("You don’t have permission to add material to it.")))
                continue
            material.clean_in_memory()
            summary = gettext("gets %(kind)s %(address)s") % {"kind": kind, "address": address}
            plan.lines.append(BulkChange(paper, summary, new_row=material))
        return plan


GRANT_WORDS = ActionTexts(
    _("Grant an award to selected %(verbose_name_plural)s"),
    _("Award granted to %(amount)s."),
    ngettext_lazy("%(count)d has the award already.", "%(count)d have the award already.", "count"),
    _("Grant the award to %(amount)s"),
)
grant_to_people = GrantAward("grant_award", GRANT_WORDS, "person")
ACTIONS = [
    set_field(
        "set_topic",
        TopicForm,
        ActionTexts(
            _("Set topic of selected %(verbose_name_plural)s"),
            _("Topic set for %(amount)s."),
            HAS_IT_ALREADY,
            _("Set topic of %(amount)s"),
        ),
    ),
    set_field(
        "set_track",
        TrackForm,
        ActionTexts(
            _("Set track of selected %(verbose_name_plural)s"),
            _("Track set for %(amount)s."),
            HAS_IT_ALREADY,
            _("Set track of %(amount)s"),
        ),
    ),
    set_field(
        "set_decision",
        DecisionForm,
        ActionTexts(
            _("Set decision of selected %(verbose_name_plural)s"),
            _("Decision set for %(amount)s."),
            HAS_IT_ALREADY,
            _("Set decision of %(amount)s"),
        ),
    ),
    GrantAward("grant_award", GRANT_WORDS),
    AddMaterial(
        "add_material",
        ActionTexts(
            _("Add material to selected %(verbose_name_plural)s"),
            _("Material was added to %(amount)s."),
            ngettext_lazy("%(count)d is there already.", "%(count)d are there already.", "count"),
            _("Add material to %(amount)s"),
        ),
    ),
]
