"""Models of invitations to take part in the program: to speak, to chair a session, to sit on a panel.

People respond on their own page, behind a secret link, without an account. Only its digest is stored. Nothing
here is public or exported to files. `people.invitations` is for roles of the desk.
"""

from datetime import date, datetime, timedelta
from typing import ClassVar, Self

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Exists, OuterRef, Q
from django.db.models.functions import Coalesce
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from conference.models import Edition
from content import times
from content.row_values import related_model
from people.models import Person
from people.secret_links import digest_of, link_to, new_token
from schedule.entries import TimetableEntry

MINUTE = timedelta(minutes=1)
MAX_WRITES_PER_MINUTE = 30


class Part(models.TextChoices):
    """The part that a person is invited to. The values are those of `SessionRole.Role`."""

    SPEAKER = "speaker", _("Speaker")
    CHAIR = "chair", pgettext_lazy("role of a person", "Chair")
    MODERATOR = "moderator", _("Moderator")
    PANELIST = "panelist", _("Panelist")
    ORGANIZER = "organizer", _("Organizer")


INVITATION_SENTENCES = {
    Part.SPEAKER: _("%(edition)s invites you to speak."),
    Part.CHAIR: _("%(edition)s invites you to chair a session."),
    Part.MODERATOR: _("%(edition)s invites you to moderate a session."),
    Part.PANELIST: _("%(edition)s invites you to sit on a panel."),
    Part.ORGANIZER: _("%(edition)s invites you to organize a session."),
}


class State(models.TextChoices):
    NOT_SENT = "not_sent", pgettext_lazy("invitation", "Not sent")
    SENT = "sent", pgettext_lazy("invitation", "Sent")
    REMINDED = "reminded", pgettext_lazy("invitation", "Reminded")
    CONFIRMED = "confirmed", pgettext_lazy("invitation", "Confirmed")
    DECLINED = "declined", pgettext_lazy("invitation", "Declined")
    WITHDRAWN = "withdrawn", pgettext_lazy("invitation", "Withdrawn")


# States in which a link was sent, but the person has not responded.
OPEN_STATES = (State.SENT, State.REMINDED)


class ProgramInvitationQuerySet(models.QuerySet["ProgramInvitation"]):
    """Queryset of invitations, with filters for the tasks of chairs."""

    def with_place(self) -> Self:
        """Select the relations that pages and lists of invitations show."""
        return self.select_related(
            "edition",
            "person",
            "person__merged_into",
            "session__room",
            "presentation__paper",
            "presentation__room",
            "presentation__session__room",
        )

    def by_token(self, token: str) -> Self:
        return self.filter(links__digest=digest_of(token))

    def unanswered(self) -> Self:
        return self.filter(state__in=OPEN_STATES)

    def with_presence(self) -> Self:
        """Annotate `is_listed`: whether the program has the person in that part."""
        return self.annotate(is_listed=_is_in_program(is_same=True))

    def to_replace(self) -> Self:
        """Return declined invitations whose part still has that person in the program, or no person."""
        declined = self.filter(state=State.DECLINED)
        return declined.filter(Q(_is_in_program(is_same=True)) | ~Q(_is_in_program(is_same=False)))


def _is_in_program(*, is_same: bool) -> Q:
    """Return the condition that the program has the invited person, or another one, in that part."""
    # Use the person that a merged one was merged into.
    participant = Coalesce("person__merged_into", "person")
    invited = Coalesce(OuterRef("person__merged_into"), OuterRef("person"))

    def program_has(owner: str, **conditions: OuterRef) -> Exists:
        rows = related_model(Person, "session_roles" if owner == "session" else "talks")._base_manager
        participants = rows.alias(participant=participant).filter(**{owner: OuterRef(owner)}, **conditions)
        return Exists(
            participants.filter(participant=invited) if is_same else participants.exclude(participant=invited)
        )

    return Q(program_has("session", role=OuterRef("role"))) | Q(program_has("presentation"))


