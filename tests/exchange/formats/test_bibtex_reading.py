"""Tests of the BibTeX reader: keys, names, TeX, and reports of entries that do not parse."""

import pytest

from exchange.files import Context, Source
from exchange.formats import bibtex
from exchange.problems import ProgramError
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
    assert [author.person.name for author in stated(first.authors, ())] == [
        "Jan van der Berg", "Łukasz Müller Jr.", "The ATLAS Team",
    ]  # fmt: skip
    assert (first.keywords, first.pages, first.abstract) == (
        ("chaos", "stars"),
        "1-9",
        "Costs $5 — “really”.",
    )
    assert first.materials == (MaterialRecord(kind="pdf", url="https://example.org/a_b.pdf"),)
    assert (second.uid, second.title) == ("second", "In parentheses")


def test_skipped_volume_and_incomplete_author_list_are_noted() -> None:
    assert [(str(note.where), note.message) for note in read(FILE).notes] == [
        ("x.bib, line 4 (book21)", "Left out because it is a whole volume."),
        ("x.bib, line 5 (zed:21)", "The list of authors ends in “and others”: it is not complete."),
    ]


@pytest.mark.parametrize(
    ("tex", "text"),
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
def test_tex_is_decoded(tex: str, text: str) -> None:
    assert decode_tex(tex) == text


def test_names_and_keywords_are_read_as_plain_text() -> None:
    (read_paper,) = read(
        r"@misc{a, title={A}, author={Zed, \emph{Mia} trans*}, keywords={\_\_init\_\_, a*b*}}"
    ).papers

    assert [author.person.name for author in stated(read_paper.authors, ())] == ["Mia trans* Zed"]
    assert read_paper.keywords == ("__init__", "a*b*")


def test_concatenated_parts_of_a_value_are_joined() -> None:
    (read_paper,) = read(
        '@string{gpu = {GPU}}\n@string{gpus = gpu # "s"}\n'
        '@misc{a, title = "On " # GPUs # { and {#}} # " more", abstract = "a # b", keywords = {x} # ", y"}'
    ).papers

    assert (read_paper.title, read_paper.abstract, read_paper.keywords) == (
        "On GPUs and # more",
        "a # b",
        ("x", "y"),
    )


@pytest.mark.parametrize("command", ["footnote", "href", "sqrt", "verb"])
def test_title_that_ends_with_an_incomplete_command_is_not_decoded(command: str) -> None:
    read_program = read(rf"@misc{{a, title={{Of \{command}}}}}")

    assert [paper.title for paper in read_program.papers] == [rf"Of \{command}"]
    assert [(str(note.where), note.message) for note in read_program.notes] == [
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
def test_trap_15_title_round_trips(title: str) -> None:
    input_program = program(paper("17", author("Mia Zed"), author("Jan van der Berg"), title=title))
    (read_paper,) = read(written_content(bibtex.write, input_program, CONTEXT).decode()).papers

    assert (read_paper.uid, read_paper.title) == ("17", title)
    assert [author.person.name for author in stated(read_paper.authors, ())] == [
        "Mia Zed",
        "Jan van der Berg",
    ]


@pytest.mark.parametrize(
    ("content", "message"),
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
            "@misc{a, title={A}, Title={B}}",
            "x.bib, line 1 (a): A field occurs twice in this entry (title). Keep one of them.",
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
def test_unreadable_entry_is_reported(content: str, message: str) -> None:
    assert reported_problems(read, content)[0].strip() == message


def test_abbreviations_that_repeat_each_other_are_refused_while_they_grow() -> None:
    strings = [f"@string{{a{n}={' # '.join([f'a{n - 1}'] * 10)}}}" for n in range(1, 8)]
    text = "\n".join(['@string{a0="lol"}', *strings, "@inproceedings{k,title=a7,author={A B}}"])
    with pytest.raises(ProgramError) as error:
        read(text)

    assert str(error.value.problems[0]) == (
        "x.bib, line 6 (a5), @string: The text has more than 200000 characters, with the abbreviations "
        "(@string) in it. Shorten it."
    )
