"""What the desk says of papers."""

from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from conference.publishing import PAPERS, PUBLISHED_ROWS, PublishedRows
from editorial.desk import ADD_LINKS, CHECKS, ROW_COUNTS, AddLink, Check, RowCount
from papers.models import Award, Paper

ROW_COUNTS += [
    RowCount(Paper, ngettext_lazy("paper", "papers", "count"), place=10),
    RowCount(
        Paper,
        ngettext_lazy("paper in draft", "papers in draft", "count"),
        lambda rows: rows.filter(status="draft"),
        (("status__exact", "draft"),),
        place=11,
    ),
]

CHECKS += [
    Check(
        Paper,
        ngettext_lazy("paper without authors", "papers without authors", "count"),
        lambda rows: rows.without_authors(),
        name="without_authors",
        title=_("Without authors"),
        place=10,
    ),
    Check(
        Paper,
        ngettext_lazy("paper without abstract", "papers without abstract", "count"),
        lambda rows: rows.without_abstract(),
        name="without_abstract",
        title=_("Without abstract"),
        place=11,
    ),
    Check(
        Paper,
        ngettext_lazy("paper without PDF", "papers without PDF", "count"),
        lambda rows: rows.without_pdf(),
        name="without_pdf",
        title=_("Without PDF"),
        place=12,
    ),
    Check(
        Paper,
        ngettext_lazy("paper in no session", "papers in no session", "count"),
        lambda rows: rows.without_session(),
        name="without_session",
        title=_("In no session"),
        place=13,
    ),
    Check(
        Paper,
        ngettext_lazy("title or abstract to look at", "titles and abstracts to look at", "count"),
        lambda rows: rows.worth_a_look(),
        name="worth_a_look",
        title=_("Title or abstract to look at"),
        place=14,
    ),
]

PUBLISHED_ROWS += [
    PublishedRows(Paper, PAPERS, ngettext_lazy("paper", "papers", "count"), place=10),
    PublishedRows(Award, PAPERS, ngettext_lazy("award", "awards", "count"), place=11),
]

ADD_LINKS += [
    AddLink(Paper, _("Add a paper"), "admin:papers_paper_add"),
    AddLink(Award, _("Add an award"), "admin:papers_award_add"),
]
