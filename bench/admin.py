"""How long every list, form, choice and save of the admin takes with 20,000 papers and 100,000 people.

`uv run python bench/admin.py` fills a SQLite file and forgets it. `--database URL` names a database for this
alone (SQLite or PostgreSQL), which stays, and is asked again when it is filled. It ends by itself and prints
a Markdown table: by the clock, and what processors computed, that of the database's process included; each
also as a ratio to a page of the admin that shows nothing. On a busy machine only what was computed counts.
"""

import argparse
import gc
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

# A page of the admin with nothing on it.
PLAIN = "/admin/password_change/"
LIMIT = 400
# What is looked for in lists: the beginning of many words, and nothing.
TERMS = ("ba", "zzzzzz")


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--papers", type=int, default=20_000)
    asked.add_argument("--people", type=int, default=100_000)
    asked.add_argument("--database", help="such as postgres://postgres@127.0.0.1:5432/bench")
    asked.add_argument("--only", default="", help="measure only what has this in its name")
    options = asked.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"PLENARY_VAR_DIR": folder, "DJANGO_SETTINGS_MODULE": "conference.settings"}
        if options.database:
            os.environ["DATABASE_URL"] = options.database
        prepare(options.papers, options.people)
        measure(options.only)


def prepare(papers: int, people: int) -> None:
    """Make the tables, and the rows where there are none."""
    import django

    django.setup()
    from django.conf import settings
    from django.core.management import call_command
    from django.db import connection

    from bench.adminrows import fill
    from papers.models import Paper
    from people.models import Person

    settings.ALLOWED_HOSTS = ["testserver"]
    plain = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    settings.STORAGES = {**settings.STORAGES, "staticfiles": plain}
    call_command("migrate", verbosity=0)
    if not Paper.objects.exists():
        fill(papers, people, random.Random(7))
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")
    counts = f"{Paper.objects.count():,} papers, {Person.objects.count():,} people"
    print(f"{connection.vendor}, {counts}\n", flush=True)


@dataclass(frozen=True, slots=True)
class Taken:
    """Milliseconds by the clock and on the processor, and the number of queries."""

    clock: float
    computing: float
    queries: int


def took(ask: Callable[[], Any]) -> Taken:
    """Return what asking once takes. A form that comes back was not saved."""
    from django.db import connection, reset_queries

    if is_save := getattr(ask, "__name__", "") == "save":
        ask = ask()
    connection.force_debug_cursor = True
    reset_queries()
    clock, computing = time.perf_counter(), computed()
    answer = ask()
    taken = Taken(
        1_000 * (time.perf_counter() - clock), 1_000 * (computed() - computing), len(connection.queries)
    )
    if answer.status_code != (302 if is_save else 200):
        raise RuntimeError(f"{answer.request['PATH_INFO']} answers {answer.status_code}")
    return taken


def computed() -> float:
    """Return the seconds that this process and the one of the database behind it have computed."""
    from django.db import connection

    seconds = time.process_time()
    if connection.vendor == "postgresql" and connection.connection is not None:
        pid = connection.connection.info.backend_pid
        seconds += int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9
    return seconds


def usual(ask: Callable[[], Any], times: int = 3) -> Taken:
    """Return the medians, after one time to warm up."""
    all_taken = [took(ask) for _ in range(times + 1)][1:]
    return Taken(
        median(one.clock for one in all_taken),
        median(one.computing for one in all_taken),
        all_taken[-1].queries,
    )


def measure(only: str) -> None:
    """Ask for everything and print what it takes; at the end, what takes too long."""
    from django.contrib.auth import get_user_model
    from django.test import Client

    client = Client()
    user = get_user_model().objects.filter(username="chair").first()
    client.force_login(user or get_user_model().objects.create_superuser("chair"))
    yardstick = usual(lambda: client.get(PLAIN), 9)
    # As `website/wsgi.py` does for a server.
    gc.collect()
    gc.freeze()
    print("| what | clock | computing | queries | ratio |\n|---|---|---|---|---|")
    print(line_of("an empty page", yardstick, 1))
    slow, highest = [], 0.0
    for what, ask in questions(client):
        if only not in what:
            continue
        taken = usual(ask)
        ratio = taken.computing / yardstick.computing
        highest = max(highest, ratio)
        print(line_of(what, taken, ratio), flush=True)
        if taken.computing > LIMIT:
            slow.append(what)
    print(f"\nHighest ratio: {highest:.1f}. Over {LIMIT} ms: {', '.join(slow) or 'nothing'}.")


