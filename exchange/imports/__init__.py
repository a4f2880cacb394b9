"""Import of records: lookup of rows, matching of people, comparison, validation, and writing."""
