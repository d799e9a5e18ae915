"""Send the log to a second place before requests are answered.

* ``forwarding``  sends new leaves, before the witness sees them
* ``sink``        the interface of such a place, and a file as one
* ``streams``     syslog and local sockets as such a place
"""