def line_of(what: str, taken: Taken, ratio: float) -> str:
    """Return a line of the table."""
    times = f"{taken.clock:.0f} ms | {taken.computing:.0f} ms | {taken.queries}"
    return f"| {what} | {times} | {ratio:.1f} |"


def questions(client: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Name each page of each model, and how it is asked for."""
    from django.contrib import admin

    from conference.models import Edition

    newest = Edition.objects.order_by("-year")[0]
    yield "desk", lambda: client.get("/admin/")
    yield "publish", lambda: client.get(f"/admin/conference/edition/{newest.pk}/publish/")
    yield "clashes", lambda: client.get("/admin/schedule/session/clashes/")
    for model, model_admin in admin.site._registry.items():
        if model._default_manager.exists() and model._meta.app_label != "auth":
            yield from pages(client, model, model_admin, newest)


def pages(client: Any, model: Any, model_admin: Any, edition: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
    """The pages of one model: its list in all ways, its forms, saving, and the choices that lead to it."""
    meta = model._meta
    root, name = f"/admin/{meta.app_label}/{meta.model_name}/", str(meta.verbose_name_plural)
    get = client.get

    def ask(path: str, **fields: Any) -> Callable[[], Any]:
        return lambda: get(path, fields)

    yield f"{name}: list", ask(root)
    last = -(-model._default_manager.count() // model_admin.list_per_page)
    yield f"{name}: last page", ask(root, p=last)
    for term in TERMS if model_admin.get_search_fields(None) else ():
        yield f"{name}: search “{term}”", ask(root, q=term)
    narrowed = {"edition__id__exact": edition.pk} if lists_editions(model_admin) else {}
    if narrowed:
        yield f"{name}: edition", ask(root, **narrowed)
    for what in duties(model):
        yield f"{name}: {what}", ask(root, todo=what, **narrowed)
    columns = enumerate(model_admin.list_display, start=1)
    for place, column in ((n, one) for n, one in columns if sortable(model, model_admin, one)):
        yield f"{name}: by {column}", ask(root, o=place)
    yield from forms(client, model, model_admin, root)


def forms(client: Any, model: Any, model_admin: Any, root: str) -> Iterator[tuple[str, Callable[[], Any]]]:
    """The forms of one model, saving, and the choices in them."""
    meta, get = model._meta, client.get
    name = str(meta.verbose_name_plural)

    def ask(path: str, **fields: Any) -> Callable[[], Any]:
        return lambda: get(path, fields)

    if model_admin.has_add_permission(request_of(client)):
        yield f"{name}: add", ask(f"{root}add/")
    row = model._default_manager.order_by("pk").first()
    yield f"{name}: form", ask(f"{root}{row.pk}/change/")
    yield f"{name}: history", ask(f"{root}{row.pk}/history/")
    if model_admin.has_change_permission(request_of(client), row):
        yield f"{name}: save", saving(client, f"{root}{row.pk}/change/")
    for field in model_admin.autocomplete_fields:
        for term in ("", *TERMS):
            choice = {"app_label": meta.app_label, "model_name": meta.model_name, "field_name": field}
            yield (
                f"{name}: choices of {field} “{term}”",
                ask("/admin/autocomplete/", term=term, **choice),
            )


def saving(client: Any, path: str) -> Callable[[], Any]:
    """Return what saves a form with another title or name than the time before, where it has one."""
    from bench.formdata import harvest

    count = iter(range(1_000))

    def save() -> Any:
        sent = harvest(client.get(path).text)
        for field in {"title", "name"} & sent.keys():
            sent[field] = f"{sent[field].split(' (')[0]} ({next(count)})"
        # The page that was asked for first does not count.
        return lambda: client.post(path, sent)

    return save


def lists_editions(model_admin: Any) -> bool:
    """Whether the list can be narrowed to an edition."""
    names = [getattr(one, "parameter_name", one) for one in model_admin.list_filter]
    return "edition" in names or "edition__id__exact" in names


def duties(model: Any) -> list[str]:
    """The lines of the desk whose rows this list shows."""
    from editorial.desk import CHECKS, Check

    return [duty.name for duty in CHECKS if isinstance(duty, Check) and duty.model is model]


def sortable(model: Any, model_admin: Any, column: str) -> bool:
    """Whether the list can be sorted by the column."""
    from django.core.exceptions import FieldDoesNotExist

    try:
        model._meta.get_field(column)
    except FieldDoesNotExist:
        return hasattr(getattr(model_admin, column, None), "admin_order_field")
    return True


def request_of(client: Any) -> Any:
    """A request of somebody who may do everything."""
    return client.get(PLAIN).wsgi_request


if __name__ == "__main__":
    main()
