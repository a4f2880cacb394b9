"""A row for each worker that reports, instead of one row for all."""

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def delete_reports(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Delete the reports. Running workers report again within half a minute."""
    apps.get_model("content", "WorkerReport")._base_manager.all().delete()


class Migration(migrations.Migration):
    dependencies = [
        ("content", "0004_worker_report"),
    ]

    operations = [
        migrations.RemoveConstraint(model_name="workerreport", name="worker_report_is_one_row"),
        migrations.RunPython(delete_reports, delete_reports),
        migrations.AddField(
            model_name="workerreport",
            name="worker_id",
            field=models.CharField(db_default="", max_length=64, unique=True),
        ),
    ]
