"""Programs for tests of the loader: small ones by hand, and one that is rich and odd."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

from exchange.problems import Where
from exchange.records import (
    AnnouncementRecord,
    AuthorRecord,
    AwardRecord,
    CommitteeRecord,
    ConferenceRecord,
    EditionRecord,
    GrantRecord,
    InstitutionRecord,
    MaterialRecord,
    MenuRecord,
    PageRecord,
    PaperRecord,
    PersonRecord,
    PersonRef,
    PresentationRecord,
    Program,
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
    """A published paper; authors are records, or names with an id made of the name."""
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
    """A program that brings its edition."""
    return Program(**{"conference": CONFERENCE, "edition": edition(), "papers": papers, **parts})


def crowd(count: int) -> Program:
    """A program of many papers, each with two authors, a topic, material and an appearance."""
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
    """Every field of every kind, with TeX, quotes, other scripts, a talk after midnight."""
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
            description="Welcome, $x^2$.",
            accent="#123456",
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
        pages=(PageRecord(slug="help", title="Help", body="# Call", status="published"),),
        sponsors=(
            SponsorRecord(
                slug="acme",
                name="ACME",
                tier="Gold",
                url="https://acme.test/",
                description="*Boom*",
                position=1,
                status="published",
            ),
        ),
        announcements=(
            AnnouncementRecord(
                uid="n1", title="Hi", text="There", published_at=START, pinned=True, status="published"
            ),
        ),
        topics=(
            TopicRecord(slug="cv", name="Vision", parent=None, position=1),
            TopicRecord(slug="cv-other", name="Other", parent="cv", position=2),
        ),
        rooms=(
            RoomRecord(
                slug="a", name="A", capacity=None, virtual=True, position=1, stream_url="https://a.test/"
            ),
            RoomRecord(slug="b", name="B", capacity=40, virtual=False, position=2, stream_url=""),
        ),
        papers=(odd_paper(ada, li),),
        awards=(
            AwardRecord(
                uid="best",
                name="Best",
                citation="For *it*",
                position=1,
                status="published",
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
    """The same person as others point at them."""
    return PersonRef(name=ref.name, uid=ref.uid)


def person(ref: PersonRef, **fields: Any) -> PersonRecord:
    names = ("given", "family", "native_name", "homepage", "biography", "affiliation")
    return PersonRecord(ref=ref, **{**dict.fromkeys(names, ""), "other_names": (), **fields})


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
        "kind": kind,
        "title": f"“{uid}”",
        "abstract": "",
        "start": START,
        "end": START + HOUR * 20,
        "room": None,
        "parent": None,
        "status": "published",
        "cancellation_reason": "",
        "stream_url": "",
        "recording_url": "https://r.test/",
        "chat_url": "",
        "language": "pt-BR",
        "rescheduled_at": START - HOUR,
        "roles": (RoleRecord(person=role, role="speaker", affiliation="London"),) if role else (),
    }
    return SessionRecord(uid=uid, **{**defaults, **fields})


def odd_talk(uid: str, **fields: Any) -> PresentationRecord:
    defaults: dict[str, Any] = {
        "kind": "oral",
        "paper": None,
        "title": "",
        "abstract": "",
        "session": None,
        "start": None,
        "end": None,
        "position": 1,
        "board": "",
        "room": None,
        "status": "published",
        "cancellation_reason": "",
        "recording_url": "",
        "rescheduled_at": START - HOUR,
        "speakers": (),
    }
    return PresentationRecord(uid=uid, **{**defaults, **fields})
