"""Authors and affiliations of a paper as a printed page shows them: numbered once, in order."""

from collections.abc import Iterable
from dataclasses import dataclass

from papers.models import Authorship


@dataclass(frozen=True, slots=True)
class Byline:
    """Authors with the marks of their affiliations ("1,2"), and the affiliations with their numbers."""

    authors: list[tuple[Authorship, str]]
    affiliations: list[tuple[int, str]]

    @property
    def marked(self) -> bool:
        """Whether the reader needs marks to tell who belongs where."""
        return any(marks for _, marks in self.authors)


def byline(authorships: Iterable[Authorship]) -> Byline:
    """Number the affiliations by first appearance; where all authors share one, there are no marks."""
    authors = list(authorships)
    named = dict.fromkeys(name for author in authors for name in author.affiliations)
    numbers = {name: number for number, name in enumerate(named, start=1)}
    marks = [
        ",".join(str(numbers[name]) for name in dict.fromkeys(author.affiliations)) for author in authors
    ]
    if len(numbers) == 1 and all(marks):
        marks = [""] * len(marks)
    return Byline(
        list(zip(authors, marks, strict=True)), [(number, name) for name, number in numbers.items()]
    )
