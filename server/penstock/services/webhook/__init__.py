"""Tell the operator's webhook of requests, decisions and events of the log, beside what they are.

* ``outbox``       messages that wait, who sends each, and what came of it
* ``log_events``   the leaves of the log that are events, and what is sent of each
* ``log_reading``  a message for every new leaf that is one
* ``messages``     their texts and signatures
* ``posting``      one message, sent within a few seconds
* ``looking``      every few seconds: the log is read on, and what is due is sent
"""
