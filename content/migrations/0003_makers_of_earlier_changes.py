"""Fill `made_by` of earlier changes: the account of their change set made them."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.models import OuterRef, Subquery


def set_makers(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    change_sets = apps.get_model("content", "ChangeSet").objects.filter(pk=OuterRef("change_set"))
    changes = apps.get_model("content", "RowChange").objects.filter(change_set__user__isnull=False)
    changes.order_by().update(made_by=Subquery(change_sets.order_by().values("user")))


class Migration(migrations.Migration):
    dependencies = [("content", "0002_who_made_a_change")]

    operations = [migrations.RunPython(set_makers, migrations.RunPython.noop, elidable=True)]
