"""What the timetable editor plans before anything is stored. Its pages and permissions are the admin's."""
