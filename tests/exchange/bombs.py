"""Small files that expand when they are read, each with the formats that read it."""

import io
import zipfile
from collections.abc import Iterator
from zipfile import ZIP_BZIP2, ZIP_DEFLATED

MEGABYTE = 1_000_000
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
DOCUMENT = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
HEADINGS = "<row><c t='inlineStr'><is><t>title</t></is></c><c t='inlineStr'><is><t>authors</t></is></c></row>"
SHORT_ROW = "<row><c t='inlineStr'><is><t>ab</t></is></c></row>"
EVENT_START = (
    "<schedule><conference/><day date='2021-01-01'><room name='r'><event id='1' guid='1'><title>a</title>"
    "<date>2021-01-01T10:00:00+00:00</date><start>10:00</start><duration>00:30</duration>"
)


def zip_bytes(members: list[tuple[str, str | bytes]], method: int = ZIP_DEFLATED) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", method, compresslevel=9) as archive:
        for name, text in members:
            archive.writestr(name, text)
    return content.getvalue()


def workbook_bytes(
    rows: str = HEADINGS,
    *,
    strings: str = "",
    styles: str = "",
    after: str = "",
    sheets: int = 1,
    index: str = "",
    sheet_attributes: str = "",
) -> bytes:
    """Return a workbook whose sheets have these rows as XML. `after` follows them, `index` the sheets."""
    numbers = range(1, sheets + 1)
    names = "".join(
        f"<sheet name='S{number}' sheetId='{number}' r:id='r{number}' {sheet_attributes}/>"
        for number in numbers
    )
    relations = "".join(
        f"<Relationship Id='r{number}' Type='{DOCUMENT}/worksheet' Target='worksheets/{number}.xml'/>"
        for number in numbers
    )
    relations += f"<Relationship Id='s' Type='{DOCUMENT}/sharedStrings' Target='strings.xml'/>"
    relations += f"<Relationship Id='t' Type='{DOCUMENT}/styles' Target='styles.xml'/>"
    sheet = f"<worksheet xmlns='{MAIN}'><sheetData>{rows}</sheetData>{after}</worksheet>"
    return zip_bytes(
        [
            ("xl/workbook.xml", f"<workbook xmlns:r='{DOCUMENT}'><sheets>{names}</sheets>{index}</workbook>"),
            (
                "xl/_rels/workbook.xml.rels",
                f"<Relationships xmlns='{PACKAGE}/relationships'>{relations}</Relationships>",
            ),
            ("xl/strings.xml", f"<sst xmlns='{MAIN}'>{strings}</sst>"),
            ("xl/styles.xml", f"<styleSheet xmlns='{MAIN}'>{styles}</styleSheet>"),
            *((f"xl/worksheets/{number}.xml", sheet) for number in numbers),
        ]
    )


def program(name: str, row: str, count: int) -> bytes:
    """Return JSON of this site with a list of equal rows, in which `%d` is the number."""
    rows = ",".join(row % number if "%d" in row else row for number in range(count))
    return f'{{"format":"plenary-program","version":1,"{name}":[{rows}]}}'.encode()


def workbooks() -> Iterator[tuple[str, bytes]]:
    yield "short rows", workbook_bytes(HEADINGS + SHORT_ROW * 300_000)
    yield "empty rows", workbook_bytes(HEADINGS + "<row/>" * 8_000_000)
    yield (
        "wide rows",
        workbook_bytes(HEADINGS + "".join(f"<row><c r='GR{n}'><v>1</v></c></row>" for n in range(2, 90_000))),
    )
    yield "texts", workbook_bytes(strings="<si><t>a</t></si>" * 2_000_000)
    text = f"<si><t>{'a' * 30_000}</t></si>"
    yield (
        "one text",
        workbook_bytes(HEADINGS + "<row><c t='s'><v>0</v></c></row>" * 100_000, strings=text),
    )
    yield "styles", workbook_bytes(styles=f"<cellXfs>{'<xf numFmtId="0"/>' * 2_000_000}</cellXfs>")
    yield "elements", workbook_bytes(after="<a/>" * 10_000_000)
    yield "names", workbook_bytes(after="".join(f"<a{number}/>" for number in range(300_000)))
    yield "attributes", workbook_bytes(after="".join(f"<a b{n}=''/>" for n in range(300_000)))
    yield "depth", workbook_bytes(after="<a>" * 5_000_000)
    yield "tag", workbook_bytes(after=f"<a b='{'x' * 30 * MEGABYTE}'/>")
    yield "merged", workbook_bytes(after="<mergeCell ref='A1:A100'/>" * 1_000_000)
    long_cell = f"<row><c t='inlineStr'><is><t>{'x' * 200 * MEGABYTE}</t></is></c></row>"
    yield "cell", workbook_bytes(HEADINGS + long_cell)
    yield "fonts", workbook_bytes(f"{HEADINGS}<row><c>{'<r><t>x</t></r>' * 3_000_000}</c></row>")
    yield "sheets", workbook_bytes(HEADINGS + SHORT_ROW * 50_000, sheets=40)
    yield "faults", workbook_bytes(f"{HEADINGS}{f'<row>{"<c><f>1</f></c>" * 200}</row>' * 10_000}")
    yield "index", workbook_bytes(index="<definedName>a</definedName>" * 4_000_000)


