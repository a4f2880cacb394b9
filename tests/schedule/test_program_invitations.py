"""Tests of invitations to the program: mails, replies through a secret link, the list for chairs."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any
from unittest import mock

import pytest
from django.core import mail
from django.core.mail.backends.locmem import EmailBackend
from django.core.management import call_command
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from conference.models import Edition
from editorial.desk import open_checks
from people.models import Person
from schedule import clashes
from schedule.admin import asking
from schedule.invitations.models import MAX_WRITES_PER_MINUTE, Part, State
from schedule.models import (
    Presentation,
    ProgramInvitation,
    ProgramInvitationLink,
    ReleasePlan,
    Session,
    SessionRole,
    Speaker,
    Unavailability,
)
from tests.admin_forms import admin_url, date_and_time
from tests.factories import (
    add_role,
    make_edition,
    make_paper,
    make_person,
    make_presentation,
    make_room,
    make_session,
)

pytestmark = pytest.mark.django_db

LIST = "/admin/schedule/programinvitation/"
NOW = timezone.now()
DAY = (NOW + timedelta(days=20)).date()
# 09:00 in Los Angeles, or 10:00 during daylight saving time.
START = datetime(DAY.year, DAY.month, DAY.day, 17, tzinfo=UTC)


@pytest.fixture
def edition() -> Edition:
    """Create an upcoming edition."""
    return make_edition(DAY.year, start_date=DAY, end_date=DAY + timedelta(days=2), venue="Convention Center")


@pytest.fixture
def ada() -> Person:
    return make_person("Ada Lovelace", email="ada@example.org")


@pytest.fixture
def session(edition: Edition) -> Session:
    return make_session(edition, title="Engines", start=START, room=make_room(edition, "Hall A"))


@pytest.fixture
def invitation(session: Session, ada: Person) -> ProgramInvitation:
    return ProgramInvitation.objects.create(
        edition=session.edition, person=ada, session=session, role=Part.CHAIR, message="Please <b>come</b>."
    )


@pytest.fixture
def link(invitation: ProgramInvitation) -> str:
    """Return a link that was sent."""
    invitation.state = State.SENT
    invitation.save()
    return re.sub(r"^https?://[^/]+", "", invitation.new_link())


@pytest.fixture
def mail_backend(settings: Settings) -> None:
    """Use the mail backend that stores mails in memory."""
    settings.MAILERS = {"default": {"BACKEND": "django.core.mail.backends.locmem.EmailBackend"}}


def post_action(client: Client, action: str, *rows: ProgramInvitation, **fields: str) -> str:
    data = {"action": action, "_selected_action": [row.pk for row in rows], **fields}
    return client.post(LIST, data, follow=True).text


def post_confirmed_action(client: Client, action: str, *rows: ProgramInvitation) -> str:
    """Choose an action for rows, and confirm it."""
    post_action(client, action, *rows)
    return post_action(client, action, *rows, _confirmed="yes")


def stored_state(row: ProgramInvitation) -> str:
    return ProgramInvitation.objects.get(pk=row.pk).state


def invitation_links(text: str) -> list[str]:
    return re.findall(r"/invitation/program/[\w-]+/", text)


# The person's own page


def test_page_shows_session_time_room_and_confirmed_people(
    client: Client, link: str, session: Session, edition: Edition
) -> None:
    add_role(session, "Bob", "panelist")
    # The name contains a space, so that it cannot occur in the secret of a link by chance.
    invited = add_role(session, "Cy Young", "panelist")
    ProgramInvitation.objects.create(edition=edition, person=invited.person, session=session, role="panelist")
    response = client.get(link)
    page = response.text

    assert f"{edition.name} invites you to chair a session." in page
    assert session.invitations.get(role="chair").when in page
    assert edition.zone_label in page
    for text in ("Engines", "Hall A", "Bob (Panelist)", "Please &lt;b&gt;come&lt;/b&gt;."):
        assert text in page
    # People who have not confirmed are not shown to others.
    assert "Cy Young" not in page
    assert response.headers["Cache-Control"] == "private, no-store"
    assert response.headers["X-Robots-Tag"] == "noindex, nofollow"
    assert response.headers["Referrer-Policy"] == "same-origin"


def test_page_does_not_name_unconfirmed_people_who_were_merged(
    client: Client, link: str, session: Session, edition: Edition
) -> None:
    invited = add_role(session, "Cy Young", "panelist").person
    former = make_person("Cyrus Young", merged_into=invited)
    ProgramInvitation.objects.create(edition=edition, person=former, session=session, role="panelist")

    assert "Cy Young" not in client.get(link).text


def test_reply_is_saved_and_can_be_changed(client: Client, link: str, invitation: ProgramInvitation) -> None:
    assert client.post(link, {"do": "confirm", "note": "Gladly."}).status_code == 303
    assert "You confirmed." in client.get(link).text
    client.post(link, {"do": "decline", "note": "Ill, sorry."})
    invitation.refresh_from_db()

    assert "You declined." in client.get(link).text
    assert (invitation.state, invitation.note) == (State.DECLINED, "Ill, sorry.")
    assert invitation.answered_at is not None


def test_late_reply_and_reply_to_a_withdrawn_invitation_are_refused(
    client: Client, link: str, invitation: ProgramInvitation, session: Session
) -> None:
    with mock.patch("schedule.invitations.views.timezone.now", return_value=session.start):
        late_response = client.post(link, {"do": "confirm"})
        late_page = client.get(link).text
    state_after_late_reply = stored_state(invitation)
    invitation.answer(State.WITHDRAWN, NOW)
    withdrawn_response = client.post(link, {"do": "confirm"})

    assert (late_response.status_code, state_after_late_reply) == (409, State.SENT)
    assert "It has started" in late_response.text
    assert 'value="confirm"' not in late_page
    assert (withdrawn_response.status_code, stored_state(invitation)) == (409, State.WITHDRAWN)
    assert "This invitation was withdrawn." in withdrawn_response.text


def test_answer_to_an_invitation_that_is_deleted_meanwhile_is_404(
    client: Client, link: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def delete_first(invitation: ProgramInvitation, at: datetime) -> bool:
        ProgramInvitation.objects.all().delete()
        return False

    monkeypatch.setattr(ProgramInvitation, "is_over", delete_first)

    assert client.post(link, {"do": "confirm"}).status_code == 404


def test_unknown_link_and_link_of_a_past_edition_are_404(client: Client, link: str, edition: Edition) -> None:
    unknown = client.get("/invitation/program/nothing/")
    after = datetime(DAY.year, DAY.month, DAY.day, tzinfo=UTC) + timedelta(days=5)
    with mock.patch("schedule.invitations.views.timezone.now", return_value=after):
        past = client.get(link)

    assert [response.status_code for response in (unknown, past)] == [404, 404]
    assert "That link doesn’t work" in unknown.text
    assert not client.cookies


def test_page_of_a_hidden_edition_does_not_link_to_it(client: Client, link: str, edition: Edition) -> None:
    Edition.objects.update(public_from=None)
    response = client.get(link)

    assert response.status_code == 200
    assert f'href="/{edition.slug}/' not in response.text


def test_reply_needs_a_csrf_token_and_is_rate_limited(link: str, invitation: ProgramInvitation) -> None:
    strict, client = Client(enforce_csrf_checks=True), Client()
    forged = strict.post(link, {"do": "confirm"})
    ProgramInvitation.objects.update(writes=MAX_WRITES_PER_MINUTE, writes_since=timezone.now())
    limited = client.post(link, {"do": "confirm"})

    assert (forged.status_code, limited.status_code) == (403, 429)
    assert limited.headers["Retry-After"] == "60"
    assert stored_state(invitation) == State.SENT


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"do": "explode"}, "That action isn’t available."),
        ({"do": "confirm", "note": "x" * 2001}, "at most 2000"),
        ({"do": "add", "start": "soon", "end": ""}, "Enter a valid date/time."),
        ({"do": "add", "start": f"{DAY}T10:00", "end": f"{DAY}T09:00"}, "The end must be after the start."),
        ({"do": "add", "start": "2001-01-01T10:00", "end": "2001-01-01T11:00"}, "within the days"),
    ],
)
def test_invalid_reply_is_refused_with_a_message(
    client: Client, link: str, data: dict[str, str], message: str
) -> None:
    response = client.post(link, data)

    assert response.status_code == 400
    assert message in response.text
    assert not Unavailability.objects.exists()
    assert client.post(link, {"do": "remove", "time": "x²"}).status_code == 303


# Times of unavailability


def test_person_is_told_of_parts_during_times_when_they_cannot_come(
    client: Client, link: str, session: Session, ada: Person, invitation: ProgramInvitation
) -> None:
    later = make_session(session.edition, title="Looms", start=START + timedelta(hours=3))
    ProgramInvitation.objects.create(
        edition=session.edition, person=ada, session=later, state=State.CONFIRMED
    )
    ProgramInvitation.objects.create(
        edition=session.edition, person=ada, session=later, role=Part.MODERATOR, state=State.DECLINED
    )
    local_start = START.astimezone(session.edition.zone)
    before = (local_start - timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M")
    inside = (local_start + timedelta(minutes=30)).strftime("%Y-%m-%dT%H:%M")
    evening = (local_start + timedelta(hours=4)).strftime("%Y-%m-%dT%H:%M")

    def warnings() -> list[str]:
        return re.findall(r"You said that you can’t come [^<]*", client.get(link).text)

    # The time ends when the session starts.
    client.post(link, {"do": "add", "start": before, "end": local_start.strftime("%Y-%m-%dT%H:%M")})
    client.post(link, {"do": "confirm"})
    adjacent = warnings()
    client.post(link, {"do": "add", "start": inside, "end": evening})
    span = Unavailability.objects.get(start__gt=START)
    told = warnings()
    client.post(link, {"do": "decline"})
    declined = warnings()
    client.post(link, {"do": "remove", "time": span.pk})

    assert adjacent == []
    assert told == [
        f"You said that you can’t come {span.when}, but “{title}” takes place {when}."
        for title, when in (
            ("Engines", invitation.when),
            ("Looms", ProgramInvitation(session=later, edition=later.edition).when),
        )
    ]
    assert declined == told[1:]
    assert warnings() == []


def test_unavailability_entered_by_link_is_a_clash(
    client: Client, admin_client: Client, link: str, session: Session, ada: Person
) -> None:
    add_role(session, ada, "chair")
    other = Unavailability.objects.create(
        edition=session.edition, person=make_person("Bob"), start=START, end=START + timedelta(hours=1)
    )
    before = clashes.find_clashes(session.edition).all
    client.post(link, {"do": "add", "start": f"{DAY}T00:00", "end": f"{DAY}T18:00", "note": "On a train"})
    unavailability = Unavailability.objects.get(person=ada)
    page = client.get(link).text
    clash_page = admin_client.get(f"/admin/schedule/session/clashes/?edition={session.edition_id}").text
    client.post(link, {"do": "remove", "time": other.pk})
    (clash,) = clashes.find_clashes(session.edition).all

    assert before == []
    assert unavailability.start.astimezone(session.edition.zone).strftime("%H:%M") == "00:00"
    assert "On a train" in page
    assert clash.message.startswith("Ada Lovelace isn’t available for Oral session “Engines” (not there ")
    assert "Person not available" in clash_page
    assert "On a train" not in clash_page
    # People cannot remove the times of others.
    assert Unavailability.objects.filter(pk=other.pk).exists()
    client.post(link, {"do": "remove", "time": unavailability.pk})
    assert clashes.find_clashes(session.edition).all == []


def test_unavailable_room_and_merged_person_clash_unless_only_adjacent(
    edition: Edition, session: Session, ada: Person
) -> None:
    hour = timedelta(hours=1)
    poster = make_presentation(
        make_session(edition, kind="poster", start=START + 3 * hour), make_paper(edition), kind="poster"
    )
    poster.paper.authorships.create(person=ada, presenting=True)  # type: ignore[union-attr]
    former = make_person("A. Lovelace", merged_into=ada)
    create = Unavailability.objects.create
    create(edition=edition, room=session.room, start=START + hour, end=START + 2 * hour)
    assert clashes.find_clashes(edition).all == []
    create(edition=edition, room=session.room, start=START, end=START + hour)
    create(edition=edition, person=former, start=START + 3 * hour, end=START + 4 * hour)

    assert [(clash.kind, clash.is_serious) for clash in clashes.find_clashes(edition).all] == [
        ("room_away", True),
        ("person_away", False),
    ]


def test_moving_a_session_solves_a_clash_with_an_unavailability(edition: Edition, session: Session) -> None:
    hour = timedelta(hours=1)
    Unavailability.objects.create(edition=edition, room=session.room, start=START, end=START + hour)
    moved = {session.pk: {"start": START + hour, "end": START + 2 * hour}}
    difference = clashes.clash_difference(edition, clashes.PlannedEdit(moved))

    assert (difference.all, len(difference.solved)) == ([], 1)


def test_unavailability_is_entered_in_the_admin_in_the_editions_zone(
    admin_client: Client, edition: Edition, session: Session
) -> None:
    day = DAY.isoformat()
    times = date_and_time("start", day, "08:00") | date_and_time("end", day, "09:30")
    data = {"edition": edition.pk, "room": session.room_id, "person": make_person().pk, "note": "", **times}
    page = admin_client.post(admin_url(Unavailability, "add"), data).text
    admin_client.post(admin_url(Unavailability, "add"), data | {"person": ""})
    row = Unavailability.objects.get()

    assert "Choose a person or a room." in page
    assert row.start.astimezone(edition.zone).hour == 8
    assert "Hall A" in admin_client.get(admin_url(Unavailability, "changelist")).text


# The list for chairs


def test_without_mail_server_the_text_is_shown_for_copying(
    admin_client: Client, client: Client, invitation: ProgramInvitation
) -> None:
    preview = post_action(admin_client, "send_invitations", invitation)
    page = post_confirmed_action(admin_client, "send_invitations", invitation)
    (link, *_more) = invitation_links(page)

    assert "no mail server is set up: you copy the text" in preview
    assert "Dear Ada Lovelace," in page
    assert stored_state(invitation) == State.SENT
    assert client.get(link).status_code == 200
    stored = str([*ProgramInvitationLink.objects.values(), *ProgramInvitation.objects.values()])
    assert link.split("/")[-2] not in stored
    # An invitation is sent once; a second action skips it.
    assert "Nothing was sent." in post_action(admin_client, "send_invitations", invitation, _confirmed="yes")


def test_links_of_mailed_invitation_and_reminder_both_work(
    admin_client: Client, client: Client, invitation: ProgramInvitation, mail_backend: None
) -> None:
    without_email = ProgramInvitation.objects.create(
        edition=invitation.edition, person=make_person("Bob"), session=invitation.session
    )
    page = post_confirmed_action(admin_client, "send_invitations", invitation, without_email)
    post_confirmed_action(admin_client, "send_reminders", invitation)
    invitation_mail, reminder = mail.outbox
    links = [invitation_links(str(message.body))[0] for message in (invitation_mail, reminder)]

    assert invitation_mail.to == ["ada@example.org"]
    assert invitation_mail.subject == f"Invitation to {invitation.edition.name}"
    assert "1 e-mail was sent" in page
    assert "Dear Bob," in page
    assert reminder.subject == f"Reminder: your invitation to {invitation.edition.name}"
    assert "Please <b>come</b>." in invitation_mail.body
    assert [client.get(message).status_code for message in links] == [200, 200]
    assert stored_state(invitation) == State.REMINDED


def test_refused_mail_changes_nothing(
    admin_client: Client, invitation: ProgramInvitation, mail_backend: None
) -> None:
    with mock.patch.object(EmailBackend, "send_messages", side_effect=OSError("refused")):
        page = post_confirmed_action(admin_client, "send_invitations", invitation)

    assert "Nothing was changed; try again." in page
    assert stored_state(invitation) == State.NOT_SENT
    assert not ProgramInvitationLink.objects.exists()


def test_invitations_are_prepared_for_people_of_sessions_and_talks(
    admin_client: Client, session: Session, ada: Person
) -> None:
    add_role(session, ada, "chair")
    talk = make_presentation(session, speakers=["Bob"])
    form_before = admin_client.get(admin_url(session, "change")).text

    def prepare(row: Session | Presentation) -> str:
        data = {"action": "ask_people", "_selected_action": row.pk}
        page = admin_client.post(admin_url(type(row), "changelist"), data)
        return admin_client.post(page.headers["Location"], follow=True).text

    pages = [prepare(row) for row in (session, session, talk)]

    assert "Prepare an invitation for 1 person listed above" in form_before
    assert ["1 invitation is ready." in page for page in pages] == [True, False, True]
    assert "Everybody there has an invitation already" in admin_client.get(f"{LIST}prepare/?session=x²").text
    assert [*ProgramInvitation.objects.order_by("pk").values_list("person__name", "role", "state")] == [
        ("Ada Lovelace", "chair", "not_sent"),
        ("Bob", "speaker", "not_sent"),
    ]
    form_after = admin_client.get(admin_url(session, "change")).text
    assert '<span class="asked asked-not-sent">Not sent</span>' in form_after


def test_invitations_that_others_prepare_at_the_same_time_are_skipped(
    admin_client: Client, session: Session, ada: Person
) -> None:
    for person in (ada, make_person("Bob")):
        add_role(session, person, "chair")
    path = f"{LIST}prepare/?session={session.pk}"
    find_invitations = asking.preparable_invitations

    def prepare_while_another_does(*people: Person) -> str:
        def find_then_wait(request: Any) -> Any:
            found = find_invitations(request)
            for person in people:
                ProgramInvitation.objects.create(
                    edition=session.edition, person=person, session=session, role=Part.CHAIR
                )
            return found

        with mock.patch.object(asking, "preparable_invitations", find_then_wait):
            response = admin_client.post(path)
        return admin_client.get(response.headers["Location"]).text

    page = prepare_while_another_does(ada)
    ProgramInvitation.objects.filter(person=ada).delete()
    page_with_nothing_left = prepare_while_another_does(ada)

    assert "1 invitation is ready." in page
    assert "Everybody there has an invitation already" in page_with_nothing_left
    assert ProgramInvitation.objects.count() == 2


def test_rows_beyond_the_limit_of_prepared_invitations_are_counted(
    admin_client: Client, edition: Edition, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "MAX_ROWS", 2)
    sessions = [make_session(edition, start=START) for _number in range(4)]

    def prepare(*rows: Session) -> str:
        data = {"action": "ask_people", "_selected_action": [row.pk for row in rows]}
        return admin_client.post(admin_url(Session, "changelist"), data, follow=True).text

    assert "2 rows were left out; select them afterwards." in prepare(*sessions)
    assert "1 row was left out; select it afterwards." in prepare(*sessions[:3])
    assert "left out" not in prepare(*sessions[:2])


def test_confirmed_people_are_added_to_the_program_once(
    admin_client: Client, invitation: ProgramInvitation, session: Session, ada: Person
) -> None:
    talk = make_presentation(session)
    talk_invitation = ProgramInvitation.objects.create(edition=session.edition, person=ada, presentation=talk)
    post_action(admin_client, "mark_confirmed", invitation, talk_invitation)
    page = post_action(admin_client, "add_to_program", invitation, talk_invitation)
    repeated_page = post_action(admin_client, "add_to_program", invitation, talk_invitation)

    assert "2 people were added to the program." in page
    assert "0 people were added" in repeated_page
    assert SessionRole.objects.get(session=session).role == "chair"
    assert Speaker.objects.get(presentation=talk).person == ada
    post_action(admin_client, "mark_declined", invitation)
    assert stored_state(invitation) == State.DECLINED


def test_person_with_an_invitation_of_a_merged_person_is_added_to_the_program_once(
    admin_client: Client, invitation: ProgramInvitation, session: Session, ada: Person
) -> None:
    former = make_person("A. Lovelace", merged_into=ada)
    talk = make_presentation(session)

    def invite(person: Person, **part: Any) -> ProgramInvitation:
        return ProgramInvitation.objects.create(edition=session.edition, person=person, **part)

    rows = [invitation, invite(former, session=session, role=Part.CHAIR)]
    rows += [invite(person, presentation=talk) for person in (ada, former)]
    post_action(admin_client, "mark_confirmed", *rows)
    page = post_action(admin_client, "add_to_program", *rows)

    assert "2 people were added to the program." in page
    assert SessionRole.objects.get(session=session).person == ada
    assert Speaker.objects.get(presentation=talk).person == ada


def test_reply_times_are_listed_in_the_zone_of_the_edition(
    admin_client: Client, invitation: ProgramInvitation
) -> None:
    invitation.answer(State.CONFIRMED, datetime(2026, 7, 1, 2, tzinfo=UTC))

    assert "Tue 30 Jun 2026, 19:00 PDT" in admin_client.get(LIST).text


def test_added_people_wait_for_the_release(
    admin_client: Client, invitation: ProgramInvitation, session: Session, ada: Person
) -> None:
    ReleasePlan.objects.create(edition=session.edition)
    post_confirmed_action(admin_client, "send_invitations", invitation)
    post_action(admin_client, "mark_confirmed", invitation)
    page = post_action(admin_client, "add_to_program", invitation)
    repeated_page = post_action(admin_client, "add_to_program", invitation)

    assert stored_state(invitation) == State.CONFIRMED
    assert "1 person was added to the program." in page
    assert "0 people were added" in repeated_page
    # The public program does not change until the release.
    assert not SessionRole.objects.published().exists()
    prepare_page = admin_client.get(f"{LIST}prepare/?session={session.pk}").text
    assert "Everybody there has an invitation already" in prepare_page


def test_no_second_invitation_is_prepared_for_a_person_who_was_merged(
    admin_client: Client, invitation: ProgramInvitation, session: Session
) -> None:
    kept = make_person("Ada King")
    Person.objects.filter(pk=invitation.person_id).update(merged_into=kept)
    add_role(session, kept, "chair")
    page = admin_client.get(f"{LIST}prepare/?session={session.pk}").text

    assert "Everybody there has an invitation already" in page
    assert "Prepare an invitation" not in admin_client.get(admin_url(session, "change")).text


def test_desk_lists_pending_and_declined_invitations(
    edition: Edition, session: Session, invitation: ProgramInvitation, ada: Person
) -> None:
    def check_lines() -> list[str]:
        checks = open_checks(edition, lambda model: model is ProgramInvitation)
        return [f"{check.count} {check.label}" for check in checks]

    role = add_role(session, ada, "chair")
    invitation.answer(State.DECLINED, NOW)
    for state in (State.SENT, State.REMINDED):
        ProgramInvitation.objects.create(edition=edition, person=make_person(), state=state)

    assert check_lines() == [
        "2 people haven’t answered invitations",
        "1 invitation declined: Chair of Engines",
    ]
    add_role(session, "Bob", "chair")
    assert len(check_lines()) == 2
    role.delete()
    assert check_lines() == ["2 people haven’t answered invitations"]


def test_admin_lists_of_5_rows_make_at_most_16_queries(
    admin_client: Client, edition: Edition, django_assert_max_num_queries: object
) -> None:
    session = make_session(edition, start=START)
    for _number in range(5):
        ProgramInvitation.objects.create(edition=edition, person=make_person(), session=session)
        Unavailability.objects.create(
            edition=edition, person=make_person(), start=START, end=START + timedelta(hours=1)
        )
    for model in (ProgramInvitation, Unavailability):
        with django_assert_max_num_queries(16):  # type: ignore[operator]
            assert admin_client.get(admin_url(model, "changelist")).status_code == 200


def test_sent_invitation_has_fixed_person_and_other_editions_are_refused(
    admin_client: Client, invitation: ProgramInvitation, link: str, ada: Person
) -> None:
    page = admin_client.get(admin_url(invitation, "change")).text
    foreign_session = make_session(make_edition(2020))
    values = {"edition": invitation.edition_id, "session": foreign_session.pk, "presentation": ""}
    values |= {"person": ada.pk, "role": "chair", "email": "", "due": "", "message": ""}
    refused = admin_client.post(admin_url(ProgramInvitation, "add"), values).text

    assert 'name="person"' not in page
    assert "The session belongs to another edition." in refused


# Privacy


def test_invitations_are_not_public_and_are_erased_with_the_person(
    client: Client, invitation: ProgramInvitation, session: Session, ada: Person
) -> None:
    secret = "Zyxwv"
    ProgramInvitation.objects.update(note=secret, message=secret, email=f"{secret}@example.org")
    Unavailability.objects.create(
        edition=session.edition, person=ada, start=START, end=START + timedelta(hours=1), note=secret
    )
    add_role(session, ada, "chair")
    slug = session.edition.slug
    for path in (session.get_absolute_url(), ada.get_absolute_url(), f"/{slug}/program.json", f"/{slug}/"):
        assert secret not in client.get(path, follow=True).text
    for name in ("sessions", "people"):
        assert secret not in client.get(f"/api/v1/{name}/").text
    call_command("erase_personal_data", person=ada.uid, yes=True)

    assert not ProgramInvitation.objects.exists()
    assert not Unavailability.objects.exists()


def test_invitation_roles_are_the_session_roles() -> None:
    assert {*Part.values} == {*SessionRole.Role.values}
