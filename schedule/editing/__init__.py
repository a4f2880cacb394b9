"""What the timetable editor plans before anything is stored: places and times, spread talks, poster boards.

`clock`, `placing`, `spreading` and `boardlists` are pure; `forms` reads what was sent, `sitting` gathers the
moves of one sitting, `saving` stores them in one act. Pages and permissions belong to the admin's modules.
"""
