"""Models of people with their names and identifiers, institutions, and committees."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, ClassVar
from urllib.parse import quote
from zlib import crc32

from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

import markup
from conference.models import Edition
from conference.pictures import SmallPictureField
from content.changed.dated import Dated, follow
from content.fields import HttpURLField, LinesField, MarkdownField, SlugKey, UidField
from content.models import Content, Ordered
from content.page_paths import page_path
from content.publicity.rules import SITE, PublicWhen
from content.querysets import published_rows
from people import names
from people.invitations import Invitation, PersonAccount
from people.pairs import (
    Comparison,
    InstitutionDistinction,
    InstitutionPair,
    LikelyNamesake,
    PersonDistinction,
    PersonPair,
)
from people.querysets import (
    CommitteeRoleQuerySet,
    InstitutionQuerySet,
    PersonNameQuerySet,
    PersonPartQuerySet,
    PersonQuerySet,
    appearance_relations,
)
from people.revealing_addresses import forget_addresses, revealing_keys

__all__ = [
    "CommitteeRole",
    "Comparison",
    "Institution",
    "InstitutionDistinction",
    "InstitutionPair",
    "Invitation",
    "LikelyNamesake",
    "Mergeable",
    "Person",
    "PersonAccount",
    "PersonDistinction",
    "PersonIdentifier",
    "PersonName",
    "PersonPair",
    "validate_orcid",
]


def validate_orcid(value: str) -> None:
    """Raise `ValidationError` unless the checksum of the ORCID iD is right (ISO 7064, MOD 11-2)."""
    if not names.is_valid_orcid(value):
        raise ValidationError(
            _("This is not a valid ORCID iD, such as 0000-0002-1825-0097 with its check digit.")
        )


class Person(Dated, Content):
    """An author, speaker, chair or organizer. Editions share people."""

    identity: ClassVar[str] = "uid"
    has_personal_address: ClassVar[bool] = True
    public_when = PublicWhen()
    personal_fields: ClassVar[tuple[str, ...]] = (
        "uid",
        "name",
        "given",
        "family",
        "sort_key",
        "folded",
        "native_name",
        "affiliation",
        "orcid",
        "homepage",
        "photo",
        "biography",
        "biography_html",
        "email",
    )
    edition_lookup: ClassVar[str] = ""
    derived_fields: ClassVar[tuple[str, ...]] = ("sort_key", "folded", "biography_html", "suspicious")
    derived_from: ClassVar[tuple[str, ...]] = ("name", "given", "family", "native_name", "biography")
    changes_with = (follow("names"), follow("identifiers"))
    unshown = ("email",)

    uid = UidField(unique=True)
    name = models.CharField(
        _("display name"), max_length=200, help_text=_("The name as displayed, such as Ana María Muñoz.")
    )
    given = models.CharField(_("given names"), max_length=150, blank=True)
    family = models.CharField(
        _("family name"), max_length=150, blank=True, help_text=_("Lists are sorted by it.")
    )
    sort_key = models.CharField(max_length=400, editable=False, db_index=True)
    folded = models.CharField(max_length=400, editable=False, db_index=True)
    # Whether the name looks wrong. It is stored because the admin filters all people by it.
    suspicious = models.BooleanField(default=False, editable=False)
    native_name = models.CharField(_("name in its own script"), max_length=200, blank=True)
    affiliation = models.CharField(
        _("affiliation"), max_length=300, blank=True, help_text=_("The person's current affiliation.")
    )
    orcid = models.CharField(_("ORCID iD"), max_length=19, blank=True, validators=[validate_orcid])
    homepage = HttpURLField(_("homepage"), blank=True)
    photo = SmallPictureField(_("photo"), upload_to="people/", blank=True)
    biography = MarkdownField(_("biography"), blank=True, help_text=_("Markdown."))
    biography_html = models.TextField(blank=True, editable=False)
    email = models.EmailField(
        _("e-mail"), blank=True, help_text=_("For the chairs only; never shown or exported.")
    )
    merged_into = models.ForeignKey(
        "self",
        models.PROTECT,
        verbose_name=_("merged into"),
        null=True,
        blank=True,
        editable=False,
        related_name="merged_people",
    )

    objects = PersonQuerySet.as_manager()

    class Meta:
        ordering = ["sort_key", "uid"]
        verbose_name = _("person")
        verbose_name_plural = _("people")
        constraints = [
            models.UniqueConstraint(fields=["orcid"], condition=~Q(orcid=""), name="person_orcid_unique"),
            models.CheckConstraint(
                condition=Q(merged_into__isnull=True) | ~Q(merged_into=F("id")),
                name="person_not_merged_into_itself",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return page_path("people:detail", self.uid, markup.slug(self.name))

    @property
    def initials(self) -> str:
        """The initials that replace a missing photo."""
        return names.initials(self.given, self.family, self.name)

    @property
    def tone(self) -> int:
        """The color of the initials, as a number from 0 to 11 that never changes."""
        return crc32(self.uid.encode()) % 12

    @property
    def native_language(self) -> str:
        """The language tag of the native name, for screen readers."""
        return markup.language_of_name(self.native_name)

    @classmethod
    def secret_addresses(cls, uids: Mapping[int, str]) -> set[int]:
        return revealing_keys(uids)

    def clean(self) -> None:
        self.name = names.normalize(self.name)
        self.orcid = names.normalize_orcid(self.orcid)
        if not self.name:
            raise ValidationError({"name": _("Enter the person's name.")})

    @classmethod
    def shown_by(cls) -> list[tuple[type[Any], str, str]]:
        return [(model, name, model.edition_lookup) for model, name in appearance_relations(cls)]

    def derive(self) -> None:
        parts = names.split(self.name)
        if not self.family:
            self.given, self.family = parts.given, parts.family
        self.sort_key = names.sort_key(self.given, self.family, self.name)[:400]
        self.folded = markup.fold(f"{self.name} {self.native_name}")[:400]
        self.suspicious = names.is_suspicious(self.name)
        self.biography_html = markup.block(self.biography)


class PersonName(Content):
    """Another spelling of a person's name. Public pages and files never show hidden names."""

    personal_fields: ClassVar[tuple[str, ...]] = ("name", "folded")
    part_of: ClassVar[tuple[str, ...]] = ("person",)
    edition_lookup: ClassVar[str] = ""
    derived_fields: ClassVar[tuple[str, ...]] = ("folded",)
    derived_from: ClassVar[tuple[str, ...]] = ("name",)

    person = models.ForeignKey(Person, models.CASCADE, verbose_name=_("person"), related_name="names")
    name = models.CharField(_("name"), max_length=200)
    folded = models.CharField(max_length=400, editable=False, db_index=True)
    hidden = models.BooleanField(
        _("hidden"),
        default=False,
        help_text=_(
            "A former name that must not appear anywhere public. If the address of the person’s page "
            "tells it, the page gets another one, and the old one is not found."
        ),
    )

    objects = PersonNameQuerySet.as_manager()

    class Meta:
        ordering = ["name", "pk"]
        verbose_name = _("person name")
        verbose_name_plural = _("person names")
        constraints = [models.UniqueConstraint(fields=["person", "name"], name="person_name_unique")]
        # The search index queries the hidden names after each change.
        indexes = [models.Index(fields=["hidden"], name="person_name_by_hidden")]

    def __str__(self) -> str:
        return self.name

    def save(self, **kwargs: Any) -> None:
        super().save(**kwargs)
        if self.hidden:
            forget_addresses(self.person)

    def derive(self) -> None:
        # Names as printed are also normalized, and are compared with this one.
        self.name = names.normalize(self.name)
        self.folded = markup.fold(self.name)[:400]


