"""A small file, or a set of files, for every readable format: the input for tests of all readers."""

from exchange.files import Context, Source
from exchange.formats import formats
from tests.exchange.formats.test_miniconf import FILES
from tests.exchange.programs import complete_program, program_with_papers

CONTEXT = Context("2021", 2021, "America/Los_Angeles")
OPENREVIEW = """{"notes": [{"id": "aB1", "forum": "aB1", "content": {"title": {"value": "On n bodies"},
"authors": {"value": ["Mia Zed", "Ann Abe"]}, "authorids": {"value": ["~Mia_Zed1", "~Ann_Abe1"]},
"venue": {"value": "MLSys 2021 Oral"}, "venueid": {"value": "MLSys.org/2021/Conference"}}}], "count": 1}"""
SPREADSHEET = 'Paper ID,Paper Title,Authors,Status\n7,On n bodies,"Mia Zed (NTNU); Ann Abe",Accept\n'
BIBTEX = "@inproceedings{zed21, title = {On {$n$} bodies}, author = {Zed, Mia and Abe, Ann}}\n"
FRAB_JSON = """{"schedule": {"version": "1", "conference": {"acronym": "mini", "days": [{"index": 1,
"date": "2021-04-06", "day_start": "2021-04-06T09:00:00-07:00", "rooms": {"Hall": [{
"id": 7, "title": "On n bodies",
"date": "2021-04-06T10:00:00-07:00", "duration": "00:30", "track": "Chaos", "type": "lecture",
"persons": [{"id": 1, "public_name": "Mia Zed"}], "links": [], "attachments": []}]}}]}}}"""
FRAB_XML = """<schedule><version>1</version><conference><acronym>mini</acronym></conference>
<day index="1" date="2021-04-06" start="2021-04-06T09:00:00-07:00"><room name="Hall"><event id="7">
<title>On n bodies</title><date>2021-04-06T10:00:00-07:00</date><duration>00:30</duration><track>Chaos</track>
<type>lecture</type><persons><person id="1">Mia Zed</person></persons></event></room></day></schedule>"""
# Files of formats that are only read, or that write no papers. Other formats write their own files.
HANDWRITTEN = {
    "openreview": {"notes.json": OPENREVIEW},
    "spreadsheet": {"submissions.csv": SPREADSHEET},
    "bibtex": {"papers.bib": BIBTEX},
    "frab_json": {"schedule.json": FRAB_JSON},
    "frab_xml": {"schedule.xml": FRAB_XML},
    "miniconf": {name: text.replace("11:00:00+02:00", "11:00:00") for name, text in FILES.items()},
}


# Formats that write one file of the whole program, then a file per table. Their sample is the first file,
# with a value in every column.
COMPLETE_FILE_FIRST = {"xlsx"}


def sample_files(name: str) -> list[Source]:
    """Return one or more files of this format. A format without a writer must be in HANDWRITTEN."""
    if name in HANDWRITTEN:
        return [Source(file, text.encode()) for file, text in HANDWRITTEN[name].items()]
    write = formats()[name].write
    assert write, f"Add a file of the format {name} to HANDWRITTEN."
    program = complete_program() if name in COMPLETE_FILE_FIRST else program_with_papers(3)
    files = [Source(file.name, b"".join(file.chunks)) for file in write(program, CONTEXT)]
    return files[:1] if name in COMPLETE_FILE_FIRST else files
