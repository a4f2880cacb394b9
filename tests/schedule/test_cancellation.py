"""Tests of the reason of a cancellation: it is shown with the mark, and cleared with the status."""

from typing import Any

import pytest
from django.test import Client

from conference.models import Edition
from exchange.exports.dump import dump
from exchange.imports.load import load
from exchange.records import stated
from schedule.models import Presentation, Session
from tests import factories as make
from tests.exchange.programs import program, session
from tests.schedule.page_text import read_text

pytestmark = pytest.mark.django_db
REASON = "The speaker is ill."
CANCELLED: dict[str, Any] = {"status": "cancelled", "cancellation_reason": REASON}


def stored_reasons() -> list[str]:
    return [row.cancellation_reason for model in (Session, Presentation) for row in model.objects.all()]


def test_reason_is_shown_with_each_canceled_mark(client: Client, edition: Edition) -> None:
    paper = make.make_paper(edition, ["Ada"], uid="p1")
    cancelled = make.make_session(edition, title="Off", kind="invited_talk", **CANCELLED)
    make.make_presentation(make.make_session(edition, title="On"), paper, **CANCELLED)
    paths = [cancelled.get_absolute_url(), paper.get_absolute_url(), "/2021/talks/"]

    assert [read_text(client, path).count(f"Canceled {REASON}") for path in paths] == [1, 1, 1]
    assert read_text(client, "/2021/schedule/2021-04-06/").count(f"Canceled {REASON}") == 2


def test_parts_and_talks_inherit_the_reason_of_their_workshop(edition: Edition) -> None:
    workshop = make.make_session(edition, kind="workshop", **CANCELLED)
    part = make.make_session(edition, parent=workshop)
    part_with_reason = make.make_session(
        edition, parent=workshop, status="cancelled", cancellation_reason="No room."
    )

    assert [row.why_cancelled for row in (workshop, part, part_with_reason)] == [REASON, REASON, "No room."]
    assert make.make_presentation(part).why_cancelled == REASON
    assert make.make_session(edition).why_cancelled == ""


def test_reason_is_cleared_with_the_status_by_any_write(edition: Edition) -> None:
    rows = [make.make_session(edition, **CANCELLED) for _ in range(3)]
    make.make_presentation(rows[0], **CANCELLED)
    rows[0].status = "published"
    rows[0].save(update_fields=["status"])
    rows[1].status = "draft"
    Session.objects.bulk_update([rows[1]], ["status"])
    Session.objects.filter(pk=rows[2].pk).update(status="published")
    Presentation.objects.update(status="published")

    assert stored_reasons() == [""] * 4


def test_reason_is_kept_when_other_fields_change() -> None:
    row = make.make_session(make.make_edition(), **CANCELLED)
    Session.objects.update(title="Other")
    Session.objects.update(status="cancelled")
    row.save(update_fields=["title"])

    assert stored_reasons() == [REASON]


def test_reason_of_a_cancelled_session_is_imported_and_exported() -> None:
    load(program(sessions=(session("s1", **CANCELLED), session("s2", cancellation_reason="Hidden"))), "2021")
    edition = Session.objects.get(uid="s1").edition
    reasons = {
        record.uid: stated(record.cancellation_reason, "") for record in dump(edition, drafts=True).sessions
    }

    assert reasons == {"s1": REASON, "s2": ""}
