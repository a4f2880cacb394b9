"""What `schedule.json` and `schedule.xml` share; `formats.frab_json` and `frab_xml` handle the syntax."""
