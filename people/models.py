"""Who: people, their names and identifiers, institutions, committees. What they wrote is `papers`'."""

from datetime import datetime
from typing import Any, ClassVar

from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import F, Q
from django.urls import reverse

from conference import text
from conference.bases import Content, Ordered
from conference.fields import HttpURLField, LinesField, SlugKey, UidField
from conference.models import Edition
from conference.querysets import published_rows
from people import names
from people.querysets import (
    CommitteeRoleQuerySet,
    InstitutionQuerySet,
    PersonIdentifierQuerySet,
    PersonNameQuerySet,
    PersonQuerySet,
)


def validate_orcid(value: str) -> None:
    """Raise `ValidationError` unless the checksum of the ORCID iD is right (ISO 7064, MOD 11-2)."""
    if not names.is_valid_orcid(value):
        raise ValidationError("This is not an ORCID iD: its form is 0000-0002-1825-0097, with a check digit.")


class Person(Content):
    """Somebody who wrote, spoke, chaired or organised, across all years."""

    edition_lookup: ClassVar[str] = ""
    derived_fields: ClassVar[tuple[str, ...]] = ("sort_key", "folded", "biography_html")

    uid = UidField(unique=True)
    name = models.CharField(
        "display name", max_length=200, help_text="As it is shown, such as Ana María Muñoz."
    )
    given = models.CharField("given names", max_length=150, blank=True)
    family = models.CharField("family name", max_length=150, blank=True, help_text="Lists are sorted by it.")
    sort_key = models.CharField(max_length=400, editable=False, db_index=True)
    folded = models.CharField(max_length=400, editable=False, db_index=True)
    native_name = models.CharField("name in its own script", max_length=200, blank=True)
    affiliation = models.CharField(max_length=300, blank=True, help_text="Where the person is now.")
    orcid = models.CharField("ORCID iD", max_length=19, blank=True, validators=[validate_orcid])
    homepage = HttpURLField(blank=True)
    photo = models.ImageField(upload_to="people/", blank=True)
    biography = models.TextField(blank=True, help_text="Markdown.")
    biography_html = models.TextField(blank=True, editable=False)
    email = models.EmailField("e-mail", blank=True, help_text="For the chairs only; never shown or exported.")
    merged_into = models.ForeignKey(
        "self", models.PROTECT, null=True, blank=True, editable=False, related_name="merged_people"
    )

    objects = PersonQuerySet.as_manager()

    class Meta:
        ordering = ["sort_key", "uid"]
        verbose_name_plural = "people"
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
        return reverse("people:detail", args=[self.uid, text.slug(self.name)])

    @property
    def native_language(self) -> str:
        """What the name in its own script is read as, for those who hear the page."""
        return names.language(self.native_name)

    def clean(self) -> None:
        self.name = names.normal(self.name)
        self.orcid = names.normal_orcid(self.orcid)
        if not self.name:
            raise ValidationError({"name": "Give the person's name."})

    def derive(self) -> None:
        parts = names.split(self.name)
        if not self.family:
            self.given, self.family = parts.given, parts.family
        self.sort_key = names.sort_key(self.given, self.family, self.name)[:400]
        self.folded = text.fold(f"{self.name} {self.native_name}")[:400]
        self.biography_html = text.block(self.biography)


class NamedAsPrinted(models.Model):
    """A person's part in something, under the name as it is printed there."""

    name = models.CharField(
        "name as printed", max_length=200, blank=True, help_text="Empty: the person's display name."
    )

    class Meta:
        abstract = True

    def derive(self) -> None:
        self.name = names.normal(self.name) or str(self.person)  # type: ignore[attr-defined]