# Names and addresses of profiles in other systems, by scheme.
PROFILES = {
    "dblp": ("DBLP", "https://dblp.org/pid/{}"),
    "github": ("GitHub", "https://github.com/{}"),
    "openreview": ("OpenReview", "https://openreview.net/profile?id={}"),
    "openreview.net": ("OpenReview", "https://openreview.net/profile?id={}"),
    "scholar": ("Google Scholar", "https://scholar.google.com/citations?user={}"),
}


class PersonIdentifier(Content):
    """A person's identifier in another system: the scheme (such as neurips.cc or dblp) and the value."""

    personal_fields: ClassVar[tuple[str, ...]] = ("scheme", "value")
    part_of: ClassVar[tuple[str, ...]] = ("person",)
    edition_lookup: ClassVar[str] = ""

    person = models.ForeignKey(Person, models.CASCADE, verbose_name=_("person"), related_name="identifiers")
    scheme = models.CharField(_("scheme"), max_length=60)
    value = models.CharField(_("value"), max_length=120)

    objects = PersonPartQuerySet["PersonIdentifier"].as_manager()

    class Meta:
        ordering = ["scheme", "value"]
        verbose_name = _("person identifier")
        verbose_name_plural = _("person identifiers")
        constraints = [models.UniqueConstraint(fields=["scheme", "value"], name="person_identifier_unique")]

    def __str__(self) -> str:
        return f"{self.scheme}: {self.value}"

    @property
    def profile(self) -> tuple[str, str] | None:
        """The name and address of the profile in the other system, or `None` if the scheme is unknown."""
        label, pattern = PROFILES.get(self.scheme, ("", ""))
        return (label, pattern.format(quote(self.value, safe="~/"))) if label else None


