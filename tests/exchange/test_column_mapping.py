"""Tests of the column mapping of an upload: guessed, changed on a page, and reused for the next file."""

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

# A list with columns that are unlike those of our formats.
POSTERS = """Poster #,Accept as,Session name,Title,Authors,Author affil.,Presenter,Room,Day,Time,Shirt size
P1,Poster,Posters of Tuesday,On n bodies,Mia Zed; Ann Abe,NTNU; MIT,Ann Abe,Hall A,2021-04-06,10:00-11:30,L
P2,Poster,Posters of Tuesday,Fast chips,Bo Li,CMU,Bo Li,Hall A,2021-04-06,10:00-11:30,M
"""


def form_data(job: ImportJob, **changes: str) -> dict[str, str]:
    """Return the data that the form of the page sends, with some changes."""
    data: dict[str, str] = {}
    for number, table in enumerate(job.columns["tables"]):
        if not table["is_wanted"]:
            continue
        data |= {f"t{number}-shown": "1", f"t{number}-wanted": "1"}
        data |= {f"t{number}-c{index}": name for index, name in enumerate(table["columns"])}
        data |= {f"t{number}-header": "on"} if table["has_header"] else {}
    data |= {"markdown": "on"} if job.columns["is_markdown"] else {}
    return {**data, **{name.replace("_", "-"): value for name, value in changes.items()}}


def submit_columns(client: Client, job: ImportJob, action: str = "map", **changes: str) -> ImportJob:
    response = client.post(job_url(job), {**form_data(job, **changes), "do": action}, follow=True)
    assert response.status_code == 200
    return ImportJob.objects.get(pk=job.pk)


def page_text(client: Client, job: ImportJob) -> str:
    """Return the text of the page, with tags replaced by spaces."""
    return " ".join(re.sub("<[^>]*>", " ", client.get(job_url(job)).text).split())


def test_list_with_foreign_columns_is_imported(admin_client: Client, edition: Edition) -> None:
    job = upload(admin_client, edition, ("posters.csv", POSTERS.encode()))
    page = page_text(admin_client, job)

    assert (job.state, job.format) == ("mapping", "spreadsheet")
    assert "1 column is left out: Shirt size" in page
    assert "Times are those of the conference: " in page
    assert "Presenting" in page.title()
    assert Paper.objects.count() == 0

    job = press_button(admin_client, submit_columns(admin_client, job), "confirm")
    assert (job.state, job.problems, job.columns) == ("done", [], {})
    session, room = Session.objects.get(), Room.objects.get()
    assert (session.title, session.kind, session.room, room.name) == (
        "Posters of Tuesday",
        "poster",
        room,
        "Hall A",
    )
    assert session.start == datetime(2021, 4, 6, 17, tzinfo=UTC)
    presentations = Presentation.objects.order_by("board").values_list(
        "board", "kind", "session__title", "paper__title"
    )
    assert list(presentations) == [
        ("P1", "poster", "Posters of Tuesday", "On n bodies"),
        ("P2", "poster", "Posters of Tuesday", "Fast chips"),
    ]
    authors = Paper.objects.get(title="On n bodies").authorships.order_by("position")
    assert [(authorship.name, authorship.affiliations, authorship.presenting) for authorship in authors] == [
        ("Mia Zed", ["NTNU"], False),
        ("Ann Abe", ["MIT"], True),
    ]


def test_second_import_of_the_list_changes_nothing(admin_client: Client, edition: Edition) -> None:
    for _ in range(2):
        job = submit_columns(admin_client, upload(admin_client, edition, ("posters.csv", POSTERS.encode())))
        assert job.state == "ready", job.problems
        press_button(admin_client, job, "confirm")

    assert ImportRun.objects.count() == 1
    assert (Paper.objects.count(), Session.objects.count(), Presentation.objects.count()) == (2, 1, 2)


