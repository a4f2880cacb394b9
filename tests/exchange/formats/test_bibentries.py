"""Tests of the BibTeX reader: keys, names, TeX, and reports of entries that do not parse."""

import pytest

from exchange.files import Context, Source
from exchange.formats import bibtex
from exchange.reading.bibtex import decode_tex
from exchange.records import MaterialRecord, Program, stated
from tests.exchange.outputs import reported_problems, written_content
from tests.exchange.programs import author, paper, program

CONTEXT = Context("2021", 2021, "UTC")
FILE = r"""
@string{of = "chaos; stars"}
@comment{nothing}
@proceedings{book21, title = {All of it}, editor = {Boss, Ed}}
@InProceedings{zed:21,
  title = {The {GPU} of {M{\"u}ller} \& {$x_{1}$}, 50\% \emph{faster}},
  author = "van der Berg, Jan and M{\"u}ller, Jr., {\L}ukasz and {The ATLAS Team} and others",
  editor = {Boss, Ed}, month = jan, keywords = of, pages = {1--9},
  doi = {https://doi.org/10.5/a\_b}, url = {https://example.org/a\_b.pdf},
  abstract = {Costs \$5~--- ``really''.}
}
@article(second, author = {Zed, Mia}, title = "In parentheses")
"""


def read(*contents: str) -> Program:
    sources = [Source("x.bib", content.encode()) for content in contents]
    return bibtex.FORMAT.read(sources, CONTEXT)  # type: ignore[misc]


def test_entry_becomes_a_paper() -> None:
    first, second = read(FILE).papers

    assert (first.uid, first.title) == ("zed-21", "The GPU of Müller & $x_{1}$, 50% *faster*")
    assert [one.person.name for one in stated(first.authors, ())] == [
        "Jan van der Berg", "Łukasz Müller Jr.", "The ATLAS Team",
    ]  # fmt: skip
    assert (first.keywords, first.pages, first.abstract) == (
        ("chaos", "stars"),
        "1-9",
        "Costs $5 — “really”.",
    )
    assert first.materials == (MaterialRecord(kind="pdf", url="https://example.org/a_b.pdf"),)
    assert (second.uid, second.title) == ("second", "In parentheses")


def test_volumes_and_incomplete_authors_are_said() -> None:
    assert [(str(note.where), note.message) for note in read(FILE).notes] == [
        ("x.bib, line 5 (zed:21)", "The list of authors ends in “and others”: it is not complete."),
        ("", "Left out because they are whole volumes: book21."),
    ]


@pytest.mark.parametrize(
    ("tex", "plain"),
    [
        (r"\'e \`{a} \^o \H{o} \k{a} \r a \c{c} \v s {\ss} \o \AE", "é à ô ő ą å ç š ß øÆ"),
        (r"$\alpha_{1}$ and \(x\) and $\lbrace$", r"$\alpha_{1}$ and \(x\) and {"),
        (r"{\em a} \textbf{b} \_c\_ a\_b 2*3", r"*a* **b** \_c\_ a\_b 2\*3"),
        (r"\emph{a}[b](c) [\emph{d}](e)", r"*a*[b\](c) [*d*\](e)"),
        (r"\emph{(a)}b 1\textbf{2}3", r"\emph{(a)}b 1\textbf{2}3"),
        (r"\textless{}b\textgreater{} \textbar{} -{}- x", r"\<b\> | \-\- x"),
        (r"\_c\_ a*b 2*3 a*", r"\_c\_ a\*b 2\*3 a\*"),
        (r"x\textasciicircum{}2, \^{} and \~{}", r"x^2, ^ and ~"),
        (r"See \href{https://example.org/x_y}{our {\'E}tude}", "See our Étude"),
        (r"At \url{https://example.org/}", "At https://example.org/"),
        ("100% of a -- b", "100% of a – b"),
        ("plain, it's", "plain, it's"),
        (r"Of \title{a} and \author", "Of a and "),
        (r"After \maketitle", "After "),
    ],
)
def test_tex_becomes_text(tex: str, plain: str) -> None:
    assert decode_tex(tex) == plain


