"""What readers share: bytes to text, JSON, CSV, typed fields, findings. Pure: knows no app and no format."""
