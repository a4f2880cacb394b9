"""The working copy of a program: changes of chairs that are not released yet, stored apart from public rows.

`pending` (pure) combines change sets; `rows` reads and writes columns; `block` shows the working state and
collects changes made in it; `release` publishes or discards them. Reasons: docs/decisions/0031.
"""