class Institution(Dated, Content):
    """A university, laboratory or company."""

    identity: ClassVar[str] = "slug"
    public_when = PublicWhen()
    personal_fields: ClassVar[tuple[str, ...]] = ()
    edition_lookup: ClassVar[str] = ""
    derived_fields: ClassVar[tuple[str, ...]] = ("folded",)
    derived_from: ClassVar[tuple[str, ...]] = ("name", "aliases")

    slug = SlugKey(_("slug"), max_length=80, unique=True)
    name = models.CharField(_("name"), max_length=300)
    folded = models.CharField(max_length=600, editable=False, db_index=True)
    aliases = LinesField(_("aliases"), help_text=_("Other names and short forms, one per line."))
    ror = HttpURLField(_("ROR iD"), blank=True, help_text=_("Such as https://ror.org/05a28rw58."))
    country = models.CharField(_("country"), max_length=100, blank=True)
    merged_into = models.ForeignKey(
        "self",
        models.PROTECT,
        verbose_name=_("merged into"),
        null=True,
        blank=True,
        editable=False,
        related_name="merged_institutions",
    )

    objects = InstitutionQuerySet.as_manager()

    class Meta:
        ordering = ["name", "slug"]
        verbose_name = _("institution")
        verbose_name_plural = _("institutions")
        constraints = [
            models.UniqueConstraint(fields=["ror"], condition=~Q(ror=""), name="institution_ror_unique"),
            models.CheckConstraint(
                condition=Q(merged_into__isnull=True) | ~Q(merged_into=F("id")),
                name="institution_not_merged_into_itself",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return page_path("people:institution", self.slug)

    def papers(self, at: datetime | None = None) -> models.QuerySet[Content]:
        """Return the published papers of all years by authors of this institution, newest first."""
        authorships = published_rows(Institution, "authorships", at).filter(institutions=self)
        papers: models.QuerySet[Content] = published_rows(authorships.model, "paper", at)
        papers = papers.filter(pk__in=authorships.order_by().values("paper"))
        return papers.order_by("-edition__start_date", "edition__slug", "sort_title", "uid")

    def editions(self, at: datetime | None = None) -> models.QuerySet[Edition]:
        """Return the editions with papers of this institution, newest first, with `paper_count`."""
        papers = self.papers(at).order_by().values("pk")
        editions: models.QuerySet[Edition] = Edition.objects.filter(papers__in=papers)
        return editions.annotate(paper_count=models.Count("papers")).order_by("-start_date", "slug")

    def people(self, at: datetime | None = None) -> PersonQuerySet:
        """Return the authors of published papers of this institution, by family name."""
        authorships = published_rows(Institution, "authorships", at).filter(institutions=self)
        authors = Person.objects.published(at).filter(pk__in=authorships.order_by().values("person"))
        return authors.by_letter()

    @classmethod
    def shown_by(cls) -> list[tuple[type[Any], str, str]]:
        return [(model, name, model.edition_lookup) for model, name in appearance_relations(cls)]

    def derive(self) -> None:
        self.folded = markup.fold(" ".join([self.name, *self.aliases]))[:600]


class CommitteeRole(Ordered, Content):
    """A person's office in an edition, such as Program Chair."""

    public_when = PublicWhen(SITE)
    personal_fields: ClassVar[tuple[str, ...]] = ("role", "affiliation")
    part_of: ClassVar[tuple[str, ...]] = ("edition", "person")

    edition = models.ForeignKey(
        Edition, models.CASCADE, verbose_name=_("edition"), related_name="committee_roles"
    )
    person = models.ForeignKey(
        Person, models.PROTECT, verbose_name=_("person"), related_name="committee_roles"
    )
    role = models.CharField(
        _("role"), max_length=100, help_text=_("For example, Program Chair. Members are grouped by role.")
    )
    affiliation = models.CharField(
        _("affiliation"), max_length=300, blank=True, help_text=_("As printed in this year's program.")
    )

    objects = CommitteeRoleQuerySet.as_manager()

    class Meta:
        ordering = ["position", "pk"]
        verbose_name = _("committee role")
        verbose_name_plural = _("committee roles")
        constraints = [
            models.UniqueConstraint(fields=["edition", "person", "role"], name="committee_role_unique")
        ]

    def __str__(self) -> str:
        return f"{self.person}, {self.role}"


type Mergeable = Person | Institution
