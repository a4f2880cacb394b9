"""Programs for tests of the loader: small ones, and one with a value in every field."""

from datetime import UTC, date, datetime, timedelta
from typing import Any, get_args

from exchange.formats.program_json import DEFAULTS, HINTS
from exchange.problems import Where
from exchange.records import (
    UNSTATED,
    AnnouncementRecord,
    AuthorRecord,
    AwardRecord,
    CommitteeRecord,
    ConferenceRecord,
    EditionRecord,
    GrantRecord,
    InstitutionRecord,
    KeyDateRecord,
    MaterialRecord,
    MenuRecord,
    PageRecord,
    PaperRecord,
    PersonRecord,
    PersonRef,
    PresentationRecord,
    Program,
    Record,
    RoleRecord,
    RoomRecord,
    SessionRecord,
    SpeakerRecord,
    SponsorRecord,
    TopicRecord,
)

START = datetime(2021, 4, 6, 15, 0, tzinfo=UTC)
HOUR = timedelta(hours=1)
PROCEEDINGS: dict[str, Any] = {
    "proceedings_title": "Proceedings of the Fourth Meeting",
    "proceedings_series": "Notes & Letters",
    "proceedings_volume": "139",
    "proceedings_editors": ("Mia Zed", "Anna van der Berg"),
    "publisher": "Old Press",
    "publisher_place": "Oslo",
    "isbn": "978-3-16-148410-0",
    "issn": "2640-3498",
}
CONFERENCE = ConferenceRecord(slug="mlsys", name="MLSys")


def edition(**fields: Any) -> EditionRecord:
    defaults: dict[str, Any] = {
        "conference": "mlsys",
        "year": 2021,
        "name": "MLSys 2021",
        "start_date": date(2021, 4, 5),
        "end_date": date(2021, 4, 9),
        "timezone": "America/Los_Angeles",
        "public_from": datetime(2020, 1, 1, tzinfo=UTC),
        "papers_public_from": datetime(2020, 1, 1, tzinfo=UTC),
        "schedule_public_from": datetime(2020, 1, 1, tzinfo=UTC),
    }
    return EditionRecord(**{"slug": "2021", **defaults, **fields})


def author(name: str, uid: str = "", **fields: Any) -> AuthorRecord:
    ref = {key: fields.pop(key) for key in ("orcid", "ids") if key in fields}
    return AuthorRecord(person=PersonRef(name=name, uid=uid, **ref), **fields)


def paper(uid: str, *authors: str | AuthorRecord, **fields: Any) -> PaperRecord:
    """Return a published paper; authors are records, or names from which their ids are made."""
    records = tuple(
        item if isinstance(item, AuthorRecord) else author(item, uid_from_name(item)) for item in authors
    )
    location = fields.pop("where", Where("program.json", f"papers ({uid})"))
    defaults = {"title": f"On {uid}", "abstract": "What was done.", "status": "published"}
    return PaperRecord(uid=uid, where=location, authors=records, **{**defaults, **fields})


def uid_from_name(name: str) -> str:
    return name.lower().replace(" ", "-")


def session(uid: str, **fields: Any) -> SessionRecord:
    defaults = {"kind": "oral", "title": f"Session {uid}", "start": START, "end": START + HOUR}
    location = Where("program.json", f"sessions ({uid})")
    return SessionRecord(uid=uid, where=location, **{**defaults, "status": "published", **fields})


def talk(uid: str, **fields: Any) -> PresentationRecord:
    location = Where("program.json", f"presentations ({uid})")
    return PresentationRecord(uid=uid, where=location, **{"kind": "oral", "status": "published", **fields})


def program(*papers: PaperRecord, **parts: Any) -> Program:
    """Return a program that includes its edition."""
    return Program(**{"conference": CONFERENCE, "edition": edition(), "papers": papers, **parts})


