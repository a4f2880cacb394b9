"""Formats of dates and times, in folders by language as `FORMAT_MODULE_PATH` requires."""
