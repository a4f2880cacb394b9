"""Releases of a program: what was public when one was announced, and what changed since."""
