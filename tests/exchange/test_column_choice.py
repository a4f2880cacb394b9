"""Tests of the columns of an upload: guessed, changed on a page, and reused for the next file."""

import csv
import io
import re
import time
from datetime import UTC, datetime
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from conference.models import Edition
from exchange.exports.dump import dump, writing_context
from exchange.formats import csv_files
from exchange.imports.load import load
from exchange.jobs import tasks
from exchange.models import ColumnMapping, ImportJob, ImportRun
from papers.models import Paper
from schedule.models import Presentation, Room, Session
from tests import factories as make
from tests.exchange.formats.test_spreadsheet import EASYCHAIR, workbook_source
from tests.exchange.programs import paper, program
from tests.exchange.uploads import ADD_URL, job_url, press_button, upload

pytestmark = pytest.mark.django_db

# A list in a layout that is unrelated to our formats.
POSTERS = """Poster #,Accept as,Session name,Title,Authors,Author affil.,Presenter,Room,Day,Time,Shirt size
P1,Poster,Posters of Tuesday,On n bodies,Mia Zed; Ann Abe,NTNU; MIT,Ann Abe,Hall A,2021-04-06,10:00-11:30,L
P2,Poster,Posters of Tuesday,Fast chips,Bo Li,CMU,Bo Li,Hall A,2021-04-06,10:00-11:30,M
"""


@pytest.fixture
def here() -> Edition:
    return make.make_edition()


def answers(job: ImportJob, **changed: str) -> dict[str, str]:
    """Return the data that the form of the page sends, with some values changed."""
    found: dict[str, str] = {}
    for number, table in enumerate(job.columns["tables"]):
        if not table["is_wanted"]:
            continue
        found |= {f"t{number}-shown": "1", f"t{number}-wanted": "1"}
        found |= {f"t{number}-c{place}": name for place, name in enumerate(table["columns"])}
        found |= {f"t{number}-header": "on"} if table["has_header"] else {}
    found |= {"markdown": "on"} if job.columns["is_markdown"] else {}
    return {**found, **{name.replace("_", "-"): value for name, value in changed.items()}}


def send(client: Client, job: ImportJob, do: str = "map", **changed: str) -> ImportJob:
    response = client.post(job_url(job), {**answers(job, **changed), "do": do}, follow=True)
    assert response.status_code == 200
    return ImportJob.objects.get(pk=job.pk)


def said(client: Client, job: ImportJob) -> str:
    """Return the text of the page, with tags replaced by spaces."""
    return " ".join(re.sub("<[^>]*>", " ", client.get(job_url(job)).text).split())


def test_hand_made_list_becomes_a_program(admin_client: Client, here: Edition) -> None:
    job = upload(admin_client, here, ("posters.csv", POSTERS.encode()))
    page = said(admin_client, job)

    assert (job.state, job.format) == ("mapping", "spreadsheet")
    assert "1 column is left out: Shirt size" in page
    assert "Times are those of the conference: " in page
    assert "Presenting" in page.title()
    assert Paper.objects.count() == 0

    job = press_button(admin_client, send(admin_client, job), "confirm")
    assert (job.state, job.problems, job.columns) == ("done", [], {})
    session, room = Session.objects.get(), Room.objects.get()
    assert (session.title, session.kind, session.room, room.name) == (
        "Posters of Tuesday",
        "poster",
        room,
        "Hall A",
    )
    assert session.start == datetime(2021, 4, 6, 17, tzinfo=UTC)
    shown = Presentation.objects.order_by("board").values_list(
        "board", "kind", "session__title", "paper__title"
    )
    assert list(shown) == [
        ("P1", "poster", "Posters of Tuesday", "On n bodies"),
        ("P2", "poster", "Posters of Tuesday", "Fast chips"),
    ]
    authors = Paper.objects.get(title="On n bodies").authorships.order_by("position")
    assert [(one.name, one.affiliations, one.presenting) for one in authors] == [
        ("Mia Zed", ["NTNU"], False),
        ("Ann Abe", ["MIT"], True),
    ]


def test_same_list_again_changes_nothing(admin_client: Client, here: Edition) -> None:
    for _ in range(2):
        job = send(admin_client, upload(admin_client, here, ("posters.csv", POSTERS.encode())))
        assert job.state == "ready", job.problems
        press_button(admin_client, job, "confirm")

    assert ImportRun.objects.count() == 1
    assert (Paper.objects.count(), Session.objects.count(), Presentation.objects.count()) == (2, 1, 2)


