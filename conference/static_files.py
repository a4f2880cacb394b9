"""Static files: which are collected, and which of them are compressed beforehand."""

from collections.abc import Iterable, Iterator

from django.contrib.staticfiles.finders import AppDirectoriesFinder
from whitenoise.storage import CompressedManifestStaticFilesStorage

# The API shows none of the pages that its package brings along.
UNSHOWN = ["rest_framework"]


class ShownFinder(AppDirectoriesFinder):
    """Finds the files of apps but for those that nothing here asks for: they are a third of all bytes."""

    def list(self, ignore_patterns: Iterable[str] | None) -> Iterable[tuple[str, object]]:
        """Return each path with the storage that holds it."""
        return super().list([*(ignore_patterns or ()), *UNSHOWN])


class HashedStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]  # its package has no types
    """Compresses files under the names that pages ask for. Each stands there under its plain name too."""

    def compress_files(self, paths: set[str]) -> Iterator[tuple[str, str]]:
        """Write compressed copies beside them; yield each file's name and its copy's."""
        asked_for = {*self.hashed_files.values()}
        yield from super().compress_files(asked_for.intersection(paths))
