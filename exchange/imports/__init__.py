"""From records to rows: existing rows, matching of people, changes, validation, writing."""