def test_presenter_alone_is_marked_in_the_authors_here(admin_client: Client, here: Edition) -> None:
    load(program(paper("p1", "Mia Zed", "Ann Abe", title="On n bodies")), "2021")
    job = send(admin_client, upload(admin_client, here, ("p.csv", b"Title,Presenter\nOn n bodies,Ann Abe\n")))
    press_button(admin_client, job, "confirm")

    authors = Paper.objects.get().authorships.order_by("position")
    assert [(one.name, one.presenting) for one in authors] == [("Mia Zed", False), ("Ann Abe", True)]


def test_pasted_table_comes_in(admin_client: Client, here: Edition) -> None:
    pasted = "Nr\tTitel\tAuthors\n7\tOn n bodies\tMia Zed\n"
    job = upload(admin_client, here, pasted=pasted)
    assert [job.files, job.columns["tables"][0]["separator"]] == [["Pasted table.csv"], "\t"]
    assert (
        "Title is not mapped" not in said(admin_client, job) or job.columns["tables"][0]["columns"][1] == ""
    )

    job = send(admin_client, job, t0_c1="title")
    assert [row.label for row in job.rows.filter(is_new=True)] == ["Mia Zed", "On n bodies"]


@pytest.mark.parametrize(
    ("rows", "status", "words"),
    [(1_000_000, 200, "more than 2000000 characters"), (1_400_000, 400, "upload it as a file")],
)
def test_paste_that_is_too_long_is_refused_whole(
    admin_client: Client, here: Edition, rows: int, status: int, words: str
) -> None:
    assert "maxlength" not in admin_client.get(ADD_URL).text.partition('name="pasted"')[2].partition(">")[0]
    response = admin_client.post(ADD_URL, {"edition": here.pk, "pasted": "Title\n" + "A\n" * rows})

    assert (response.status_code, ImportJob.objects.count()) == (status, 0)
    assert words in response.text


def test_what_does_not_fit_is_said_and_nothing_is_lost(admin_client: Client, here: Edition) -> None:
    job = upload(admin_client, here, ("x.csv", b"A,B,Notes\nOn n bodies,10:00,x\n"))
    assert "Title is not mapped" in said(admin_client, job) or "No column is mapped" in said(
        admin_client, job
    )

    job = send(admin_client, job, t0_c0="title", t0_c1="title", t0_c2="abstract")
    assert job.state == "mapping"
    assert "“A”, “B”: only one column can be “Title”" in said(admin_client, job)
    job = send(admin_client, job, t0_c1="start")
    assert "The times have no date: “10:00”" in said(admin_client, job)
    assert job.columns["tables"][0]["columns"] == ["title", "start", "abstract"]
    job = send(admin_client, job, t0_c1="nonsense")
    assert (job.state, job.columns["tables"][0]["columns"]) == ("ready", ["title", "", "abstract"])


def test_columns_can_be_changed_after_the_preview_or_a_refusal(admin_client: Client, here: Edition) -> None:
    job = send(admin_client, upload(admin_client, here, ("x.csv", b"Title,Session\nA,Nowhere\n")))
    assert (job.state, job.problems[0][1]) == ("refused", "session")
    assert "Change the columns" in said(admin_client, job)

    job = press_button(admin_client, job, "columns")
    assert (job.state, job.columns["tables"][0]["columns"]) == ("mapping", ["title", "session"])
    job = send(admin_client, job, t0_c1="")
    assert job.state == "ready"
    assert press_button(admin_client, job, "columns").state == "mapping"
    assert press_button(admin_client, job, "drop").state == "dropped"


def test_sheets_of_a_workbook_are_joined_and_others_are_left_out(admin_client: Client, here: Edition) -> None:
    job = upload(admin_client, here, ("papers.xlsx", workbook_source(EASYCHAIR).content))

    assert {one["sheet"]: one["is_wanted"] for one in job.columns["tables"]} == {
        "Submissions": True,
        "Authors": True,
        "Committee": False,
    }
    job = send(admin_client, job)
    assert [row.label for row in job.rows.filter(is_new=True, kind__in=["paper", "person"])] == [
        "Mia Zed",
        "Ann Abe",
        "On n bodies",
    ]


def test_formulas_show_nothing(admin_client: Client, here: Edition) -> None:
    rows: list[list[Any]] = [["ID", "Title"], [1, "=1+1"], [2, "On n bodies"]]
    job = upload(admin_client, here, ("papers.xlsx", workbook_source({"S": rows}).content))

    assert job.columns["tables"][0]["samples"] == [["1", "2"], ["On n bodies"]]
    assert "The title is missing." in said(admin_client, job)


