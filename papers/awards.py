"""Awards of an edition, and what they go to."""

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

import markup
from conference.models import Edition
from content.fields import UidField
from content.models import Content, Ordered, Status
from papers.querysets import AwardGrantQuerySet, AwardQuerySet
from people.models import Person


class Award(Ordered, Content):
    """An award of an edition, such as Outstanding Paper Award."""

    personal_fields: ClassVar[tuple[str, ...]] = ()
    derived_fields: ClassVar[tuple[str, ...]] = ("citation_html",)
    derived_from: ClassVar[tuple[str, ...]] = ("citation",)

    edition = models.ForeignKey(Edition, models.CASCADE, verbose_name=_("edition"), related_name="awards")
    uid = UidField()
    name = models.CharField(_("name"), max_length=150)
    citation = models.TextField(_("citation"), blank=True, help_text=_("What it is given for. Markdown."))
    citation_html = models.TextField(blank=True, editable=False)
    status = models.CharField(_("status"), max_length=12, choices=Status, default=Status.DRAFT)

    objects = AwardQuerySet.as_manager()

    class Meta:
        ordering = ["position", "pk"]
        verbose_name = _("award")
        verbose_name_plural = _("awards")
        constraints = [models.UniqueConstraint(fields=["edition", "uid"], name="award_uid_unique_in_edition")]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return f"{reverse('papers:awards', args=[self.edition.slug])}#{self.anchor}"

    @property
    def anchor(self) -> str:
        """Return its address on the page of awards."""
        return f"award-{self.uid}"

    def derive(self) -> None:
        self.citation_html = markup.block(self.citation)


class AwardGrant(Ordered, Content):
    """An award going to a paper, which may be an older one (Test of Time), or to a person."""

    personal_fields: ClassVar[tuple[str, ...]] = ("citation", "citation_html")
    part_of: ClassVar[tuple[str, ...]] = ("award", "paper")
    edition_lookup: ClassVar[str] = "award__edition"
    other_edition_lookup: ClassVar[str] = "paper__edition"
    siblings_of: ClassVar[str] = "award"
    derived_fields: ClassVar[tuple[str, ...]] = ("citation_html",)
    derived_from: ClassVar[tuple[str, ...]] = ("citation",)

    award = models.ForeignKey(Award, models.CASCADE, verbose_name=_("award"), related_name="grants")
    paper = models.ForeignKey(
        "papers.Paper", models.CASCADE, verbose_name=_("paper"), null=True, blank=True, related_name="grants"
    )
    person = models.ForeignKey(
        Person, models.PROTECT, verbose_name=_("person"), null=True, blank=True, related_name="grants"
    )
    citation = models.TextField(_("citation"), blank=True, help_text=_("The jury's words. Markdown."))
    citation_html = models.TextField(blank=True, editable=False)

    objects = AwardGrantQuerySet.as_manager()

    class Meta:
        ordering = ["award", "position", "pk"]
        verbose_name = _("award grant")
        verbose_name_plural = _("award grants")
        constraints = [
            models.CheckConstraint(
                condition=Q(paper__isnull=True, person__isnull=False)
                | Q(paper__isnull=False, person__isnull=True),
                name="award_grant_has_one_winner",
                violation_error_message=_("Give either a paper or a person."),
            ),
            models.UniqueConstraint(fields=["award", "paper"], name="award_grant_paper_unique"),
            models.UniqueConstraint(fields=["award", "person"], name="award_grant_person_unique"),
        ]

    def __str__(self) -> str:
        return f"{self.award}: {self.paper or self.person}"

    def derive(self) -> None:
        self.citation_html = markup.block(self.citation)
