"""Tell the operator's webhook of requests and decisions, apart from whoever makes them.

* ``outbox``    messages that wait, who sends each, and what came of it
* ``messages``  their texts and signatures
* ``posting``   one message, sent within a few seconds
* ``looking``   every few seconds: what is due is sent
"""
