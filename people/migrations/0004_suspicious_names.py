"""Whether a name looks wrong is found when it is saved, and here for those there are."""

from typing import Any

from django.db import migrations, models

from people.names import is_suspicious

BATCH = 2_000


def look(apps: Any, schema_editor: Any) -> None:
    people = apps.get_model("people", "Person")._base_manager
    named = people.order_by("pk").values_list("pk", "name")
    wrong = [key for key, name in named.iterator() if is_suspicious(name)]
    for start in range(0, len(wrong), BATCH):
        people.filter(pk__in=wrong[start : start + BATCH]).update(suspicious=True)


class Migration(migrations.Migration):
    dependencies = [("people", "0003_person_account")]

    operations = [
        migrations.AddField(
            model_name="person",
            name="suspicious",
            field=models.BooleanField(default=False, editable=False),
        ),
        migrations.RunPython(look, migrations.RunPython.noop, elidable=True),
    ]
