"""Fill the times of creation and change once from the history."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.utils import timezone

from schedule.migrations._times_of_history import TimesOfHistory


def fill_times(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    TimesOfHistory(apps, timezone.now()).fill()


class Migration(migrations.Migration):
    dependencies = [
        ("content", "0004_worker_report"),
        ("conference", "0003_times_of_changes"),
        ("people", "0003_times_of_changes"),
        ("papers", "0003_times_of_changes"),
        ("schedule", "0008_times_of_changes"),
    ]

    operations = [migrations.RunPython(fill_times, migrations.RunPython.noop, elidable=True)]
