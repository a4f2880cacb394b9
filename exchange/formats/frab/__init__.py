"""Code shared by `schedule.json` and `schedule.xml`; `frab_json` and `frab_xml` handle the syntax."""
