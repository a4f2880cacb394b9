"""The documents of the index and the words in them.

Triggers and generated columns of the second migration maintain the databases' full-text indexes over them. A
migration that alters Document on SQLite must recreate its triggers.
"""

from typing import ClassVar, Self

from django.db import models

# Sorts after every letter of a folded word.
AFTER_LETTERS = "~"
# Shorter words are not used for corrections and related documents.
MIN_WORD_CHARS = 3


class Document(models.Model):
    """The folded words of a row of another app.

    A document need not be public: views must fetch each hit through its model's `published()`.
    """

    personal_fields: ClassVar[tuple[str, ...]] = ("people", "title", "body")
    impersonal_fields: ClassVar[tuple[str, ...]] = ("kind", "key", "topic", "awards", "scope")

    kind = models.CharField(max_length=20)
    object_id = models.BigIntegerField()
    key = models.CharField(max_length=64)
    # The key of an edition; empty for rows of the whole site.
    edition = models.BigIntegerField(null=True, blank=True)
    year = models.PositiveSmallIntegerField(null=True, blank=True)
    title = models.TextField(blank=True)
    people = models.TextField(blank=True)
    topic = models.TextField(blank=True)
    awards = models.TextField(blank=True)
    body = models.TextField(blank=True)
    # Marker words: edition, kind and year as words that users cannot type.
    scope = models.TextField(blank=True)
    # A digest of the original texts: unchanged ones are not folded again.
    fingerprint = models.BigIntegerField(null=True, editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["kind", "object_id"], name="document_is_one_per_object")
        ]
        # Used to clear an edition.
        indexes = [models.Index(fields=["edition"], name="document_edition")]

    def __str__(self) -> str:
        return f"{self.kind} {self.key}"

    def text(self) -> str:
        """Return every word that a visitor can search for."""
        return " ".join([self.title, self.people, self.topic, self.awards, self.body])

    def vocabulary(self) -> set[str]:
        """Return the words that `Word` counts."""
        return {word for word in self.text().split() if len(word) >= MIN_WORD_CHARS}


class WordQuerySet(models.QuerySet["Word"]):
    def starting_with(self, letters: str) -> Self:
        return self.filter(word__gte=letters, word__lt=f"{letters}{AFTER_LETTERS}")

    def ending_with(self, letters: str) -> Self:
        mirrored = letters[::-1]
        return self.filter(mirror__gte=mirrored, mirror__lt=f"{mirrored}{AFTER_LETTERS}")


class Word(models.Model):
    """A word of at least three letters, and how many documents contain it."""

    personal_fields: ClassVar[tuple[str, ...]] = ()

    word = models.CharField(max_length=64, unique=True)
    # The reversed word, to find words by their end.
    mirror = models.CharField(max_length=64, db_index=True)
    documents = models.IntegerField()

    objects = WordQuerySet.as_manager()

    def __str__(self) -> str:
        return self.word


class Indexed(models.Model):
    """The state of an edition in the index, in a format that the indexing app defines."""

    personal_fields: ClassVar[tuple[str, ...]] = ()

    # 0 for the rows of the whole site.
    edition = models.BigIntegerField(unique=True)
    state = models.CharField(max_length=200, blank=True)

    class Meta:
        verbose_name_plural = "indexed"

    def __str__(self) -> str:
        return f"{self.edition}: {self.state}"