def archives() -> Iterator[tuple[str, bytes]]:
    yield "zeros", zip_bytes([("papers.csv", bytes(199 * MEGABYTE))])
    yield "rows", zip_bytes([("papers.csv", "UID,title\n" + "1,a\n" * 20_000_000)])
    stated = zip_bytes([("papers.csv", bytes(1_000 * MEGABYTE))], ZIP_BZIP2)
    # Only the first kilobyte is promised, but all is unpacked at once.
    yield "other method", stated.replace((1_000 * MEGABYTE).to_bytes(4, "little"), bytes((0, 4, 0, 0)))
    book = workbook_bytes(HEADINGS + SHORT_ROW * 50_000)
    yield "workbooks", zip_bytes([(f"p{number}.xlsx", book) for number in range(30)])
    inner = zip_bytes([("papers.csv", bytes(50 * MEGABYTE))])
    yield "archives", zip_bytes([(f"p{number}.zip", inner) for number in range(30)])
    json_lists, yaml_lists = f"[{'[],' * 300_000}1]", "- [a]\n" * 150_000
    table = "UID,title,authors,abstract,keywords\n" + "1,a,b,c,d\n" * 100_000
    for name, text in (("json", json_lists), ("yml", yaml_lists), ("csv", table)):
        yield f"many {name}", zip_bytes([(f"p{number}.{name}", text) for number in range(30)])


def bombs() -> Iterator[tuple[str, str, bytes]]:
    """Yield file name, format and content."""
    for name, content in workbooks():
        yield f"{name}.xlsx", "spreadsheet", content
    for name, content in archives():
        yield f"{name}.zip", "miniconf" if "workbook" not in name else "spreadsheet", content
    yield "papers.zip", "tables", zip_bytes([("papers.csv", "uid,title\n" + "1,a\n" * 20_000_000)])
    yield "lists.json", "openreview", b'{"notes":[' + b"[]," * 500_000 + b"1]}"
    yield "objects.json", "orals_posters", b'{"results":[' + b"{}," * 500_000 + b"{}]}"
    yield "papers.json", "program_json", program("papers", "{}", 500_000)
    yield "authors.json", "program_json", program("papers", '{"uid":"%d","authors":[{},{},{}]}', 60_000)
    yield "misspelled.json", "program_json", program("people", '{"nmae":"%d"}', 100_000)
    yield (
        "names.json",
        "program_json",
        f"{{{''.join(f'"{n}":0,' for n in range(200_000))}".encode() + (b'"z":0,"z":0}'),
    )
    yield "flow.yml", "miniconf", b"[" + b"[]," * 500_000 + b"]"
    yield "objects.yml", "miniconf", b"- a: b\n" * 210_000
    text = b"a: &a " + b"x" * 100_000 + b"\nb:\n" + b"- *a\n" * 100_000
    yield "repeated text.yml", "miniconf", text
    inherited = b"a: &a {" + b",".join(b"k%d: 1" % number for number in range(900)) + b"}\n"
    yield "inherited.yml", "miniconf", inherited + b"b:\n" + b" - {<<: *a}\n" * 2_000
    yield "elements.xml", "frab_xml", b"<schedule>" + b"<a b=''/>" * 170_000 + b"</schedule>"
    persons = "<person/>" * 160_000
    yield (
        "persons.xml",
        "frab_xml",
        f"{EVENT_START}<persons>{persons}</persons></event></room></day></schedule>".encode(),
    )
    yield "rows.csv", "spreadsheet", b"title\n" + b"a\n" * 750_000
    yield "authors.csv", "tables", b"paper,name\n" + b"".join(b"%d,a\n" % n for n in range(160_000))
    yield "many.csv", "miniconf", b"UID,title,authors,abstract,keywords\n" + b"1,a,b,c,d\n" * 150_000
    yield "entries.bib", "bibtex", b"".join(b"@misc{a%d,title={b}}\n" % n for n in range(62_000))
