"""The working copy of a program: what chairs changed that is not released yet, beside the public rows.

`pending` (pure) adds up change sets; `rows` writes columns as they are; `block` shows the working state and
collects what is changed in it; `release` publishes or discards. Why so: docs/decisions/0031.
"""