def test_guessed_column_that_does_not_fit_further_rows_is_left_out(
    admin_client: Client, edition: Edition
) -> None:
    """The page sees the first rows alone."""
    rows = "".join(f"{number},Talk {number},8 April 2021\n" for number in range(60))
    table = f"id,title,When\n{rows}60,Talk 60,to be announced\n".encode()
    job = submit_columns(admin_client, upload(admin_client, edition, ("list.csv", table)))

    assert (job.state, job.problems) == ("ready", [])
    assert "“When” was not taken as “Date”: “to be announced” is none." in [note[2] for note in job.notes]

    job = submit_columns(admin_client, upload(admin_client, edition, ("list.csv", table)), t0_c2="start")
    assert (job.state, job.problems[0][1]) == ("refused", "start")


def test_presenter_column_marks_an_existing_author(admin_client: Client, edition: Edition) -> None:
    load(program(paper("p1", "Mia Zed", "Ann Abe", title="On n bodies")), "2021")
    job = submit_columns(
        admin_client, upload(admin_client, edition, ("p.csv", b"Title,Presenter\nOn n bodies,Ann Abe\n"))
    )
    press_button(admin_client, job, "confirm")

    authors = Paper.objects.get().authorships.order_by("position")
    assert [(authorship.name, authorship.presenting) for authorship in authors] == [
        ("Mia Zed", False),
        ("Ann Abe", True),
    ]


def test_pasted_table_is_previewed(admin_client: Client, edition: Edition) -> None:
    table = "Nr\tTitel\tAuthors\n7\tOn n bodies\tMia Zed\n"
    job = upload(admin_client, edition, pasted=table)
    assert [job.files, job.columns["tables"][0]["separator"]] == [["Pasted table.csv"], "\t"]
    assert job.columns["tables"][0]["columns"] == ["uid", "", "authors"]

    job = submit_columns(admin_client, job, t0_c1="title")
    assert [row.label for row in job.rows.filter(is_new=True)] == ["Mia Zed", "On n bodies"]


@pytest.mark.parametrize(
    ("row_count", "status", "message"),
    [(1_000_000, 200, "more than 2000000 characters"), (1_400_000, 400, "upload it as a file")],
)
def test_too_long_paste_is_refused(
    admin_client: Client, edition: Edition, row_count: int, status: int, message: str
) -> None:
    assert "maxlength" not in admin_client.get(ADD_URL).text.partition('name="pasted"')[2].partition(">")[0]
    response = admin_client.post(ADD_URL, {"edition": edition.pk, "pasted": "Title\n" + "A\n" * row_count})

    assert (response.status_code, ImportJob.objects.count()) == (status, 0)
    assert message in response.text


def test_invalid_mapping_is_reported_and_kept_for_correction(admin_client: Client, edition: Edition) -> None:
    job = upload(admin_client, edition, ("x.csv", b"A,B,Notes\nOn n bodies,10:00,x\n"))
    assert "No column is mapped" in page_text(admin_client, job)

    job = submit_columns(admin_client, job, t0_c0="title", t0_c1="title", t0_c2="abstract")
    assert job.state == "mapping"
    assert "“A”, “B”: only one column can be “Title”" in page_text(admin_client, job)
    job = submit_columns(admin_client, job, t0_c1="start")
    assert "The times have no date: “10:00”" in page_text(admin_client, job)
    assert job.columns["tables"][0]["columns"] == ["title", "start", "abstract"]
    job = submit_columns(admin_client, job, t0_c1="nonsense")
    assert (job.state, job.columns["tables"][0]["columns"]) == ("ready", ["title", "", "abstract"])


