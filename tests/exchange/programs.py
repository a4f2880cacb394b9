"""Programs for tests of the loader: small ones, and one that has every field and unusual values."""

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
    records = tuple(one if isinstance(one, AuthorRecord) else author(one, _uid(one)) for one in authors)
    where = fields.pop("where", Where("program.json", f"papers ({uid})"))
    defaults = {"title": f"On {uid}", "abstract": "What was done.", "status": "published"}
    return PaperRecord(uid=uid, where=where, authors=records, **{**defaults, **fields})


def _uid(name: str) -> str:
    return name.lower().replace(" ", "-")


def session(uid: str, **fields: Any) -> SessionRecord:
    defaults = {"kind": "oral", "title": f"Session {uid}", "start": START, "end": START + HOUR}
    where = Where("program.json", f"sessions ({uid})")
    return SessionRecord(uid=uid, where=where, **{**defaults, "status": "published", **fields})


def talk(uid: str, **fields: Any) -> PresentationRecord:
    where = Where("program.json", f"presentations ({uid})")
    return PresentationRecord(uid=uid, where=where, **{"kind": "oral", "status": "published", **fields})


def program(*papers: PaperRecord, **parts: Any) -> Program:
    """Return a program that includes its edition."""
    return Program(**{"conference": CONFERENCE, "edition": edition(), "papers": papers, **parts})


def crowd(count: int) -> Program:
    """Return a program of many papers, each with two authors, a topic, material and a presentation."""
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


def odd() -> Program:
    """Return a program with every field of every kind; it has TeX, quotes, a talk after midnight."""
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
            committee=(CommitteeRecord(person=other(ada), role="Chair", affiliation="London"),),
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
        pages=(whole(PageRecord, slug="help", title="Help", body="# Call"),),
        sponsors=(
            whole(
                SponsorRecord,
                slug="acme",
                name="ACME",
                tier="Gold",
                url="https://acme.test/",
                description="*Boom*",
            ),
        ),
        announcements=(
            whole(
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
            whole(KeyDateRecord, uid="k1", title="Doors", day=START.date(), url="https://example.org/doors"),
            whole(KeyDateRecord, uid="k2", title="End", moment=START, position=2),
        ),
        topics=(
            whole(TopicRecord, slug="cv", name="Vision", color="#0b6b62"),
            whole(TopicRecord, slug="cv-other", name="Other", parent="cv", position=2),
        ),
        rooms=(
            whole(
                RoomRecord,
                slug="a",
                name="A",
                poster_boards="A1-A20\n\nB1-B20",
                virtual=True,
                stream_url="https://a.test/",
            ),
            whole(RoomRecord, slug="b", name="B", capacity=40, position=2),
        ),
        papers=(odd_paper(ada, li),),
        awards=(
            whole(
                AwardRecord,
                uid="best",
                name="Best",
                citation="For *it*",
                grants=(GrantRecord(paper="p-1.x", citation="Fine"), GrantRecord(person=other(ada))),
            ),
        ),
        sessions=(
            odd_session("w", "workshop", room="a"),
            odd_session("w.1", "invited_talk", parent="w", role=other(ada)),
        ),
        presentations=(
            odd_talk("x1", paper="p-1.x", session="w.1", room="b", board="#7", start=START + HOUR * 16),
            odd_talk(
                "x2", title="Own $x$", kind="talk", speakers=(SpeakerRecord(person=bo, affiliation="B"),)
            ),
        ),
    )


def other(ref: PersonRef) -> PersonRef:
    """Return a reference to the same person by name and uid only."""
    return PersonRef(name=ref.name, uid=ref.uid)


def whole[R: Record](record: type[R], **given: Any) -> R:
    """Return a published record at position 1, with explicitly empty values in all fields not given."""
    empty: dict[str, Any] = {"status": "published", "position": 1}
    for name, hint in HINTS[record].items():
        if DEFAULTS[record][name] is UNSTATED and name not in (*empty, *given):
            is_nullable, is_scalar = type(None) in get_args(hint), isinstance(hint, type)
            empty[name] = None if is_nullable else hint() if is_scalar else ()
    known = {name: value for name, value in empty.items() if name in HINTS[record]}
    return record(**{**known, **given})


def person(ref: PersonRef, **fields: Any) -> PersonRecord:
    return whole(PersonRecord, ref=ref, **fields)


def odd_paper(ada: PersonRef, li: PersonRef) -> PaperRecord:
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
            AuthorRecord(person=other(li), affiliations=("北京; 大学", "MIT"), institutions=("mit",)),
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


def odd_session(uid: str, kind: str, role: PersonRef | None = None, **fields: Any) -> SessionRecord:
    defaults: dict[str, Any] = {
        "title": f"“{uid}”",
        "start": START,
        "end": START + HOUR * 20,
        "recording_url": "https://r.test/",
        "language": "pt-BR",
        "rescheduled_at": START - HOUR,
        "roles": (RoleRecord(person=role, role="speaker", affiliation="London"),) if role else (),
    }
    return whole(SessionRecord, uid=uid, kind=kind, **{**defaults, **fields})


def odd_talk(uid: str, **fields: Any) -> PresentationRecord:
    return whole(PresentationRecord, uid=uid, **{"kind": "oral", "rescheduled_at": START - HOUR, **fields})
