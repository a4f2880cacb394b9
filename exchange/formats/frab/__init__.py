"""What `schedule.json` and `schedule.xml` of conference apps share: contents and reading.

`formats.frab_json` and `formats.frab_xml` handle the syntax of each.
"""
