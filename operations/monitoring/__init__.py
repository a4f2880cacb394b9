"""Monitoring: notes of requests, the log, metrics, and readiness."""