class ProgramInvitation(models.Model):
    """The invitation of a person to a session or talk, or to the edition while neither is fixed."""

    personal_fields: ClassVar[tuple[str, ...]] = ("role", "email", "message", "note")
    impersonal_fields: ClassVar[tuple[str, ...]] = ("state",)
    edition_lookup: ClassVar[str] = "edition"

    edition = models.ForeignKey(
        Edition, models.CASCADE, verbose_name=_("edition"), related_name="program_invitations"
    )
    person = models.ForeignKey(
        Person, models.CASCADE, verbose_name=_("person"), related_name="program_invitations"
    )
    role = models.CharField(_("asked as"), max_length=12, choices=Part, default=Part.SPEAKER)
    session = models.ForeignKey(
        "schedule.Session",
        models.CASCADE,
        verbose_name=_("session"),
        null=True,
        blank=True,
        related_name="invitations",
        help_text=_("Leave session and talk empty while the slot is open."),
    )
    presentation = models.ForeignKey(
        "schedule.Presentation",
        models.CASCADE,
        verbose_name=_("talk"),
        null=True,
        blank=True,
        related_name="invitations",
        help_text=_("Only for speakers of a talk."),
    )
    email = models.EmailField(_("e-mail"), blank=True, help_text=_("Empty: the person’s. Never shown."))
    message = models.TextField(
        _("message"),
        blank=True,
        max_length=5000,
        help_text=_("Added to the e-mail and to the page on which the person answers. Plain text."),
    )
    due = models.DateField(_("answer by"), null=True, blank=True)
    state = models.CharField(_("state"), max_length=10, choices=State, default=State.NOT_SENT, editable=False)
    note = models.TextField(_("the person’s note"), blank=True, max_length=2000, editable=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    # The account that chose the person: it makes the row of the program, whoever adds it.
    chosen_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.SET_NULL,
        verbose_name=_("chosen by"),
        null=True,
        editable=False,
        related_name="+",
    )
    sent_at = models.DateTimeField(_("sent at"), null=True, editable=False)
    reminded_at = models.DateTimeField(_("reminded at"), null=True, editable=False)
    answered_at = models.DateTimeField(_("answered at"), null=True, editable=False)
    # The number of writes to the page since `writes_since`.
    writes = models.PositiveIntegerField(default=0, editable=False)
    writes_since = models.DateTimeField(default=timezone.now, editable=False)

    objects = ProgramInvitationQuerySet.as_manager()

    class Meta:
        ordering = ["edition", "person__sort_key", "pk"]
        verbose_name = _("invitation to the program")
        verbose_name_plural = _("invitations to the program")
        constraints = [
            models.UniqueConstraint(
                fields=["session", "person", "role"],
                name="program_invitation_unique_in_session",
                violation_error_message=_("This person is already asked for that part of the session."),
            ),
            models.UniqueConstraint(
                fields=["presentation", "person"],
                name="program_invitation_unique_in_talk",
                violation_error_message=_("This person is already asked for this talk."),
            ),
            models.CheckConstraint(
                condition=Q(session__isnull=True) | Q(presentation__isnull=True),
                name="program_invitation_for_one_thing",
                violation_error_message=_("Choose a session or a talk, not both."),
            ),
        ]

    # Set by `with_presence()`.
    is_listed: bool
    # The row of the program from which the invitation is prepared.
    part_row: models.Model | None = None

    def __str__(self) -> str:
        return f"{self.invited}: {self.part}"

    @property
    def invited(self) -> Person:
        """The person, or the one that the person was merged into."""
        return self.person.merged_into or self.person

    @property
    def place(self) -> TimetableEntry | None:
        """The session or talk of the invitation."""
        return self.presentation or self.session

    @property
    def title(self) -> str:
        """The title of the session or talk; empty if there is none."""
        return str(self.place or "")

    @property
    def part(self) -> str:
        """The part that the person is invited to: "Chair of Session X"."""
        params = {"role": self.get_role_display(), "title": self.title or self.edition}
        return _("%(role)s of %(title)s") % params

    @property
    def question(self) -> str:
        """The sentence of the invitation."""
        return str(INVITATION_SENTENCES[Part(self.role)] % {"edition": self.edition})

    @property
    def span(self) -> tuple[datetime, datetime] | None:
        """Start and end of the session or talk; `None` while unscheduled."""
        talk = self.presentation
        start, end = (talk.starts, talk.ends) if talk else (None, None)
        if self.session:
            start, end = self.session.start, self.session.end
        return (start, max(start, end or start)) if start else None

    @property
    def when(self) -> str:
        """The formatted span in the edition's zone; empty while unscheduled."""
        return times.day_and_time_range(*self.span, self.edition.zone) if self.span else ""

    @property
    def room_name(self) -> str:
        room = self.presentation.effective_room if self.presentation else self.session and self.session.room
        return room.name if room else ""

    @property
    def address(self) -> str:
        """The e-mail address to use; empty if none is known."""
        return self.email or self.invited.email

    @property
    def siblings(self) -> models.QuerySet["ProgramInvitation"]:
        """The person's invitations in the edition, including this one."""
        return ProgramInvitation.objects.filter(edition=self.edition_id, person=self.person_id)

    def is_past_due(self, today: date) -> bool:
        return self.state in OPEN_STATES and self.due is not None and self.due < today

    def is_closed(self, at: datetime) -> bool:
        """Return whether it is too late to respond: the session or, without one, the edition has begun."""
        start = self.span[0] if self.span else self.edition.day_bounds(self.edition.start_date)[0]
        return at >= start

    def is_over(self, at: datetime) -> bool:
        """Return whether the edition is over, so that the link no longer works."""
        return self.edition.day_of(at) > self.edition.end_date

    def clean(self) -> None:
        errors: dict[str, object] = {}
        for name, message in (
            ("session", _("The session belongs to another edition.")),
            ("presentation", _("The talk belongs to another edition.")),
        ):
            row = getattr(self, name)
            if row and self.edition_id and row.edition_id != self.edition_id:
                errors[name] = message
        if self.presentation_id and self.role != Part.SPEAKER:
            errors["role"] = _("A talk has speakers only. For another part choose its session.")
        if errors:
            raise ValidationError(errors)

    def new_link(self) -> str:
        """Create and return a new link. Earlier links, such as that of the first letter, still work."""
        token = new_token()
        self.links.create(digest=digest_of(token))
        return link_to("schedule:invited", token)

    def answer(self, state: State, at: datetime) -> None:
        """Store the response of the person, together with the note."""
        self.state, self.answered_at = state, at
        self.save(update_fields=["state", "answered_at", "note"])

    def count_write(self, at: datetime) -> bool:
        """Count a write and save it; return whether the limit per minute allows it."""
        if not timedelta() <= at - self.writes_since < MINUTE:
            self.writes, self.writes_since = 0, at
        self.writes += 1
        self.save(update_fields=["writes", "writes_since"])
        return self.writes <= MAX_WRITES_PER_MINUTE


class ProgramInvitationLink(models.Model):
    """A link that was sent, with the digest of its secret."""

    personal_fields: ClassVar[tuple[str, ...]] = ("digest",)
    edition_lookup: ClassVar[str] = "invitation__edition"

    invitation = models.ForeignKey(
        ProgramInvitation, models.CASCADE, verbose_name=_("invitation"), related_name="links"
    )
    digest = models.CharField(max_length=64, unique=True, editable=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["pk"]
        verbose_name = _("link of an invitation")
        verbose_name_plural = _("links of invitations")

    def __str__(self) -> str:
        return str(self.invitation)
