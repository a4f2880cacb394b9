"""One line of a list of references in the style of the APA, as plain text to copy."""

from exchange.citations import Author, Citation
from exchange.files import Context

# A longer list of authors shows the first of them and the last.
MAX_AUTHORS = 20


def apa(citation: Citation, context: Context) -> str:
    """Return such as "Fegade, P., & Chen, T. (2021). Cortex. In Conference on Systems (pp. 1-9). https://…"."""
    title = " ".join(context.plain(citation.title).split())
    names = _joined([_name(author) for author in citation.authors])
    first, last = citation.first_and_last_page
    pages = f" (pp. {first}\u2013{last})" if last else f" (p. {first})" if first else ""
    address = f"https://doi.org/{citation.doi}" if citation.doi else citation.url
    year = f"({citation.year})."
    lead = f"{_ended(names)} {year} {_ended(title)}" if names else f"{_ended(title)} {year}"
    return " ".join(filter(None, (lead, f"In {citation.booktitle}{pages}.", address)))


def _name(author: Author) -> str:
    parts = (author.family, initials(author.given), author.suffix)
    return ", ".join(filter(None, parts))


def initials(given: str) -> str:
    """Return "J.-L. M." of "Jean-Luc Marie"; a name in a script without capitals stays whole."""
    words = given.split()
    return " ".join("-".join(filter(None, map(_initial, word.split("-")))) for word in words)


def _initial(name: str) -> str:
    first = name[:1]
    return f"{first.upper()}." if first.upper() != first.lower() else name


def _joined(names: list[str]) -> str:
    if len(names) > MAX_AUTHORS:
        return f"{', '.join(names[: MAX_AUTHORS - 1])}, \u2026 {names[-1]}"
    return ", & ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def _ended(text: str) -> str:
    return text if text.endswith((".", "?", "!")) else f"{text}."
