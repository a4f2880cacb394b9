"""The settings of this installation as a list for whoever sets it up anew: values, but of secrets only that
there are any.
"""

import re

from conference.settings import env

SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|DSN|(DATABASE|CACHE|REPLICA|EMAIL|SMTP)\w*_URL")


def settings_list() -> dict[str, str]:
    """Return what the environment and `.env` say; secrets have to be kept elsewhere."""
    said = {name: str(value) for name, value in env.dump().items() if value not in (None, "", [], ())}
    return {name: "(set)" if SECRET.search(name) else said[name] for name in sorted(said)}
