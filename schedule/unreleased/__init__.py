"""Unreleased changes of a schedule: rows of their own beside the public rows, until a release copies them there.

`models` stores them; `plan` shows the planned state; `diversion` turns writes into changes. Reasons:
docs/decisions/0034.
"""
