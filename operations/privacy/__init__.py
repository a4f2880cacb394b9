"""Personal data: what is stored about whom, export and erasure of one person's data."""
