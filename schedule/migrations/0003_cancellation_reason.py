from typing import Any

from django.db import migrations, models

REASON: dict[str, Any] = {
    "blank": True,
    "help_text": "Shown beside what is cancelled, such as “The speaker is ill.”; kept only while it is.",
    "max_length": 200,
    "verbose_name": "reason for cancelling",
}


class Migration(migrations.Migration):
    dependencies = [
        ("schedule", "0002_rescheduled_at"),
    ]

    operations = [
        migrations.AddField(
            model_name="presentation",
            name="cancellation_reason",
            field=models.CharField(default="", **REASON),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="session",
            name="cancellation_reason",
            field=models.CharField(default="", **REASON),
            preserve_default=False,
        ),
    ]