def test_columns_can_be_changed_after_the_preview_or_a_refusal(
    admin_client: Client, edition: Edition
) -> None:
    job = submit_columns(
        admin_client, upload(admin_client, edition, ("x.csv", b"Title,Session\nA,Nowhere\n"))
    )
    assert (job.state, job.problems[0][1]) == ("refused", "session")
    assert "Change the columns" in page_text(admin_client, job)

    job = press_button(admin_client, job, "columns")
    assert (job.state, job.columns["tables"][0]["columns"]) == ("mapping", ["title", "session"])
    job = submit_columns(admin_client, job, t0_c1="")
    assert job.state == "ready"
    assert press_button(admin_client, job, "columns").state == "mapping"
    assert press_button(admin_client, job, "drop").state == "dropped"


def test_sheets_of_papers_and_authors_are_joined_and_others_ignored(
    admin_client: Client, edition: Edition
) -> None:
    job = upload(admin_client, edition, ("papers.xlsx", workbook_source(EASYCHAIR).content))

    assert {table["sheet"]: table["is_wanted"] for table in job.columns["tables"]} == {
        "Submissions": True,
        "Authors": True,
        "Committee": False,
    }
    job = submit_columns(admin_client, job)
    assert [row.label for row in job.rows.filter(is_new=True, kind__in=["paper", "person"])] == [
        "Mia Zed",
        "Ann Abe",
        "On n bodies",
    ]


def test_formula_cell_is_read_as_empty(admin_client: Client, edition: Edition) -> None:
    rows: list[list[Any]] = [["ID", "Title"], [1, "=1+1"], [2, "On n bodies"]]
    job = upload(admin_client, edition, ("papers.xlsx", workbook_source({"S": rows}).content))

    assert job.columns["tables"][0]["samples"] == [["1", "2"], ["On n bodies"]]
    assert "The title is missing." in page_text(admin_client, job)


def test_table_is_read_with_the_chosen_encoding_and_separator(admin_client: Client, edition: Edition) -> None:
    job = upload(admin_client, edition, ("x.csv", "1;Größe;x, y\n2;Tiefe;z\n".encode("cp1252")))
    (table,) = job.columns["tables"]
    assert (table["has_header"], table["encoding"], table["separator"]) == (False, "windows-1252", ";")

    job = submit_columns(admin_client, job, "show", t0_encoding="mac-roman", t0_c1="title")
    assert job.columns["tables"][0]["samples"][1][0] != "Größe"
    job = submit_columns(admin_client, job, "show", t0_encoding="windows-1252", t0_separator="0")
    assert [len(job.columns["tables"][0][name]) for name in ("headings", "columns", "samples")] == [2, 2, 2]


@pytest.mark.parametrize("choice", [{"t0_encoding": "shift_jis"}, {"t0_separator": "1"}])
def test_unreadable_encoding_or_separator_changes_nothing(
    admin_client: Client, edition: Edition, choice: dict[str, str]
) -> None:
    content = 'Title,Topic\n"A;"" ø",Übung\n'.encode("cp1252")
    before = upload(admin_client, edition, ("x.csv", content))
    job = before
    for action in ("show", "forget", "map"):
        response = admin_client.post(job_url(job), {**form_data(job, **choice), "do": action}, follow=True)
        assert "Save it as" in response.text or "is not CSV" in response.text
        job = ImportJob.objects.get(pk=job.pk)
        assert (job.state, job.columns) == ("mapping", before.columns)

    assert submit_columns(admin_client, job).state == "ready"


def test_unselected_table_in_another_encoding_is_no_problem(admin_client: Client, edition: Edition) -> None:
    committee = "Rôle;Ort\nVorsitz;Münster\n".encode("cp1252")
    job = upload(admin_client, edition, ("a.csv", committee), ("b.csv", b"Title\nOn n bodies\n"))
    assert [table["is_wanted"] for table in job.columns["tables"]] == [False, True]
    job = submit_columns(admin_client, job)

    assert (job.state, job.problems) == ("ready", [])
    assert [row.label for row in job.rows.filter(is_new=True)] == ["On n bodies"]


