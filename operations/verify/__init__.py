"""Invariants of the stored data that database constraints cannot express, checked by `manage.py verify`."""
