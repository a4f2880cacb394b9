"""What became of rows, in words: after a number or above a column."""

from django.utils.translation import pgettext_lazy

COUNTED = {
    "new": pgettext_lazy("imported rows", "new"),
    "changed": pgettext_lazy("imported rows", "changed"),
    "kept": pgettext_lazy("imported rows", "kept"),
    "conflicting": pgettext_lazy("imported rows", "conflicting"),
    "skipped": pgettext_lazy("imported rows", "skipped"),
}
