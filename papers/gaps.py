"""Which papers lack something that a program needs, whether they are public or not."""

from functools import reduce
from operator import or_
from typing import Any, Self

from django.db.models import Exists, OuterRef, Q
from django.db.models.functions import Lower, Upper

from content.querysets import ContentQuerySet


class PaperGaps(ContentQuerySet[Any]):
    """Papers that a chair has to see to. Those that were withdrawn need nothing any more."""

    def kept(self) -> Self:
        """Papers that are not withdrawn."""
        return self.exclude(status="withdrawn")

    def without_abstract(self) -> Self:
        return self.kept().filter(abstract="")

    def without_authors(self) -> Self:
        return self.kept().filter(~self._has("authorships"))

    def without_pdf(self) -> Self:
        """Papers of which readers could see no PDF."""
        return self.kept().filter(~self._has("materials", kind="pdf", visible=True))

    def without_session(self) -> Self:
        """Papers that are presented in no session: not at all, or not scheduled yet."""
        return self.kept().filter(~self._has("presentations", session__isnull=False))

    def worth_a_look(self) -> Self:
        """Papers with a formula that cannot be rendered, lost letters, or a title all in capitals.

        The site marks formulas that it cannot set; so this takes no look at the texts themselves.
        """
        texts = ("title_html", "abstract_html", "lay_summary_html")
        marks = ('<code class="tex">', "\ufffd")
        unread = reduce(or_, (Q(**{f"{text}__contains": mark}) for text in texts for mark in marks))
        shouted = Q(title=Upper("title"), title__contains=" ") & ~Q(title=Lower("title"))
        return self.kept().filter(unread | shouted)

    def _has(self, relation: str, **fields: object) -> Exists:
        far: Any = self.model._meta.get_field(relation).related_model
        return Exists(far._base_manager.filter(paper=OuterRef("pk"), **fields))
