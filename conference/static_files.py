"""Static files: the finder, the bundling of stylesheets, and compression."""

import posixpath
import re
from collections.abc import Iterable, Iterator

from django.contrib.staticfiles.finders import AppDirectoriesFinder
from django.core.files.base import ContentFile
from django.core.files.storage import Storage
from whitenoise.storage import CompressedManifestStaticFilesStorage

# The browsable API is not used.
EXCLUDED_APPS = ["rest_framework"]

# These consist of imports, of files in the folder of the same name.
STYLESHEETS = {"css/plenary.css", "css/admin.css"}
COMPONENTS = ("css/plenary/", "css/admin/")

IMPORT = re.compile(r'@import "(?P<file>[^"]+)"(?: layer\((?P<layer>[\w-]+)\))?;')
STRING = r'("(?:[^"\\]|\\.)*")'
COMMENT = re.compile(STRING + r"|/\*.*?\*/", re.DOTALL)
SPACE = re.compile(STRING + r"|\s*(?:;\s*)?(\})\s*|\s*([{;,])\s*|(:)\s+|\s+")


class ProgramFinder(AppDirectoriesFinder):
    """Finds the files of apps, except for unused ones, which are a third of all bytes."""

    def list(self, ignore_patterns: Iterable[str] | None) -> Iterable[tuple[str, object]]:
        return super().list([*(ignore_patterns or ()), *EXCLUDED_APPS])


class HashedStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]  # its package has no types
    """Bundles stylesheets, hashes names, and compresses the files with hashed names.

    Files are available under their original names, too.
    """

    def post_process(
        self, paths: dict[str, tuple[Storage, str]], dry_run: bool = False, **options: object
    ) -> Iterator[tuple[str, str | None, bool | Exception]]:
        """Replace stylesheets by their bundles, then hash and compress. `paths` are the collected files."""
        if not dry_run:
            for name in STYLESHEETS & paths.keys():
                css = bundle(*paths[name])
                self.delete(name)
                self.save(name, ContentFile(css.encode()))
                paths[name] = (self, name)
        served_paths = {name: source for name, source in paths.items() if not name.startswith(COMPONENTS)}
        yield from super().post_process(served_paths, dry_run=dry_run, **options)

    def compress_files(self, paths: set[str]) -> Iterator[tuple[str, str]]:
        """Compress the files with hashed names; yield the name of each file and of its copy."""
        hashed_names = {*self.hashed_files.values()}
        yield from super().compress_files(hashed_names.intersection(paths))


def bundle(storage: Storage, name: str) -> str:
    """Return a minified stylesheet with its imports replaced by the imported files.

    Imported files must not have imports, nor a `url()` unless they are in the folder of the stylesheet.
    """

    def import_content(match: re.Match[str]) -> str:
        css = read(storage, posixpath.join(posixpath.dirname(name), match["file"]))
        return f"@layer {match['layer']} {{{css}}}" if match["layer"] else css

    return minify(IMPORT.sub(import_content, read(storage, name)))


def minify(css: str) -> str:
    """Return CSS without comments and insignificant whitespace. Strings are unchanged."""
    css = COMMENT.sub(lambda match: match[1] or " ", css)
    return SPACE.sub(lambda match: match[match.lastindex] if match.lastindex else " ", css).strip()


def read(storage: Storage, name: str) -> str:
    with storage.open(name) as file:
        return str(file.read(), "utf-8")
