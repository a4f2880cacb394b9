"""What papers name beside themselves: topics, institutions, links; each is gathered once. Knows no format."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from django.utils.translation import gettext

from exchange.problems import Where
from exchange.reading.checks import UID
from exchange.reading.fields import UnfitError, checked_text
from exchange.reading.findings import Findings
from exchange.reading.slugs import slug
from exchange.records import AuthorRecord, InstitutionRecord, PersonRef, TopicRecord

# As long as its parts may be: no more is looked at from each place of a long text.
E_MAIL = re.compile(
    r"(?:[<(\[]\s*)?[^\s<>()\[\],;|@]{1,64}@[^\s<>()\[\],;|]{1,255}\.[^\s<>()\[\],;|]{1,63}\s*[>)\]]?"
)
WEB = re.compile(r"https?://[^\s<>\"]+\Z", re.IGNORECASE)
ORCID = re.compile(r"\d{4}-\d{4}-\d{4}-\d{3}[\dXx]")
NAMES_SHOWN = 10
# What a review system says of a paper that does not appear.
DECLINED = re.compile(r"reject|declin|withdraw|not accept|unaccept|non.?accept|desk|retract", re.IGNORECASE)
ACCEPTED = re.compile(
    r"accept|oral|poster|spotlight|talk|presentation|publish|camera|notable|top|yes\b", re.IGNORECASE
)


def tidy(text: str) -> str:
    """Return a name or title on one line, with single blanks."""
    return " ".join(text.split())


def uid_of(text: str) -> str:
    """Return the key of a source as a uid: as it is where it can be one, else made of it."""
    text = text.strip()
    return text if not text or UID.match(text) else slug(text)


def listed(keys: Iterable[str]) -> str:
    """Name the first of many keys."""
    names = list(keys)
    more = f" and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
    return f"{', '.join(names[:NAMES_SHOWN])}{more}"


@dataclass
class Gathering:
    """Topics and institutions by slug: spellings that make the same slug are one, named as met first."""

    findings: Findings
    topics: dict[str, TopicRecord] = field(default_factory=dict)
    institutions: dict[str, InstitutionRecord] = field(default_factory=dict)

    def text(self, value: str, where: Where, name: str) -> str:
        """Return a text without control characters, and report what was wrong."""
        try:
            text = checked_text(value)
        except UnfitError as error:
            self.findings.problem(where, name, str(error))
            return ""
        if text != value:
            self.findings.note(
                "warning", where, gettext("Control characters were removed from %(name)s."), name=name
            )
        return text

    def topic(self, name: str, where: Where) -> str | None:
        name = tidy(name)
        if not name:
            return None
        key = slug(name)
        self.topics.setdefault(key, TopicRecord(where=where, slug=key, name=name))
        return key

    def author(
        self,
        name: str,
        where: Where,
        *,
        affiliations: Iterable[str] = (),
        corresponding: bool = False,
        ids: tuple[tuple[str, str], ...] = (),
        orcid: str = "",
    ) -> AuthorRecord:
        """Return an author; an e-mail address in place of the name is refused, never stored."""
        printed = tidy(E_MAIL.sub(" ", name))
        if not printed:
            message = gettext("The author's name is missing. An e-mail address alone is none.")
            self.findings.problem(where, "authors", message)
        kept = tuple(dict.fromkeys(filter(None, (tidy(E_MAIL.sub(" ", part)) for part in affiliations))))
        found = ORCID.search(orcid)
        return AuthorRecord(
            where=where,
            person=PersonRef(where=where, name=printed, ids=ids, orcid=found[0].upper() if found else ""),
            affiliations=kept,
            institutions=tuple(dict.fromkeys(self._institution(part, where) for part in kept)),
            corresponding=corresponding,
        )

    def _institution(self, name: str, where: Where) -> str:
        key = slug(name)
        self.institutions.setdefault(key, InstitutionRecord(where=where, slug=key, name=name))
        return key