def test_columns_are_reused_for_the_next_file(admin_client: Client, edition: Edition) -> None:
    table = b"Was,Wer,Rest\nOn n bodies,Mia Zed,x\n"
    submit_columns(
        admin_client,
        upload(admin_client, edition, ("a.csv", table)),
        t0_c0="title",
        t0_c1="authors",
        t0_c2="",
    )
    mapping = ColumnMapping.objects.get()
    assert (mapping.conference, mapping.fields) == (
        edition.conference,
        {"was": "title", "wer": "authors", "rest": ""},
    )

    # The stored mapping also applies to other column orders and to other editions of the conference.
    next_edition = make.make_edition(2022, conference=edition.conference)
    job = upload(admin_client, next_edition, ("b.csv", b"Rest,wer,WAS\ny,Ann Abe,A title\n"))
    assert job.columns["tables"][0]["columns"] == ["", "authors", "title"]
    assert "Columns are as you chose them for a.csv." in page_text(admin_client, job)

    job = upload(admin_client, next_edition, ("c.csv", b"Was,Rest,Keywords\nA title,y,z\n"))
    page = page_text(admin_client, job)
    assert job.columns["tables"][0]["columns"] == ["title", "", "keywords"]
    assert ("New in this file: Keywords" in page, "Missing in this file: Authors" in page) == (True, True)

    job = submit_columns(admin_client, job, "forget")
    assert (ColumnMapping.objects.count(), job.columns["tables"][0]["columns"]) == (0, ["", "", "keywords"])
    assert "as you chose them" not in page_text(admin_client, job)


def test_columns_are_not_reused_for_another_conference(admin_client: Client, edition: Edition) -> None:
    other_edition = make.make_edition(2022, conference=make.make_conference(slug="other"))
    submit_columns(admin_client, upload(admin_client, other_edition, ("a.csv", b"Was\nA\n")), t0_c0="title")
    job = upload(admin_client, edition, ("a.csv", b"Was\nA\n"))

    assert job.columns["tables"][0]["memory"] is None


def test_stored_columns_can_be_listed_and_deleted(admin_client: Client, edition: Edition) -> None:
    submit_columns(admin_client, upload(admin_client, edition, ("a.csv", b"Title,Rest\nA,x\n")))
    mapping = ColumnMapping.objects.get()
    list_page = admin_client.get("/admin/exchange/columnmapping/").text
    assert "1 of 2 are read" in list_page
    assert "/admin/exchange/columnmapping/" in admin_client.get(ADD_URL).text

    admin_client.post(f"/admin/exchange/columnmapping/{mapping.pk}/delete/", {"post": "yes"})
    assert not ColumnMapping.objects.exists()


def test_exported_list_of_papers_is_imported_without_changes(admin_client: Client, edition: Edition) -> None:
    topic = make.make_topic(edition, "Systems")
    exported_paper = make.make_paper(
        edition, ["Mia Zed", "Ann Abe"], title="*On* $n$ bodies", uid="p1", topic=topic, keywords=["a b", "c"]
    )
    make.make_presentation(make.make_session(edition, title="Orals"), exported_paper)
    papers_csv = next(iter(csv_files.write(dump(edition, drafts=True), writing_context(edition))))
    content = b"".join(papers_csv.chunks)
    job = submit_columns(
        admin_client, upload(admin_client, edition, ("mine.csv", content), format="spreadsheet")
    )

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
def test_file_problem_is_shown_on_the_mapping_page(
    admin_client: Client, edition: Edition, name: str, content: bytes, message: str
) -> None:
    job = upload(admin_client, edition, (name, content), format="spreadsheet")

    assert job.state == "mapping"
    assert message in page_text(admin_client, job)
    submit_columns(admin_client, job, "show")


@pytest.mark.parametrize(
    "data", [{"t0-c0": "x"}, {"t9-c9": "title"}, {"t0-separator": "99"}, {"t0-encoding": "x"}]
)
def test_forged_form_data_is_no_server_error(
    admin_client: Client, edition: Edition, data: dict[str, str]
) -> None:
    job = upload(admin_client, edition, ("x.csv", b"Title\nA\n"))
    for action in ("map", "show", "forget", "columns"):
        response = admin_client.post(job_url(job), {"t0-shown": "1", **data, "do": action}, follow=True)
        assert response.status_code == 200