def test_table_is_read_as_chosen(admin_client: Client, here: Edition) -> None:
    job = upload(admin_client, here, ("x.csv", "1;Größe;x, y\n2;Tiefe;z\n".encode("cp1252")))
    (table,) = job.columns["tables"]
    assert (table["has_header"], table["encoding"], table["separator"]) == (False, "windows-1252", ";")

    job = send(admin_client, job, "show", t0_encoding="mac-roman", t0_c1="title")
    assert job.columns["tables"][0]["samples"][1][0] != "Größe"
    job = send(admin_client, job, "show", t0_encoding="windows-1252", t0_separator="0")
    assert [len(job.columns["tables"][0][name]) for name in ("headings", "columns", "samples")] == [2, 2, 2]


@pytest.mark.parametrize("how", [{"t0_encoding": "shift_jis"}, {"t0_separator": "1"}])
def test_table_that_cannot_be_read_so_stays_as_it_was(
    admin_client: Client, here: Edition, how: dict[str, str]
) -> None:
    content = 'Title,Topic\n"A;"" ø",Übung\n'.encode("cp1252")
    before = upload(admin_client, here, ("x.csv", content))
    job = before
    for do in ("show", "forget", "map"):
        response = admin_client.post(job_url(job), {**answers(job, **how), "do": do}, follow=True)
        assert "Save it as" in response.text or "is not CSV" in response.text
        job = ImportJob.objects.get(pk=job.pk)
        assert (job.state, job.columns) == ("mapping", before.columns)

    assert send(admin_client, job).state == "ready"


def test_table_that_is_not_wanted_is_read_as_it_was_shown(admin_client: Client, here: Edition) -> None:
    committee = "Rôle;Ort\nVorsitz;Münster\n".encode("cp1252")
    job = upload(admin_client, here, ("a.csv", committee), ("b.csv", b"Title\nOn n bodies\n"))
    assert [one["is_wanted"] for one in job.columns["tables"]] == [False, True]
    job = send(admin_client, job)

    assert (job.state, job.problems) == ("ready", [])
    assert [row.label for row in job.rows.filter(is_new=True)] == ["On n bodies"]


def test_columns_are_remembered_for_the_next_file(admin_client: Client, here: Edition) -> None:
    table = b"Was,Wer,Rest\nOn n bodies,Mia Zed,x\n"
    send(admin_client, upload(admin_client, here, ("a.csv", table)), t0_c0="title", t0_c1="authors", t0_c2="")
    memory = ColumnMapping.objects.get()
    assert (memory.conference, memory.fields) == (
        here.conference,
        {"was": "title", "wer": "authors", "rest": ""},
    )

    # The stored choice also applies to another order of columns, and to another edition of the conference.
    later = make.make_edition(2022, conference=here.conference)
    job = upload(admin_client, later, ("b.csv", b"Rest,wer,WAS\ny,Ann Abe,A title\n"))
    assert job.columns["tables"][0]["columns"] == ["", "authors", "title"]
    assert "Columns are as you chose them for a.csv." in said(admin_client, job)

    job = upload(admin_client, later, ("c.csv", b"Was,Rest,Keywords\nA title,y,z\n"))
    page = said(admin_client, job)
    assert job.columns["tables"][0]["columns"] == ["title", "", "keywords"]
    assert ("New in this file: Keywords" in page, "Missing in this file: Authors" in page) == (True, True)

    job = send(admin_client, job, "forget")
    assert (ColumnMapping.objects.count(), job.columns["tables"][0]["columns"]) == (0, ["", "", "keywords"])
    assert "as you chose them" not in said(admin_client, job)


def test_columns_of_another_conference_are_not_remembered(admin_client: Client, here: Edition) -> None:
    other = make.make_edition(2022, conference=make.make_conference(slug="other"))
    send(admin_client, upload(admin_client, other, ("a.csv", b"Was\nA\n")), t0_c0="title")
    job = upload(admin_client, here, ("a.csv", b"Was\nA\n"))

    assert job.columns["tables"][0]["memory"] is None


