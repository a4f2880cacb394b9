"""Agendas of visitors: what they starred, in the browser or saved under a secret link."""