def test_names_and_keywords_are_plain_text() -> None:
    (found,) = read(
        r"@misc{a, title={A}, author={Zed, \emph{Mia} trans*}, keywords={\_\_init\_\_, a*b*}}"
    ).papers

    assert [one.person.name for one in stated(found.authors, ())] == ["Mia trans* Zed"]
    assert found.keywords == ("__init__", "a*b*")


def test_parts_of_a_value_are_joined() -> None:
    (found,) = read(
        '@string{gpu = {GPU}}\n@string{gpus = gpu # "s"}\n'
        '@misc{a, title = "On " # GPUs # { and {#}} # " more", abstract = "a # b", keywords = {x} # ", y"}'
    ).papers

    assert (found.title, found.abstract, found.keywords) == ("On GPUs and # more", "a # b", ("x", "y"))


@pytest.mark.parametrize("command", ["footnote", "href", "sqrt", "verb"])
def test_title_that_ends_within_a_command_stays_as_it_is(command: str) -> None:
    found = read(rf"@misc{{a, title={{Of \{command}}}}}")

    assert [paper.title for paper in found.papers] == [rf"Of \{command}"]
    assert [(str(note.where), note.message) for note in found.notes] == [
        ("x.bib, line 1 (a)", "A command of TeX lacks what belongs to it in title: the text stays as it is.")
    ]


@pytest.mark.parametrize(
    "title",
    [
        "Ünïcödé & Ł, 50% of #1",
        "On $a_1+b_2$ bodies",
        "BERT and GPT-3: a_b",
        "Quotes “x” and ‘y’ — dash",
        "Sets { and }",
        "*Very* big",
        r"\<b\> | \-\-verbose \-\-\-",
        r"*y*[x\](z)",
        r"\emph{(x)}y",
    ],
)
def test_trap_15_titles_come_back(title: str) -> None:
    made = program(paper("17", author("Mia Zed"), author("Jan van der Berg"), title=title))
    (found,) = read(written_content(bibtex.write, made, CONTEXT).decode()).papers

    assert (found.uid, found.title) == ("17", title)
    assert [one.person.name for one in stated(found.authors, ())] == ["Mia Zed", "Jan van der Berg"]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (
            "@misc{a, title={A}}\n@misc{b, title={B}\n@misc{c, title={C}}",
            (
                "x.bib, line 2 (b): This entry cannot be read: Unexpected block start: `@misc`. "
                "Was still looking for field-value closing `,` or `}`"
            ),
        ),
        (
            "@misc{a, title={A}}\n@misc{a, title={B}}",
            "x.bib, line 2 (a): Another entry has this key too. Give each its own.",
        ),
        (
            "@misc{a, title={A}, title={B}}",
            "x.bib, line 1 (a): A field occurs twice in this entry (title). Keep one of them.",
        ),
        ("@misc{a, author={B, C}}", "x.bib, line 1 (a), title: The title is missing."),
        (
            "@misc{a, title={A}, author={a, b, c, d}}",
            (
                "x.bib, line 1 (a), author: This is not a name of BibTeX: “a, b, c, d”. "
                "Write it as Family, Given."
            ),
        ),
        (
            "@misc{a, title={A}, author={x@example.org}}",
            "x.bib, line 1 (a), authors: The author's name is missing. An e-mail address alone is none.",
        ),
        (
            "@misc{a, title={" + "{" * 50 + "A" + "}" * 50 + "}}",
            "x.bib, line 1 (a), title: Braces are nested too deeply here.",
        ),
        ("no entry", "There is no entry of a paper in the file."),
    ],
)
def test_what_cannot_be_parsed_is_named(content: str, sentence: str) -> None:
    assert reported_problems(read, content)[0].strip() == sentence
