"""The fields that a column of a spreadsheet can fill: names in mappings, labels, and usual headings."""

import re
from collections import defaultdict
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

# `#` is part of names, since it means "number of". So are letters of all alphabets.
NOT_IN_NAMES = re.compile(r"[^\w#]+|_")
# What templates write behind the names of columns.
REMARK = re.compile(r"\(\s*(?:optional|required)\s*\)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Field:
    """One field that a column can fill. `names`: headings that mean it.

    `is_repeated`: several columns may fill it, in their order, such as those of a second author. `holds`:
    one of `guess.CELL_TESTS` that half of its cells pass; empty: any cells.
    """

    name: str
    label: str | Promise
    names: str
    is_repeated: bool = False
    holds: str = ""


MATERIAL_GROUP = _("Material")
# If a heading matches several fields, the first free one that accepts the samples is used.
GROUPS: dict[str | Promise, tuple[Field, ...]] = {
    _("Paper"): (
        Field(
            "uid",
            _("Paper ID"),
            "#, id, uid, no, nr, number, pid, paper, paper id, paper #, paper no, paper number, submission, "
            "submission #, submission id, submission number, submission no, contribution id, forum",
            holds="key",
        ),
        Field(
            "title",
            pgettext_lazy("field of a paper", "Title"),
            "title, paper title, submission title, title of paper, name of paper, talk title, poster title",
        ),
        Field("abstract", _("Abstract"), "abstract, paper abstract, summary, description"),
        Field(
            "lay_summary",
            _("TL;DR or lay summary"),
            "lay summary, tl dr, tldr, plain summary, teaser, one sentence summary",
        ),
        Field(
            "decision",
            _("Decision"),
            "final decision, decision, paper decision, accept reject, acceptance, outcome, result, "
            "notification, paper status, status, recommendation, venue",
            holds="label",
        ),
        Field("status", _("Status (draft, published, withdrawn)"), "status, paper status", holds="status"),
        Field(
            "deleted",
            _("Deleted (these rows are left out)"),
            "deleted, is deleted, deleted paper",
            holds="mark",
        ),
        Field(
            "track",
            _("Track"),
            "track, tracks, track name, submission type, paper type, contribution type, type, category",
            holds="short",
        ),
        Field(
            "topic",
            _("Topic"),
            "topic, topics, area, subject area, primary subject area, primary area, primary topic, "
            "main topic, subject areas, research area",
            holds="text",
        ),
        Field(
            "more_topics",
            _("More topics (as keywords)"),
            "secondary subject areas, secondary areas, secondary topics, other topics, secondary area",
            is_repeated=True,
            holds="text",
        ),
        Field(
            "keywords",
            _("Keywords"),
            "keywords, keyword, key words, author keywords, tags, index terms, keywords or topics",
            is_repeated=True,
            holds="text",
        ),
        Field("doi", _("DOI"), "doi, digital object identifier", holds="doi"),
        Field("pages", _("Pages in the proceedings"), "pages, page range, page numbers", holds="pages"),
        Field("license", _("License"), "license, licence"),
        Field("award", _("Award"), "award, award name, prize, distinction", holds="text"),
    ),
    _("Authors"): (
        Field(
            "authors",
            _("Authors"),
            "authors, author list, author s, all authors, author names and affiliations, author",
            is_repeated=True,
            holds="text",
        ),
        Field(
            "author_names",
            _("Names of the authors, if another column has more"),
            "author names, names of authors",
            holds="text",
        ),
        Field(
            "first",
            _("Given name"),
            "first name, first, given name, given, given names, firstname, forename, author first name, "
            "author given name",
            is_repeated=True,
            holds="part",
        ),
        Field(
            "last",
            _("Family name"),
            "last name, last, family name, family, surname, lastname, author last name, author family name",
            is_repeated=True,
            holds="part",
        ),
        Field(
            "name",
            _("Author (one row for each author)"),
            "author, author name, full name, name, person",
            holds="text",
        ),
        Field(
            "affiliation",
            _("Affiliations, in the order of the authors"),
            "affiliation, affiliations, organization, organisation, institution, institute, "
            "university, company, author affiliation, author affiliations, author affil, affil, institutions",
            is_repeated=True,
            holds="text",
        ),
        Field(
            "email",
            _("E-mail (for the chairs only)"),
            "email, e mail, emails, e mails, email address, e mail address, email addresses, author email, "
            "author emails, author e mail, mail",
            is_repeated=True,
            holds="email",
        ),
        Field("country", _("Country"), "country, author country", is_repeated=True, holds="text"),
        Field(
            "orcid",
            _("ORCID"),
            "orcid, orcid id, orcid identifier, author orcid",
            is_repeated=True,
            holds="orcid",
        ),
        Field(
            "author_ids",
            _("OpenReview profiles of the authors"),
            "authorids, author ids, openreview ids, openreview profiles, openreview id",
            holds="text",
        ),
        Field(
            "person_key",
            _("Number of the person in the file"),
            "person #, person id, person no, person number, author id, user id",
            holds="key",
        ),
        Field(
            "corresponding",
            _("Corresponding author"),
            "corresponding, corresponding author, contact author, contact, is contact",
            holds="mark",
        ),
        Field(
            "presenter",
            _("Presenting author"),
            "presenter, presenters, presenting author, presented by, presenter name, speaker, speakers",
            holds="mark",
        ),
        Field(
            "position",
            _("Position of the author"),
            "author position, author order, order, position, author #, author number, author no",
            holds="number",
        ),
    ),
    _("Program"): (
        Field(
            "kind",
            _("Kind of presentation"),
            "kind, accept as, accepted as, presentation type, presentation kind, presentation format, "
            "format, presentation, acceptance type, session type",
            holds="label",
        ),
        Field(
            "session",
            _("Session"),
            "session, session name, session title, in session, assigned session, event name, event title, "
            "name",
            holds="title",
        ),
        Field(
            "session_kind",
            _("Kind of session"),
            "session kind, kind of session, session type, event type",
            holds="label",
        ),
        Field(
            "chair",
            _("Session chair"),
            "session chair, session chairs, chair, chairs, chaired by, role session chairs",
            holds="text",
        ),
        Field(
            "moderator",
            _("Moderator of the session"),
            "moderator, moderators, moderated by, session moderator, role moderators",
            holds="text",
        ),
        Field(
            "room",
            _("Room"),
            "room, location, room name, hall, place, venue room, session room, room location, venue",
            holds="room",
        ),
        Field(
            "board",
            _("Poster board"),
            "board, poster #, poster no, poster number, poster board, board #, board no, board number, "
            "poster id, poster position, poster location, poster",
            holds="board",
        ),
    ),
    _("Times"): (
        Field("date", _("Date"), "date, day, session date, presentation date, session day", holds="date"),
        Field(
            "start",
            pgettext_lazy("moment", "Start"),
            "start, start time, starts, begin, begins, from, time, starttime, presentation time, "
            "talk start, start date, start date time, presentation start, slot, time slot, timeslot, "
            "time start, event start",
            holds="time",
        ),
        Field(
            "end",
            pgettext_lazy("moment", "End"),
            "end, end time, ends, to, until, endtime, finish, talk end, end date time, presentation end, "
            "time end, event end",
            holds="time",
        ),
        Field(
            "duration",
            _("Duration in minutes"),
            "duration, minutes, length, duration min, talk length",
            holds="minutes",
        ),
        Field(
            "session_start",
            _("Start of the session"),
            "session start, session start time, session begin, session begins, session time",
            holds="time",
        ),
        Field(
            "session_end",
            _("End of the session"),
            "session end, session end time, session ends",
            holds="time",
        ),
    ),
    MATERIAL_GROUP: (
        Field(
            "pdf",
            _("PDF"),
            "pdf, pdf url, pdf link, paper url, paper link, paper pdf, file url, camera ready url",
            holds="url",
        ),
        Field(
            "poster",
            _("Poster (link)"),
            "poster url, poster pdf, poster link, poster file, poster",
            holds="url",
        ),
        Field("slides", _("Slides"), "slides, slides url, slides link, slide deck", holds="url"),
        Field(
            "video",
            _("Video"),
            "video, video url, video link, recording, recording url, youtube",
            holds="url",
        ),
        Field(
            "code",
            _("Code"),
            "code, code url, code link, github, repository, github url, source code",
            holds="url",
        ),
        Field("data", _("Data"), "data, data url, dataset, dataset url, data link", holds="url"),
        Field(
            "review",
            _("Reviews"),
            "reviews, review url, openreview, openreview url, openreview link",
            holds="url",
        ),
        Field(
            "project",
            _("Project page"),
            "project, project page, website, web site, url, link, homepage",
            holds="url",
        ),
        Field(
            "other",
            _("Other material"),
            "supplementary, supplementary material, supplement, supplementary url, appendix",
            holds="url",
        ),
    ),
}
FIELDS = {field.name: field for fields in GROUPS.values() for field in fields}
MATERIAL_FIELDS = tuple(field.name for field in GROUPS[MATERIAL_GROUP])


def fold_heading(name: str) -> str:
    """Return a heading without case, blanks, punctuation except `#`, and a remark such as "(optional)"."""
    return NOT_IN_NAMES.sub("", REMARK.sub("", name).casefold())


def _fields_by_heading() -> dict[str, tuple[Field, ...]]:
    fields_by_heading: dict[str, list[Field]] = defaultdict(list)
    for field in FIELDS.values():
        for heading in field.names.split(", "):
            fields_by_heading[fold_heading(heading)].append(field)
    return {heading: tuple(fields) for heading, fields in fields_by_heading.items()}


BY_HEADING = _fields_by_heading()
# The words of each known heading, by the folded heading.
NAMES = {fold_heading(name): name for field in FIELDS.values() for name in field.names.split(", ")}
# Headings of decisions. Of several columns, the one whose heading is first here has the decisions.
DECISION_HEADINGS = tuple(map(fold_heading, FIELDS["decision"].names.split(", ")))