def test_stored_table_is_removed_with_its_files(admin_client: Client, edition: Edition) -> None:
    job = upload(admin_client, edition, ("x.csv", b"Title\nSecret\n"))
    ImportJob.objects.update(changed_at=datetime(2021, 1, 1, tzinfo=UTC))
    tasks.sweep()
    job.refresh_from_db()

    assert (job.state, job.columns, job.has_files) == ("dropped", {}, False)
    assert "Secret" not in admin_client.get(job_url(job)).text


def table_file(row_count: int) -> tuple[str, bytes]:
    rows = io.StringIO()
    writer = csv.writer(rows)
    writer.writerow(["ID", "Title", "Abstract", *(f"Column {n}" for n in range(20))])
    for number in range(row_count):
        writer.writerow([number, f"Paper {number}", "word " * 200, *("x" * 20)])
    return "table.csv", rows.getvalue().encode()


def test_mapping_page_reads_only_the_first_rows_of_a_large_file(
    admin_client: Client, edition: Edition
) -> None:
    seconds = {}
    for row_count in (60, 6_000):
        job = upload(admin_client, edition, table_file(row_count))
        admin_client.get(job_url(job))  # compiles the templates
        start = time.process_time()
        assert admin_client.get(job_url(job)).status_code == 200
        seconds[row_count] = time.process_time() - start

    assert seconds[6_000] < min(0.4, 3 * seconds[60])


def test_only_one_source_can_be_uploaded_at_a_time(admin_client: Client, edition: Edition) -> None:
    data: dict[str, Any] = {
        "edition": edition.pk,
        "pasted": "Title\nA",
        "sources": [SimpleUploadedFile("x.csv", b"Title\nA\n")],
    }

    assert "paste a table, or enter an address: one of them" in admin_client.post(ADD_URL, data).text


# Rows that are left out, numbers of papers, names


TRACK = "No,Title,Authors,Track\n1,{0} one,Mia Zed,{0}\n2,{0} two,Bo Li,{0}\n"


def test_total_row_and_ticked_rows_are_left_out(admin_client: Client, edition: Edition) -> None:
    table = "Accepted papers,,\n,,\nNo,Title,Authors\n1,On tea,Mia Zed\n2,On milk,Bo Li\nTotal,2,\n"
    job = submit_columns(admin_client, upload(admin_client, edition, ("papers.csv", table.encode())))
    preview = admin_client.get(job_url(job)).text
    admin_client.post(job_url(job), {"do": "leave_out", "left_out": ["papers.csv, row 5"]})
    job = ImportJob.objects.get()
    messages = [message for _kind, _where, message, *_ in job.notes]
    press_button(admin_client, job, "confirm")

    assert 'value="papers.csv, row 4"' in preview
    assert "Rows with totals were left out: 6." in messages
    assert "Rows were left out as chosen: 5." in messages
    assert [*Paper.objects.values_list("uid", "title")] == [("1", "On tea")]


def test_leaving_out_without_a_tick_says_what_to_do(admin_client: Client, edition: Edition) -> None:
    job = submit_columns(
        admin_client, upload(admin_client, edition, ("papers.csv", b"No,Title,Authors\n1,On tea,Mia Zed\n"))
    )
    page = admin_client.post(job_url(job), {"do": "leave_out"}, follow=True).text

    assert "Nothing was left out: tick the rows first." in page
    assert ImportJob.objects.get().state == "ready"


