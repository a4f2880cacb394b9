"""Texts, answers and links of events and people. Odd ones are left out and named; the rest is read."""

from collections.abc import Iterator
from urllib.parse import urljoin

from django.utils.translation import gettext

from exchange.formats.frab.words import LINE_END, pick_language
from exchange.problems import Findings, short
from exchange.reading.html_texts import has_html, html_to_markdown
from exchange.reading.textfiles import JsonObject
from exchange.reading.values import clean_text


class DetailReader:
    """Reader of details. `base_url`: base of relative links. `has_own_texts`: this site wrote the file.

    Texts of this site are Markdown, in which HTML is meant to be shown.
    """

    def __init__(self, findings: Findings, base_url: str, *, has_own_texts: bool) -> None:
        self.findings, self.base_url, self.has_own_texts = findings, base_url, has_own_texts
        self.unread_answer_count = 0

    def texts(self, raw: JsonObject, *names: str) -> list[str]:
        """Return the texts of these fields that aren't empty; HTML of other programs as Markdown."""
        texts = []
        for name in names:
            text = LINE_END.sub("\n", raw.text(name)).strip()
            if text and not self.has_own_texts and has_html(text):
                text = html_to_markdown(text)
                message = gettext("HTML became text with emphasis and links: %(field)s.")
                self.findings.note("warning", raw.where, message, field=name)
            texts += [text] if text else []
        return texts

    def objects(self, raw: JsonObject, name: str, *, are_rows: bool = False) -> Iterator[JsonObject]:
        """Yield the objects of a list. What is no object is left out and named."""
        value = raw.content.get(name)
        items = value if isinstance(value, list) else [] if value is None else [value]
        for item in items:
            if not isinstance(item, dict) and item not in (None, ""):
                message = gettext("Left out, since it can't be read as %(field)s: %(value)s.")
                self.findings.note("warning", raw.where, message, field=name, value=short(str(item)))
        objects = [item for item in items if isinstance(item, dict)]
        yield from JsonObject({name: objects}, raw.where, raw.findings).objects(name, are_rows=are_rows)

    def answers(self, raw: JsonObject, *, is_personal: bool = False) -> list[str]:
        """Return the public answers to questions of the call for papers, which organizers may export.

        The question must have a text. Answers about people are public only if the file marks them so.
        """
        answers = []
        for answer_object in self.objects(raw, "answers"):
            question_value = answer_object.content.get("question")
            question_object = question_value if isinstance(question_value, dict) else {}
            flags = [
                flag
                for part in (question_object, answer_object.content)
                if (flag := part.get("is_public")) is not None
            ]
            is_public = all(flag is True for flag in flags) if flags else not is_personal
            question = pick_language(question_object.get("question") if question_object else question_value)
            if question.isdecimal():
                # Only the number of the question.
                question = ""
            answer = pick_language(answer_object.content.get("answer"))
            if is_public and question and answer and not question_object.get("contains_personal_data"):
                separator = "" if question.endswith(("?", ":")) else ":"
                answers.append(
                    clean_text(f"{question}{separator} {answer}", raw.where, "answers", self.findings)
                )
            elif answer:
                self.unread_answer_count += 1
        return answers

    def absolute_address(self, address: str) -> str:
        """Return the absolute address of a link; those to the same site may lack the host."""
        try:
            return urljoin(self.base_url, address) if address else ""
        except ValueError:
            return address
