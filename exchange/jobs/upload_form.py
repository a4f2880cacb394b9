"""Form for uploading a program: files or an address, the edition, and the format."""

from collections.abc import Iterable, Sequence
from pathlib import PurePath
from urllib.parse import urlsplit

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import SimpleUploadedFile, UploadedFile
from django.http import QueryDict
from django.utils.datastructures import MultiValueDict
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from conference.models import Edition
from exchange.files import MEGABYTE, Format, Source
from exchange.formats import readable
from exchange.formats.spreadsheet import is_mapping
from exchange.problems import short
from exchange.reading.archives import ZIP_SIGNATURES
from exchange.reading.foreign_files import describe_all_foreign, describe_unknown
from exchange.reading.textfiles import HEAD_BYTES

type Upload = UploadedFile[bytes]

MAX_FILES = 100
MAX_FILE_NAME_CHARS = 150
# Checked here rather than by `max_length`, since browsers silently truncate pasted text to that.
MAX_PASTED_CHARS = 2_000_000
SPREADSHEET = "spreadsheet"
NEW_EDITION = "new"
# These formats also accept files of more specific ones, so they are tried last, in this order.
LAST_TRIED = ("miniconf", "spreadsheet")


class SeveralFilesInput(forms.FileInput):
    allow_multiple_selected = True


class FilesField(forms.FileField):
    widget = SeveralFilesInput

    def clean(self, data: object, initial: object = None) -> list[Upload]:
        uploads = data if isinstance(data, list | tuple) else [data] if data else []
        return [super(FilesField, self).clean(upload, initial) for upload in uploads]


