"""What `schedule.json` and `schedule.xml` of conference apps share: what stands in them, and how it is read.

How the two files spell it is `formats.frab_json`' and `formats.frab_xml`' business.
"""
