"""Models of distinct pairs of people or institutions, likely duplicates, and likely namesakes.

`people.duplicates` finds duplicates and namesakes.
"""

from typing import ClassVar, Self

from django.db import models
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from content.models import Content
from people.querysets import DistinctionQuerySet, LikelyNamesakeQuerySet, SuggestionQuerySet


class Distinction(Content):
    """A chair's decision that two rows are not the same. They are never suggested again."""

    part_of: ClassVar[tuple[str, ...]] = ("first", "second")
    edition_lookup: ClassVar[str] = ""

    first: object
    second: object
    first_id: int
    second_id: int

    class Meta:
        abstract = True
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(fields=["first", "second"], name="%(class)s_unique"),
            models.CheckConstraint(condition=Q(first__lt=F("second")), name="%(class)s_in_order"),
        ]

    def __str__(self) -> str:
        return gettext("%(first)s is not %(second)s") % {"first": self.first, "second": self.second}

    def derive(self) -> None:
        """Put the smaller key first, so that each pair is stored only once."""
        if self.first_id and self.second_id and self.first_id > self.second_id:
            self.first, self.second = self.second, self.first


class PersonDistinction(Distinction):
    """Two people who are not the same."""

    first = models.ForeignKey(
        "people.Person", models.CASCADE, verbose_name=_("first person"), related_name="+"
    )
    second = models.ForeignKey(
        "people.Person", models.CASCADE, verbose_name=_("second person"), related_name="+"
    )

    objects = DistinctionQuerySet["PersonDistinction"].as_manager()

    class Meta(Distinction.Meta):
        verbose_name = _("pair of people who are not the same")
        verbose_name_plural = _("people who are not the same")


class InstitutionDistinction(Distinction):
    """Two institutions that are not the same."""

    first = models.ForeignKey(
        "people.Institution", models.CASCADE, verbose_name=_("first institution"), related_name="+"
    )
    second = models.ForeignKey(
        "people.Institution", models.CASCADE, verbose_name=_("second institution"), related_name="+"
    )

    objects = DistinctionQuerySet["InstitutionDistinction"].as_manager()

    class Meta(Distinction.Meta):
        verbose_name = _("pair of institutions that are not the same")
        verbose_name_plural = _("institutions that are not the same")


class Suggestion(models.Model):
    """A result of the last search, with its likelihood in percent. `subjects` are its foreign keys."""

    subjects: ClassVar[tuple[str, ...]]

    score = models.PositiveSmallIntegerField(
        _("likelihood"), help_text=_("Of a hundred such suggestions, how many are right.")
    )

    class Meta:
        abstract = True
        ordering = ["-score", "pk"]


class LikelyPair(Suggestion):
    """Two rows that may be duplicates, with the reasons as codes."""

    subjects: ClassVar[tuple[str, ...]] = ("first", "second")

    # The codes of the reasons with commas around each, for filters, such as “,name_order,coauthors,”.
    signs = models.CharField(_("signs"), max_length=300)
    reasons = models.JSONField(_("reasons"), default=list)

    first: object
    second: object

    class Meta(Suggestion.Meta):
        abstract = True
        constraints = [models.UniqueConstraint(fields=["first", "second"], name="%(class)s_unique")]

    def __str__(self) -> str:
        return f"{self.first} / {self.second}"


class PersonPair(LikelyPair):
    """Two people who may be duplicates."""

    personal_fields: ClassVar[tuple[str, ...]] = ("signs", "reasons")

    first = models.ForeignKey(
        "people.Person", models.CASCADE, verbose_name=_("first person"), related_name="+"
    )
    second = models.ForeignKey(
        "people.Person", models.CASCADE, verbose_name=_("second person"), related_name="+"
    )

    objects = SuggestionQuerySet["PersonPair"].as_manager()

    class Meta(LikelyPair.Meta):
        verbose_name = _("likely duplicate person")
        verbose_name_plural = _("likely duplicates of people")


class InstitutionPair(LikelyPair):
    """Two institutions that may be duplicates."""

    personal_fields: ClassVar[tuple[str, ...]] = ()

    first = models.ForeignKey(
        "people.Institution", models.CASCADE, verbose_name=_("first institution"), related_name="+"
    )
    second = models.ForeignKey(
        "people.Institution", models.CASCADE, verbose_name=_("second institution"), related_name="+"
    )

    objects = SuggestionQuerySet["InstitutionPair"].as_manager()

    class Meta(LikelyPair.Meta):
        verbose_name = _("likely duplicate institution")
        verbose_name_plural = _("likely duplicates of institutions")


class LikelyNamesake(Suggestion):
    """A person who may be two people with the same name, according to the last search."""

    personal_fields: ClassVar[tuple[str, ...]] = ("papers",)
    subjects: ClassVar[tuple[str, ...]] = ("person",)

    person = models.OneToOneField("people.Person", models.CASCADE, verbose_name=_("person"), related_name="+")
    papers = models.JSONField(
        _("papers"), default=list, help_text=_("The keys of those that look like somebody else's.")
    )
    is_one = models.BooleanField(_("is one person"), default=False, help_text=_("Decided by a chair."))

    objects = LikelyNamesakeQuerySet.as_manager()

    class Meta(Suggestion.Meta):
        verbose_name = _("likely namesake")
        verbose_name_plural = _("likely namesakes")

    def __str__(self) -> str:
        return str(self.person)


class Comparison(models.Model):
    """The time of the last search for duplicates of a model, and the state of the data at that time."""

    personal_fields: ClassVar[tuple[str, ...]] = ()

    model = models.CharField(_("model"), max_length=60, unique=True)
    at = models.DateTimeField(_("at"), default=timezone.now)
    state = models.CharField(_("state"), max_length=80)
    # Rows with a larger key are newer than the search.
    last_key = models.BigIntegerField(_("last key"), default=0)

    class Meta:
        verbose_name = _("comparison")
        verbose_name_plural = _("comparisons")

    def __str__(self) -> str:
        return f"{self.model}, {self.at:%Y-%m-%d %H:%M} UTC"

    @classmethod
    def for_model(cls, model: type[models.Model]) -> Self | None:
        """Return the last search for duplicates of this model, or `None`."""
        return cls.objects.filter(model=model._meta.label_lower).first()
