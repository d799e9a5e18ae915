"""Send the log to a second place before anybody is answered.

* ``forwarding``  sends what is new, before the witness sees it
* ``sink``        what such a place is, and a file as one
* ``streams``     syslog and local sockets as such a place
"""
