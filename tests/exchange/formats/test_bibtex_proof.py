"""BibTeX as foreign readers take it: the nastiest titles round-trip, the whole demo parses, keys last."""

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from bibtexparser.middlewares import LatexDecodingMiddleware
from hypothesis import given, settings
from hypothesis import strategies as st

import markup
from exchange.files import Source
from exchange.formats import bibtex, program_json
from exchange.records import Program, stated
from tests.demo.programs import DEMO, YEARS
from tests.exchange.formats.test_citations import AS_PRINTED, CONTEXT, entries, titled, written

# What breaks BibTeX, in any order and number; formulas that read the same as text and as TeX.
PIECES = [
    "{",
    "}",
    "&",
    "%",
    "_",
    "#",
    "\\{",
    "\\ ",
    "’",
    "“",
    "”",
    "é",
    '"',
    "'",
    "李",
    "—",
    "{A}",
    "BERT",
    "a_b",
]
NASTY = st.lists(st.sampled_from([*PIECES, "$n$", "$a+b$", "@article{x,", ",", "=", " on "]), max_size=14)


def printed(title: str) -> str:
    return " ".join(markup.plain(title).replace("'", "’").replace("$", "").split())


@settings(max_examples=150, deadline=None)
@given(st.lists(NASTY.map(lambda pieces: f"x{''.join(pieces)}x"), min_size=1, max_size=4))
def test_trap_15_nasty_titles_round_trip(titles: list[str]) -> None:
    found = entries(titled(*titles), LatexDecodingMiddleware(keep_math_mode=False))
    shown = [" ".join(entry["title"].translate(AS_PRINTED).split()) for entry in found]

    assert [entry.key for entry in found] == [f"mlsys2021.p{n}" for n in range(len(titles))]
    assert shown == [printed(one) for one in titles]


def demo(year: int) -> Program:
    path = DEMO / f"mlsys-{year}.json"
    return program_json.read([Source(path.name, path.read_bytes())], CONTEXT)


@pytest.mark.parametrize("year", YEARS)
def test_trap_15_the_whole_demo_parses(year: int) -> None:
    made = demo(year)
    found = entries(made, LatexDecodingMiddleware(keep_math_mode=False))
    keys = [entry.key for entry in found]
    corrected = replace(made, papers=tuple(replace(one, title="New", authors=()) for one in made.papers))

    assert len({*keys}) == len(made.papers)
    assert keys == [entry.key for entry in entries(corrected)]
    titles = [printed(stated(one.title, "")) for one in made.papers]
    assert sorted(entry["title"].translate(AS_PRINTED) for entry in found) == sorted(titles)


@pytest.mark.skipif(shutil.which("biber") is None, reason="biber, the reader of biblatex, is not installed")
def test_trap_15_biber_reads_the_demo(tmp_path: Path) -> None:
    (tmp_path / "all.bib").write_text(written(bibtex.write, demo(2021)), "utf-8")
    told = subprocess.run(
        ["biber", "--tool", "--validate-datamodel", "all.bib"], cwd=tmp_path, capture_output=True, text=True
    )

    assert (told.returncode, "ERROR" in told.stdout) == (0, False)
