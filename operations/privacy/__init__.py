"""Personal data: the inventory, and export and erasure of one person's data."""
