"""The evidence for and against a duplicate as sentences."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_lazy, ngettext

from people.duplicates.evidence import KEPT_APART, Reason, ReasonValues

if TYPE_CHECKING:
    from people.pairs import LikelyPair

SENTENCES: dict[str, str | Promise] = {
    "name_same": gettext_lazy("The names are the same."),
    "name_case": gettext_lazy("The names differ in capitals only."),
    "name_accents": gettext_lazy("The names differ in accents or letters of another script."),
    "name_punctuation": gettext_lazy("The names differ in punctuation, titles or numbers."),
    "name_order": gettext_lazy("The same names in another order."),
    "name_doubled": gettext_lazy("A part of one name is written twice."),
    "name_placeholder": gettext_lazy("One name has a placeholder in it that is no name."),
    "name_joined": gettext_lazy("The names are the same except for spaces."),
    "name_middle": gettext_lazy("One name has an additional middle initial."),
    "name_called": gettext_lazy("One name has an additional name in brackets."),
    "name_extra": gettext_lazy("One name has an additional part."),
    "name_initials": gettext_lazy("Initials in place of names."),
    "name_short": gettext_lazy("One name may be the short form of the other."),
    "name_typo": gettext_lazy("The names differ by one or two letters."),
    "contact": gettext_lazy("They have the same e-mail address or homepage."),
    "same_paper": gettext_lazy("Both are authors of one paper."),
    "other_place_there": gettext_lazy(
        "They have different affiliations on that paper, which is evidence against it."
    ),
    "no_coauthor": gettext_lazy("They have no co-authors in common, which is evidence against it."),
    "elsewhere": gettext_lazy("Their affiliations differ, which is evidence against it."),
    "same_topic": gettext_lazy("They have papers on the same topic."),
    "other_topics": gettext_lazy("Their papers have no topics in common, which is evidence against it."),
    KEPT_APART: gettext_lazy("An import kept them apart, because the name alone doesn’t identify a person."),
    "place_words": gettext_lazy("The names have the same words."),
    "place_alias": gettext_lazy("One’s name is another name of the other."),
    "place_slip": gettext_lazy("The names differ by a letter."),
    "place_part": gettext_lazy("One name may mean a part of the other."),
    "place_initials": gettext_lazy("One name is made of the initials of the other."),
    "other_country": gettext_lazy("They are in different countries, which is evidence against it."),
}
# Choices of the evidence filter: label and codes.
EVIDENCE_KINDS: dict[str, tuple[str | Promise, tuple[str, ...]]] = {
    "same": (gettext_lazy("the same name"), ("name_same",)),
    "writing": (
        gettext_lazy("capitals, accents, punctuation"),
        ("name_case", "name_accents", "name_punctuation", "name_joined"),
    ),
    "order": (gettext_lazy("order of names"), ("name_order",)),
    "parts": (
        gettext_lazy("more or doubled parts"),
        ("name_doubled", "name_middle", "name_called", "name_extra", "name_placeholder"),
    ),
    "initials": (gettext_lazy("initials and short forms"), ("name_initials", "name_short", "place_initials")),
    "slip": (gettext_lazy("a letter or two"), ("name_typo", "place_slip")),
    "coauthors": (gettext_lazy("common co-authors"), ("coauthors",)),
    "place": (gettext_lazy("a common affiliation"), ("affiliation",)),
    "contact": (gettext_lazy("a common address"), ("contact",)),
    "paper": (gettext_lazy("both on one paper"), ("same_paper", "together")),
    "people": (gettext_lazy("common people"), ("shared_people",)),
    "kept_apart": (gettext_lazy("kept apart by an import"), (KEPT_APART,)),
}
AGAINST = frozenset(
    {
        *("other_place_there", "no_coauthor", "elsewhere", "other_country", "other_ids", "together"),
        *("other_topics", "long_ago"),
    }
)


@dataclass(frozen=True, slots=True)
class ReasonText:
    """A reason as a sentence, and whether it is evidence against a duplicate."""

    text: str
    is_against: bool


def reason_texts(reasons: Iterable[Reason], names: Mapping[int, str]) -> list[ReasonText]:
    """Return the reasons as sentences. `names` maps keys of co-authors to their names."""
    return [ReasonText(reason_text(code, values, names), code in AGAINST) for code, values in reasons]


def reason_text(code: str, values: ReasonValues, names: Mapping[int, str]) -> str:
    """Return a reason as a sentence."""
    count = values.get("count", 0)
    if code == "coauthors":
        shown_names = ", ".join(names[key] for key in values["people"] if key in names)
        text = ngettext(
            "%(count)d co-author in common: %(names)s", "%(count)d co-authors in common: %(names)s", count
        )
        ellipsis = "" if count <= len(values["people"]) else " …"
        return text % {"count": count, "names": shown_names or "–"} + (ellipsis or ".")
    if code == "affiliation":
        return gettext("Both are of %(place)s.") % values
    if code == "other_ids":
        text = gettext("They have different %(schemes)s identifiers, which is evidence against it.")
        return text % {"schemes": ", ".join(values["schemes"])}
    if code == "long_ago":
        text = gettext("Their papers are %(count)d years apart, which is evidence against it.")
        return text % {"count": count}
    if code == "together":
        text = ngettext(
            "Both are authors of the same paper, which is evidence against it.",
            "Both are authors of the same %(count)d papers, which is evidence against it.",
            count,
        )
        return text % {"count": count}
    if code == "shared_people":
        text = ngettext("%(count)d person is of both.", "%(count)d people are of both.", count)
        return text % {"count": count}
    return str(SENTENCES[code])


def named_people(pairs: "Iterable[LikelyPair]") -> set[int]:
    """Return the keys of the co-authors in the reasons of these pairs."""
    return {
        key
        for pair in pairs
        for code, values in pair.reasons
        if code == "coauthors"
        for key in values["people"]
    }
