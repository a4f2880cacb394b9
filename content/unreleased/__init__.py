"""Unreleased changes of a schedule: rows of their own beside the public rows, until a release.

`plan` shows the planned state, `diversion` turns writes into changes, `rows` is the base of the models
that use both. The model of a change is `schedule.UnreleasedChange`. Reasons: docs/decisions/0034.
"""