def test_remembered_columns_can_be_seen_and_deleted(admin_client: Client, here: Edition) -> None:
    send(admin_client, upload(admin_client, here, ("a.csv", b"Title,Rest\nA,x\n")))
    memory = ColumnMapping.objects.get()
    listed = admin_client.get("/admin/exchange/columnmapping/").text
    assert "1 of 2 are read" in listed
    assert "/admin/exchange/columnmapping/" in admin_client.get(ADD_URL).text

    admin_client.post(f"/admin/exchange/columnmapping/{memory.pk}/delete/", {"post": "yes"})
    assert not ColumnMapping.objects.exists()


def test_own_list_of_papers_comes_back_as_it_went_out(admin_client: Client, here: Edition) -> None:
    topic = make.make_topic(here, "Systems")
    own = make.make_paper(
        here, ["Mia Zed", "Ann Abe"], title="*On* $n$ bodies", uid="p1", topic=topic, keywords=["a b", "c"]
    )
    make.make_presentation(make.make_session(here, title="Orals"), own)
    papers = next(iter(csv_files.write(dump(here, drafts=True), writing_context(here))))
    content = b"".join(papers.chunks)
    job = send(admin_client, upload(admin_client, here, ("mine.csv", content), format="spreadsheet"))

    assert (job.state, job.problems) == ("ready", [])
    assert job.columns["is_markdown"]
    assert [(row.label, row.fields) for row in job.rows.not_skipped()] == []


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.xlsx", b"PK\x03\x04", "This ZIP file is no workbook."),
        ("a.csv", b'a,b\n"x\n', "is not CSV"),
        ("a.csv", b"\x00\x01\x02", "The file is no table."),
        ("a.csv", b"Title\nA\n", ""),
        ("a.csv", b"Title,Title,Title\nA,B,C\n", "2 columns are left out: Title, Title"),
        (
            "a.csv",
            ",".join(f"C{n}" for n in range(300)).encode() + b"\n" + b"x," * 299 + b"x\n",
            "more than 200",
        ),
        ("a.csv", b"1,On n bodies,m@example.org\n", "Column B"),
        ("a.csv", b"\n\n\n,,\n", "The file is empty."),
    ],
)
def test_bad_files_are_reported_in_words(
    admin_client: Client, here: Edition, name: str, content: bytes, message: str
) -> None:
    job = upload(admin_client, here, (name, content), format="spreadsheet")

    assert job.state == "mapping"
    assert message in said(admin_client, job)
    send(admin_client, job, "show")


@pytest.mark.parametrize(
    "sent", [{"t0-c0": "x"}, {"t9-c9": "title"}, {"t0-separator": "99"}, {"t0-encoding": "x"}]
)
def test_forged_answers_break_nothing(admin_client: Client, here: Edition, sent: dict[str, str]) -> None:
    job = upload(admin_client, here, ("x.csv", b"Title\nA\n"))
    for do in ("map", "show", "forget", "columns"):
        response = admin_client.post(job_url(job), {"t0-shown": "1", **sent, "do": do}, follow=True)
        assert response.status_code == 200


def test_what_is_stored_of_a_table_goes_with_its_files(admin_client: Client, here: Edition) -> None:
    job = upload(admin_client, here, ("x.csv", b"Title\nSecret\n"))
    ImportJob.objects.update(changed_at=datetime(2021, 1, 1, tzinfo=UTC))
    tasks.sweep()
    job.refresh_from_db()

    assert (job.state, job.columns, job.has_files) == ("dropped", {}, False)
    assert "Secret" not in admin_client.get(job_url(job)).text


def large() -> bytes:
    rows = io.StringIO()
    writer = csv.writer(rows)
    writer.writerow(["ID", "Title", "Abstract", *(f"Column {n}" for n in range(20))])
    for number in range(6_000):
        writer.writerow([number, f"Paper {number}", "word " * 200, *("x" * 20)])
    return rows.getvalue().encode()


def test_page_of_a_large_file_is_quick(admin_client: Client, here: Edition) -> None:
    job = upload(admin_client, here, ("large.csv", large()))
    admin_client.get(job_url(job))
    begun = time.process_time()
    response = admin_client.get(job_url(job))

    assert response.status_code == 200
    assert time.process_time() - begun < 0.4


def test_upload_of_one_source_at_a_time(admin_client: Client, here: Edition) -> None:
    sent: dict[str, Any] = {
        "edition": here.pk,
        "pasted": "Title\nA",
        "sources": [SimpleUploadedFile("x.csv", b"Title\nA\n")],
    }

    assert "paste a table, or enter an address: one of them" in admin_client.post(ADD_URL, sent).text
