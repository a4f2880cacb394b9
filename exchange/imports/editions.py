"""Which edition an import is for: an existing one, or a new one that the file describes."""

from django.utils.translation import gettext

from conference.models import Conference, Edition
from exchange.problems import Problem, ProgramError, Where
from exchange.reading.findings import short
from exchange.records import EditionRecord, Program, stated

EDITIONS_SHOWN = 20


def edition_for(program: Program, slug: str) -> Edition:
    """Return the edition, unsaved if the file brings it. Raises `ProgramError` where there is none."""
    record = program.edition
    if record and record.slug != slug:
        held, asked = short(record.slug), short(slug)
        message = gettext(
            "The file holds edition “%(held)s”, not “%(asked)s”. Name the edition that it holds."
        ) % {"held": held, "asked": asked}
        raise ProgramError([Problem(record.where, "slug", message)])
    edition: Edition | None = Edition.objects.select_related("conference").filter(slug=slug).first()
    if edition:
        return edition
    if record is None:
        known = ", ".join(Edition.objects.values_list("slug", flat=True)[:EDITIONS_SHOWN]) or "none"
        message = gettext(
            "There is no edition “%(slug)s”. "
            "Create it in the admin, or import a program_json file that holds it. Existing: %(known)s."
        ) % {"slug": short(slug), "known": known}
        raise ProgramError([Problem(Where(), "", message)])
    return Edition(slug=slug, conference=_conference_of(program, record))


def _conference_of(program: Program, record: EditionRecord) -> Conference:
    """Return the series of a new edition: the one it names, the one in the file, or the only one here."""
    named = stated(record.conference, "") or (program.conference.slug if program.conference else "")
    if named:
        found: Conference | None = Conference.objects.filter(slug=named).first()
        if found:
            return found
        if program.conference and program.conference.slug == named:
            return Conference(slug=named)
        message = gettext("There is no conference “%(named)s” in this file or here. Add it to the file.") % {
            "named": short(named)
        }
    else:
        existing: list[Conference] = list(Conference.objects.all()[:2])
        if len(existing) == 1:
            return existing[0]
        message = gettext("The file does not say which conference the edition belongs to. Add it.")
    raise ProgramError([Problem(record.where, "conference", message)])