class UploadForm(forms.Form):
    edition = forms.ChoiceField(label=_("Edition"))
    sources = FilesField(
        label=_("Files"),
        required=False,
        help_text=_(
            "A spreadsheet (CSV or XLSX) with any columns, a program in another format, or several files."
        ),
    )
    pasted = forms.CharField(
        label=_("Or paste a table"),
        required=False,
        strip=False,
        help_text=_(
            "Cells copied from a spreadsheet, with their headings. On the next page you say what they are."
        ),
        widget=forms.Textarea(attrs={"rows": 4, "spellcheck": "false"}),
    )
    format = forms.ChoiceField(
        label=_("Format"), required=False, help_text=_("Choose one if it isn’t detected from the files.")
    )
    url = forms.URLField(
        label=_("Address"),
        required=False,
        max_length=500,
        assume_scheme="https",
        help_text=_("Instead of files: the address of a venue's notes at OpenReview."),
    )
    token = forms.CharField(
        label=_("Token"),
        required=False,
        max_length=2000,
        help_text=_("If the address needs one. It is used once and not stored."),
        widget=forms.PasswordInput(attrs={"autocomplete": "off"}),
    )

    def __init__(
        self,
        data: QueryDict | None = None,
        files: MultiValueDict[str, Upload] | None = None,
        *,
        editions: Iterable[Edition],
        may_add: bool,
        initial: dict[str, object] | None = None,
    ) -> None:
        super().__init__(data, files, initial=initial)
        self.editions = {str(edition.pk): edition for edition in editions}
        choices = {
            "edition": [(key, str(edition)) for key, edition in self.editions.items()],
            "format": [("", gettext("Detect from the files"))],
        }
        if may_add:
            choices["edition"].append((NEW_EDITION, gettext("A new edition, which the file describes")))
        choices["format"] += [(name, str(fmt.label)) for name, fmt in readable().items()]
        for name, field in self.fields.items():
            if isinstance(field, forms.ChoiceField):
                field.choices = choices[name]

    def clean_edition(self) -> Edition | None:
        return self.editions.get(self.cleaned_data["edition"])

    def clean_sources(self) -> list[Upload]:
        files: list[Upload] = self.cleaned_data["sources"]
        names = [str(file.name) for file in files]
        if len(files) > MAX_FILES:
            raise ValidationError(gettext("Choose at most %(count)d files.") % {"count": MAX_FILES})
        for name in names:
            if names.count(name) > 1:
                raise ValidationError(gettext("Two files are called “%(name)s”.") % {"name": short(name)})
        return files

    def clean_pasted(self) -> Upload | None:
        """Return the table as a file."""
        pasted: str = self.cleaned_data["pasted"]
        if not pasted.strip():
            return None
        if len(pasted) > MAX_PASTED_CHARS:
            message = gettext("The table has more than %(most)d characters. Upload it as a file.")
            raise ValidationError(message % {"most": MAX_PASTED_CHARS})
        name = gettext("Pasted table")
        return SimpleUploadedFile(f"{name}.csv", pasted.strip("\r\n").encode("utf-8", "replace"))

    def clean_url(self) -> str:
        url: str = self.cleaned_data["url"]
        parts = urlsplit(url)
        if url and (parts.scheme != "https" or parts.hostname not in settings.IMPORT_HOSTS):
            message = gettext("Programs are fetched only from: %(allowed)s, with https.")
            raise ValidationError(message % {"allowed": ", ".join(settings.IMPORT_HOSTS)})
        return url

    def clean_token(self) -> str:
        token: str = self.cleaned_data["token"]
        if not token.isascii() or len(token.split()) > 1:
            raise ValidationError(gettext("This does not look like a token: it must be one word."))
        return token

    def clean(self) -> dict[str, object]:
        cleaned = super().clean() or {}
        files, pasted, url = (cleaned.get(name) for name in ("sources", "pasted", "url"))
        if self.errors:
            return cleaned
        if sum(map(bool, (files, pasted, url))) != 1:
            raise ValidationError(gettext("Choose files, paste a table, or enter an address: one of them."))
        uploads = files or [pasted] if not url else []
        self._check_size(uploads)
        fmt = self._find_format(uploads, is_fetched=bool(url))
        has_mapping = any(is_mapping(read_head(upload)) for upload in uploads)
        is_mapped = fmt.name == SPREADSHEET and not has_mapping
        return {**cleaned, "uploads": uploads, "format": fmt.name, "is_mapped": is_mapped}

    def _check_size(self, uploads: list[Upload]) -> None:
        size, limit = sum(upload.size or 0 for upload in uploads), settings.IMPORT_MEGABYTES
        if size > limit * MEGABYTE:
            message = gettext(
                "The files are %(size)d MB; the limit is %(most)d MB. Check that this is a conference "
                "program. To allow more, change the setting IMPORT_MEGABYTES or use the command "
                "import_program."
            )
            raise ValidationError({"sources": message % {"size": size // MEGABYTE, "most": limit}})

    def _find_format(self, uploads: list[Upload], *, is_fetched: bool) -> Format:
        formats, chosen = readable(), self.cleaned_data["format"]
        if is_fetched:
            fetchable = [fmt for fmt in formats.values() if fmt.pages]
            match = next((fmt for fmt in fetchable if chosen in ("", fmt.name)), None)
            if match is None:
                raise ValidationError({"format": gettext("This format can’t be fetched. Upload the file.")})
            return match
        if self.cleaned_data["pasted"]:
            return formats[SPREADSHEET]
        sources = [read_head(upload) for upload in uploads]
        matches = detect_formats(sources)
        # Several files that belong together may include some that their format leaves out.
        belong_together = bool(matches) and len(sources) > 1
        if not belong_together and (foreign := describe_all_foreign(sources)):
            raise ValidationError({"sources": foreign})
        if chosen:
            return formats[chosen]
        if not matches:
            raise ValidationError({"sources": describe_unknown(sources)})
        if len(matches) > 1:
            message = gettext("Several formats can read these files: %(formats)s. Choose one.")
            names = ", ".join(str(fmt.label) for fmt in matches)
            raise ValidationError({"format": message % {"formats": names}})
        return matches[0]


def read_head(upload: Upload) -> Source:
    """Return enough of a file to detect its format: all of a ZIP, since its index is at the end."""
    upload.seek(0)
    content = upload.read(HEAD_BYTES)
    if content.startswith(ZIP_SIGNATURES):
        content += upload.read()
    upload.seek(0)
    return Source(file_name(upload), content)


def file_name(upload: Upload) -> str:
    """Return the name of a file for messages, shortened to its end, which shows the type."""
    return short(PurePath(str(upload.name)).name[-MAX_FILE_NAME_CHARS:], MAX_FILE_NAME_CHARS)


def detect_formats(sources: Sequence[Source]) -> list[Format]:
    """Return the formats that recognize these files. Only without a specific one, the first general one."""
    formats = readable().items()
    matches = {name: fmt for name, fmt in formats if fmt.recognizes and fmt.recognizes(sources)}
    specific = [fmt for name, fmt in matches.items() if name not in LAST_TRIED]
    return specific or [matches[name] for name in LAST_TRIED if name in matches][:1]
