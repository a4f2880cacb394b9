"""What an import makes public, and when: the choice of a chair.

A row becomes public by its status. While the schedule of an edition has changes that wait for a release, so
does what an import would make public, unless a chair publishes it now. What a file hides is hidden at once.
"""

from dataclasses import dataclass

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _

from conference.models import Edition
from content.models import Content
from content.publicity.rules import PublicWhen
from content.unreleased.plan import waiting_editions
from exchange.imports.kinds import KINDS, PAPER, PRESENTATION, SESSION, Kind, Values

DRAFT = "draft"
# The kinds whose status a release of the schedule can change. Of others, what should wait stays a draft.
RELEASED_KINDS = (PAPER, SESSION, PRESENTATION)
KINDS_WITH_STATUS = [kind for kind in KINDS.values() if "status" in kind.plain_fields]


class Publication(TextChoices):
    """When the rows become public that a file publishes."""

    NOW = "now", _("Publish now")
    WITH_RELEASE = "with-release", _("Publish with the next release")
    DRAFTS = "drafts", _("Keep as drafts")


def waits_for_release(edition: Edition | None) -> bool:
    """Return whether the schedule of this edition has changes that wait for a release, or may have."""
    return edition is not None and bool(edition.pk and waiting_editions([edition.pk]))


@dataclass(frozen=True, slots=True)
class PublicationRule:
    """When an import publishes, and whether changes of the edition's schedule wait for a release."""

    choice: Publication = Publication.NOW
    waits: bool = False

    @property
    def is_immediate(self) -> bool:
        """Return whether the import changes the public schedule, not the unreleased one."""
        return not self.waits or self.choice == Publication.NOW

    def keeps_draft(self, kind: Kind) -> bool:
        """Return whether rows of a kind that the file publishes stay drafts."""
        return self.choice == Publication.DRAFTS or (
            self.choice == Publication.WITH_RELEASE and kind not in RELEASED_KINDS
        )


def choices_for(*, waits: bool, may_publish: bool) -> list[Publication]:
    """Return the possible choices, the usual one first."""
    if not may_publish:
        return [Publication.DRAFTS]
    return [*([Publication.WITH_RELEASE] if waits else []), Publication.NOW, Publication.DRAFTS]


def rule_for(edition: Edition | None, chosen: str, *, may_publish: bool) -> PublicationRule:
    """Return the rule of an import. An impossible choice, such as of a release gone by, makes drafts."""
    waits = waits_for_release(edition)
    choices = choices_for(waits=waits, may_publish=may_publish)
    if not chosen:
        return PublicationRule(choices[0], waits)
    return PublicationRule(Publication(chosen) if chosen in choices else Publication.DRAFTS, waits)


def public_when(kind: Kind) -> PublicWhen:
    rule = kind.model.public_when
    if rule is None:
        raise LookupError(kind.name)
    return rule


def publishes(kind: Kind, row: Content, values: Values) -> bool:
    """Return whether these values would give a row a public status that it does not have."""
    if kind not in KINDS_WITH_STATUS:
        return False
    public, status = public_when(kind).having["status"], getattr(row, "status", "")
    return status not in public and values.get("status") in public


def keep_draft(kind: Kind, status: object, updates: Values, last_import: Values, base: Values) -> bool:
    """Leave the status out of the values to write and to store if it would publish a row; return whether.

    `status` is the present one, `None` of a new row. `base`: the stored values of the last import. The status
    of the file is not stored as last imported, so that the next import can publish the row.
    """
    public = public_when(kind).having["status"]
    if status is None:
        is_published = updates.get("status", kind.columns["status"].get_default()) in public
        if is_published:
            updates["status"] = last_import["status"] = DRAFT
        return is_published
    if updates.get("status") not in public or status in public:
        return False
    del updates["status"]
    last_import.pop("status")
    if "status" in base:
        last_import["status"] = base["status"]
    return True
