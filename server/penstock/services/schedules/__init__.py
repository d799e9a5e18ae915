"""Register new data and queries by a timetable, within what was shown before.

* ``timetable``    the times of a schedule, from cron's text and a time zone
* ``statements``   queries in SQL, read as specs before a schedule is made
* ``templates``    the requests of one occurrence, with its date in their names
* ``pricing``      what one occurrence charges, before anything is registered
* ``refills``      sources that have the same name every time
* ``feeds``        streams that take an element of each occurrence
* ``schedules``    schedules: made, switched on and off, shown
* ``occurrences``  each occurrence, carried out once
* ``logged_schedules``  their leaves, and where the tables disagree with those
* ``forecast``     what a schedule will have charged by a date
"""