class PersonName(Content):
    """Another spelling of a person's name. A hidden one appears nowhere that is public."""

    edition_lookup: ClassVar[str] = ""
    derived_fields: ClassVar[tuple[str, ...]] = ("folded",)

    person = models.ForeignKey(Person, models.CASCADE, related_name="names")
    name = models.CharField(max_length=200)
    folded = models.CharField(max_length=400, editable=False, db_index=True)
    hidden = models.BooleanField(default=False, help_text="A former name that must appear nowhere public.")

    objects = PersonNameQuerySet.as_manager()

    class Meta:
        ordering = ["name", "pk"]
        constraints = [models.UniqueConstraint(fields=["person", "name"], name="person_name_unique")]

    def __str__(self) -> str:
        return self.name

    def derive(self) -> None:
        # Compared with names as printed, which are in the same form.
        self.name = names.normal(self.name)
        self.folded = text.fold(self.name)[:400]


class PersonIdentifier(Content):
    """How another system calls a person: the scheme (such as neurips.cc or dblp) and the value there."""

    edition_lookup: ClassVar[str] = ""

    person = models.ForeignKey(Person, models.CASCADE, related_name="identifiers")
    scheme = models.CharField(max_length=60)
    value = models.CharField(max_length=120)

    objects = PersonIdentifierQuerySet.as_manager()

    class Meta:
        ordering = ["scheme", "value"]
        constraints = [models.UniqueConstraint(fields=["scheme", "value"], name="person_identifier_unique")]

    def __str__(self) -> str:
        return f"{self.scheme}: {self.value}"


class Institution(Content):
    """A university, laboratory or company."""

    edition_lookup: ClassVar[str] = ""
    derived_fields: ClassVar[tuple[str, ...]] = ("folded",)

    slug = SlugKey(max_length=80, unique=True)
    name = models.CharField(max_length=300)
    folded = models.CharField(max_length=600, editable=False, db_index=True)
    aliases = LinesField(help_text="Other names and short forms, one a line.")
    ror = HttpURLField("ROR iD", blank=True, help_text="Such as https://ror.org/05a28rw58.")
    country = models.CharField(max_length=100, blank=True)

    objects = InstitutionQuerySet.as_manager()

    class Meta:
        ordering = ["name", "slug"]
        constraints = [
            models.UniqueConstraint(fields=["ror"], condition=~Q(ror=""), name="institution_ror_unique")
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("people:institution", args=[self.slug])

    def papers(self, at: datetime | None = None) -> Any:
        """Return the published papers of all years with an author from here, the newest year first."""
        wrote = published_rows(type(self), "authorships", at).filter(institutions=self)
        papers = published_rows(wrote.model, "paper", at).filter(pk__in=wrote.order_by().values("paper"))
        return papers.order_by("-edition__start_date", "edition__slug", "sort_title", "uid")

    def editions(self, at: datetime | None = None) -> Any:
        """Return the editions with its papers, the newest first, each with their number as `paper_count`."""
        papers = self.papers(at).order_by().values("pk")
        found = Edition.objects.filter(papers__in=papers).annotate(paper_count=models.Count("papers"))
        return found.order_by("-start_date", "slug")

    def people(self, at: datetime | None = None) -> Any:
        """Return those who wrote published papers from here, by family name."""
        wrote = published_rows(type(self), "authorships", at).filter(institutions=self)
        authors = Person.objects.published(at).filter(pk__in=wrote.order_by().values("person"))
        return authors.order_by("sort_key", "uid")

    def derive(self) -> None:
        self.folded = text.fold(" ".join([self.name, *self.aliases]))[:600]


class CommitteeRole(Ordered, Content):
    """A person's office in an edition, such as Program Chair."""

    edition = models.ForeignKey(Edition, models.CASCADE, related_name="committee_roles")
    person = models.ForeignKey(Person, models.PROTECT, related_name="committee_roles")
    role = models.CharField(
        max_length=100, help_text="Such as Program Chair. One office's people stand together."
    )
    affiliation = models.CharField(max_length=300, blank=True, help_text="As printed in this year's program.")

    objects = CommitteeRoleQuerySet.as_manager()

    class Meta:
        ordering = ["position", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["edition", "person", "role"], name="committee_role_unique")
        ]

    def __str__(self) -> str:
        return f"{self.person}, {self.role}"
