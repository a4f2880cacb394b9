"""Personal data: what is stored about whom, one person's data as a file, and one person taken out."""
