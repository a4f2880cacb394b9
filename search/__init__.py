"""A full-text index that depends on no app: apps pass their texts as records, and search by words."""
