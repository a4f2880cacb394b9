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
ILL = "The speaker is ill."
OFF: dict[str, Any] = {"status": "cancelled", "cancellation_reason": ILL}


def reasons() -> list[str]:
    return [row.cancellation_reason for model in (Session, Presentation) for row in model.objects.all()]


def test_reason_is_shown_wherever_the_mark_is(client: Client, edition: Edition) -> None:
    paper = make.make_paper(edition, ["Ada"], uid="p1")
    off = make.make_session(edition, title="Off", kind="invited_talk", **OFF)
    make.make_presentation(make.make_session(edition, title="On"), paper, **OFF)
    paths = [off.get_absolute_url(), paper.get_absolute_url(), "/2021/talks/"]

    assert [read_text(client, path).count(f"Canceled {ILL}") for path in paths] == [1, 1, 1]
    assert read_text(client, "/2021/schedule/2021-04-06/").count(f"Canceled {ILL}") == 2


def test_reason_of_a_workshop_is_that_of_its_parts(edition: Edition) -> None:
    whole = make.make_session(edition, kind="workshop", **OFF)
    part = make.make_session(edition, parent=whole)
    own = make.make_session(edition, parent=whole, status="cancelled", cancellation_reason="No room.")

    assert [row.why_cancelled for row in (whole, part, own)] == [ILL, ILL, "No room."]
    assert make.make_presentation(part).why_cancelled == ILL
    assert make.make_session(edition).why_cancelled == ""


def test_reason_goes_with_the_cancellation_whichever_way_it_is_written(edition: Edition) -> None:
    rows = [make.make_session(edition, **OFF) for _ in range(3)]
    make.make_presentation(rows[0], **OFF)
    rows[0].status = "published"
    rows[0].save(update_fields=["status"])
    rows[1].status = "draft"
    Session.objects.bulk_update([rows[1]], ["status"])
    Session.objects.filter(pk=rows[2].pk).update(status="published")
    Presentation.objects.update(status="published")

    assert reasons() == [""] * 4


def test_reason_stays_while_other_things_change() -> None:
    row = make.make_session(make.make_edition(), **OFF)
    Session.objects.update(title="Other")
    Session.objects.update(status="cancelled")
    row.save(update_fields=["title"])

    assert reasons() == [ILL]


def test_reason_comes_from_a_file_and_goes_into_one() -> None:
    load(program(sessions=(session("s1", **OFF), session("s2", cancellation_reason="Hidden"))), "2021")
    edition = Session.objects.get(uid="s1").edition
    found = {
        record.uid: stated(record.cancellation_reason, "") for record in dump(edition, drafts=True).sessions
    }

    assert found == {"s1": ILL, "s2": ""}