def program_with_papers(count: int) -> Program:
    """Return a program of so many papers, each with two authors, a topic, material and a presentation."""
    papers = tuple(
        paper(
            f"p{n}",
            author(f"Ann Author{n}", ids=(("src", str(n)),), affiliations=("MIT",), institutions=("mit",)),
            author(f"Bob Writer{n % 7}", ids=(("src", f"b{n % 7}"),)),
            topic="systems",
            keywords=("speed",),
            materials=(MaterialRecord(kind="pdf", url=f"https://example.org/{n}.pdf"),),
        )
        for n in range(count)
    )
    return program(
        *papers,
        topics=(TopicRecord(slug="systems", name="Systems"),),
        institutions=(InstitutionRecord(slug="mit", name="MIT"),),
        sessions=(session("s1", roles=(RoleRecord(person=PersonRef(name="Cy", uid="cy"), role="chair"),)),),
        presentations=tuple(talk(f"t{n}", paper=f"p{n}", session="s1") for n in range(count)),
    )


def complete_program() -> Program:
    """Return a program with a value in every field; texts have TeX and quotes, a talk is after midnight."""
    ada = PersonRef(
        name="Ada Lovelace", uid="ada", orcid="0000-0002-1825-0097", ids=(("dblp", "l/Ada"), ("x", "7"))
    )
    li = PersonRef(name="李 雷", uid="li")
    bo = PersonRef(name='Bo "B." O\'Neil', uid="bo")
    return Program(
        conference=ConferenceRecord(
            slug="mlsys",
            name="MLSys",
            full_name="Machine Learning & Systems",
            description="*All* of it.",
            website="https://example.org/",
        ),
        edition=edition(
            second_timezone="Asia/Kathmandu",
            venue="Hall",
            city="San José",
            country="USA",
            mode="hybrid",
            day_start_hour=5,
            registration_url="https://example.org/register",
            venue_address="1 Market St\nSan José",
            map_url="https://example.org/map",
            description="Welcome, $x^2$.",
            accent="#123456",
            hero_focus="top-left",
            home_sections=("news", "program"),
            sponsor_tiers=("Gold", "Silver"),
            committee_offices=("Program Chair",),
            **PROCEEDINGS,
            license="CC-BY-4.0",
            data_license="CC0-1.0",
            menu=(
                MenuRecord(
                    label="Help",
                    kind="page",
                    target="help",
                    children=(MenuRecord(label="Web", kind="url", target="https://example.org/"),),
                ),
                MenuRecord(label="Papers", kind="section", target="papers"),
            ),
            committee=(CommitteeRecord(person=short_ref(ada), role="Chair", affiliation="London"),),
        ),
        institutions=(
            InstitutionRecord(
                slug="mit", name="MIT", aliases=("M.I.T.",), ror="https://ror.org/042nb2s44", country="USA"
            ),
        ),
        people=(
            person(li, given="雷", family="李", native_name="李雷", affiliation="北京"),
            person(ada, given="Ada", family="Lovelace", other_names=("A. King", "Ada King")),
            person(
                bo, given="Bo", family="O'Neil", biography='He said:\n\n"$5"', homepage="https://bo.test/"
            ),
        ),
        pages=(complete_record(PageRecord, slug="help", title="Help", body="# Call"),),
        sponsors=(
            complete_record(
                SponsorRecord,
                slug="acme",
                name="ACME",
                tier="Gold",
                url="https://acme.test/",
                description="*Boom*",
            ),
        ),
        announcements=(
            complete_record(
                AnnouncementRecord,
                uid="n1",
                title="Hi",
                text="There",
                published_at=START,
                pinned=True,
                banner_until=START,
                session_uid="s1",
            ),
        ),
        key_dates=(
            complete_record(
                KeyDateRecord, uid="k1", title="Doors", day=START.date(), url="https://example.org/doors"
            ),
            complete_record(KeyDateRecord, uid="k2", title="End", moment=START, position=2),
        ),
        topics=(
            complete_record(TopicRecord, slug="cv", name="Vision", color="#0b6b62"),
            complete_record(TopicRecord, slug="cv-other", name="Other", parent="cv", position=2),
        ),
        rooms=(
            complete_record(
                RoomRecord,
                slug="a",
                name="A",
                poster_boards="A1-A20\n\nB1-B20",
                virtual=True,
                stream_url="https://a.test/",
            ),
            complete_record(RoomRecord, slug="b", name="B", capacity=40, position=2),
        ),
        papers=(complete_paper(ada, li),),
        awards=(
            complete_record(
                AwardRecord,
                uid="best",
                name="Best",
                citation="For *it*",
                grants=(GrantRecord(paper="p-1.x", citation="Fine"), GrantRecord(person=short_ref(ada))),
            ),
        ),
        sessions=(
            complete_session("w", "workshop", room="a"),
            complete_session("w.1", "invited_talk", parent="w", role=short_ref(ada)),
        ),
        presentations=(
            complete_talk("x1", paper="p-1.x", session="w.1", room="b", board="#7", start=START + HOUR * 16),
            complete_talk(
                "x2", title="Own $x$", kind="talk", speakers=(SpeakerRecord(person=bo, affiliation="B"),)
            ),
        ),
    )


