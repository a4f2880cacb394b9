"""Which person of the program an account is: so a session chair's own sessions are found."""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _


class PersonAccount(models.Model):
    """An account and the person who signs in with it."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, models.CASCADE, verbose_name=_("account"), related_name="person_account"
    )
    person = models.ForeignKey(
        "people.Person", models.CASCADE, verbose_name=_("person"), related_name="accounts"
    )

    class Meta:
        verbose_name = _("account of a person")
        verbose_name_plural = _("accounts of people")

    def __str__(self) -> str:
        return f"{self.user}: {self.person}"
