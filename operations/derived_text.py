"""Derives stored texts again after an upgrade that derives them in another way: rendered HTML, sort keys."""

import hashlib
import inspect
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from django.db import connections
from django.db.migrations.loader import MigrationLoader

import markup
from operations.verify import content_models, repair_stale_fields
from people import names

# What `derive()` of models uses besides the models: modules, and distributions.
PACKAGES = (markup, names)
DISTRIBUTIONS = ("anyascii", "markdown-it-py", "nh3")


@cache
def fingerprint() -> str:
    """Return a digest of the code that derives texts."""
    files = {Path(inspect.getfile(package)) for package in PACKAGES}
    files |= {file for path in [*files] if path.name == "__init__.py" for file in path.parent.glob("*.py")}
    for model in content_models():
        deriving = (ancestor for ancestor in model.__mro__ if "derive" in vars(ancestor))
        files |= {Path(inspect.getfile(ancestor)) for ancestor in deriving}
    digest = hashlib.sha256()
    for file in sorted(files):
        digest.update(file.read_bytes())
    digest.update(repr([version(name) for name in DISTRIBUTIONS]).encode())
    return digest.hexdigest()


def derive_after_upgrade(using: str, plan: Any = None, **kwargs: Any) -> None:
    """Derive all texts again if the code that does so has changed: a receiver of `post_migrate`."""
    from operations.models import DerivedTextVersion

    # Without a plan a database was emptied; and an older state of the tables does not fit the models.
    if plan is None or not is_migrated(using):
        return
    stored = DerivedTextVersion.objects.using(using).filter(pk=1).first()
    if stored is None or stored.fingerprint != fingerprint():
        repair_stale_fields()
        values = {"fingerprint": fingerprint()}
        DerivedTextVersion.objects.using(using).update_or_create(pk=1, defaults=values)


def is_migrated(using: str) -> bool:
    loader = MigrationLoader(connections[using])
    return {*loader.graph.leaf_nodes()} <= loader.applied_migrations.keys()