def test_row_with_a_problem_can_be_left_out_and_taken_again(admin_client: Client, edition: Edition) -> None:
    table = b"No,Title,Date,Start\n1,On tea,2021-04-06,10:00\n2,On milk,2021-04-06,10:00\n3,,whenever,never\n"
    job = submit_columns(admin_client, upload(admin_client, edition, ("papers.csv", table)))
    refused = (job.state, {place for place, *_ in job.problems})
    page = admin_client.get(job_url(job)).text
    admin_client.post(job_url(job), {"do": "leave_out", "left_out": ["papers.csv, row 4", "x, row 1", "row"]})
    job = ImportJob.objects.get()
    ready = (job.state, [table["left_out_rows"] for table in job.columns["tables"]])
    admin_client.post(job_url(job), {"do": "columns"})
    mapping = admin_client.get(job_url(job)).text
    job = submit_columns(admin_client, ImportJob.objects.get())

    assert refused == ("refused", {"papers.csv, row 4"})
    assert page.count('name="left_out"') == 1
    assert ready == ("ready", [[4]])
    assert 'name="t0-out-4" checked' in mapping
    assert (job.state, job.columns["tables"][0]["left_out_rows"]) == ("refused", [])


@pytest.mark.parametrize(
    ("fields", "uids"),
    [
        ({"t1_prefix": "demo-"}, ["1", "2", "demo-1", "demo-2"]),
        ({"t0_track": "on", "t1_track": "on"}, ["demo-1", "demo-2", "main-1", "main-2"]),
        ({"t0_prefix": "M", "t1_prefix": "D", "t1_track": "on"}, ["M1", "M2", "demo-D1", "demo-D2"]),
    ],
)
def test_numbers_of_several_tracks_are_made_unique(
    admin_client: Client, edition: Edition, fields: dict[str, str], uids: list[str]
) -> None:
    files = [(f"{track}.csv", TRACK.format(track).encode()) for track in ("Main", "Demo")]
    job = submit_columns(admin_client, upload(admin_client, edition, *files), **fields)
    press_button(admin_client, job, "confirm")

    assert [*Paper.objects.order_by("uid").values_list("uid", flat=True)] == uids


def test_first_rows_have_the_numbers_of_the_file_and_names(admin_client: Client, edition: Edition) -> None:
    room = make.make_room(edition, "Grand Hall", slug="grand-hall")
    make.make_session(edition, uid="s9", title="Late posters", kind="poster", room=room)
    table = (
        "Our papers,,,\n,,,\nNo,Title,Session,Room\n1,On tea,Late posters,Grand Hall\n,,,\n2,,Late posters,\n"
    )
    job = upload(admin_client, edition, ("papers.csv", table.encode()))
    problem_page = page_text(admin_client, job)
    job = upload(admin_client, edition, ("papers.csv", table.replace("2,,", "2,On milk,").encode()))
    page = page_text(admin_client, job)

    assert "papers.csv, row 6, title: The title is missing." in problem_page
    assert [text in page for text in ("On tea row 4", "On milk row 6")] == [True, True]
    assert [text in page for text in ("Grand Hall", "Session Late posters")] == [True, True]
    assert "s9" not in page
    assert "grand-hall" not in page


def test_page_shows_a_column_that_only_later_rows_have(admin_client: Client, edition: Edition) -> None:
    rows = "".join(f"{number},Talk {number}\n" for number in range(8))
    table = f"id,title\n{rows}8,Talk 8,10.1000/182\n".encode()
    job = upload(admin_client, edition, ("list.csv", table))

    assert job.columns["tables"][0]["columns"] == ["uid", "title", "doi"]
    assert "Talk 4" in page_text(admin_client, job)


def test_page_does_not_change_the_choice(admin_client: Client, edition: Edition) -> None:
    """Most of the first rows don't fit the column, and most of all rows do."""
    rows = "".join(f"{number},Talk {number},{'tbd' if number < 5 else 20}\n" for number in range(40))
    job = upload(admin_client, edition, ("list.csv", f"id,title,Duration\n{rows}".encode()))
    assert job.columns["tables"][0]["columns"][2] == "duration"

    assert '<option value="duration" selected>' in admin_client.get(job_url(job)).text