def short_ref(ref: PersonRef) -> PersonRef:
    """Return a reference to the same person by name and uid only."""
    return PersonRef(name=ref.name, uid=ref.uid)


def complete_record[R: Record](record: type[R], **stated: Any) -> R:
    """Return a published record at position 1, with explicit empty values in unstated fields."""
    empty: dict[str, Any] = {"status": "published", "position": 1}
    for name, hint in HINTS[record].items():
        if DEFAULTS[record][name] is UNSTATED and name not in (*empty, *stated):
            is_nullable, is_scalar = type(None) in get_args(hint), isinstance(hint, type)
            empty[name] = None if is_nullable else hint() if is_scalar else ()
    defaults = {name: value for name, value in empty.items() if name in HINTS[record]}
    return record(**{**defaults, **stated})


def person(ref: PersonRef, **fields: Any) -> PersonRecord:
    return complete_record(PersonRecord, ref=ref, **fields)


def complete_paper(ada: PersonRef, li: PersonRef) -> PaperRecord:
    return PaperRecord(
        uid="p-1.x",
        title="$a_1+b_2$ costs $5",
        abstract='Line\n\nline; "q" \\emph{x}',
        lay_summary="Short.",
        track="Position",
        topic="cv-other",
        keywords=("a; b", "c"),
        decision="Accept (oral)",
        status="published",
        doi="10.1/x",
        pages="1-9",
        license="CC-BY-SA-4.0",
        authors=(
            AuthorRecord(person=short_ref(li), affiliations=("北京; 大学", "MIT"), institutions=("mit",)),
            AuthorRecord(
                person=PersonRef(name="A. Lovelace", uid=ada.uid), corresponding=True, presenting=True
            ),
        ),
        materials=(
            MaterialRecord(kind="pdf", url="https://example.org/p.pdf"),
            MaterialRecord(
                kind="code",
                url="https://example.org/c?a=1&b=2",
                label="Code, v2",
                license="MIT OR Apache-2.0",
            ),
        ),
    )


def complete_session(uid: str, kind: str, role: PersonRef | None = None, **fields: Any) -> SessionRecord:
    defaults: dict[str, Any] = {
        "title": f"“{uid}”",
        "start": START,
        "end": START + HOUR * 20,
        "recording_url": "https://r.test/",
        "language": "pt-BR",
        "rescheduled_at": START - HOUR,
        "roles": (RoleRecord(person=role, role="speaker", affiliation="London"),) if role else (),
    }
    return complete_record(SessionRecord, uid=uid, kind=kind, **{**defaults, **fields})


def complete_talk(uid: str, **fields: Any) -> PresentationRecord:
    return complete_record(
        PresentationRecord, uid=uid, **{"kind": "oral", "rescheduled_at": START - HOUR, **fields}
    )
