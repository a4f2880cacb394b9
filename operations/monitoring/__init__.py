"""Monitoring: the note of each request, the log, the metrics, readiness."""
