"""Agendas of visitors: their stars, in the browser or stored on the server under a secret link."""
