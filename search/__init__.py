"""An index over texts that knows no app: who owns the texts hands them in as records and asks by words."""
