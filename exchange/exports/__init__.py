"""What goes out: records of what is published, downloads, calendars, citations."""
