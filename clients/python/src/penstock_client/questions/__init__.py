"""Ask questions: preview what they cost, register or request them, and read the answers.

- ``session``: what a client does with questions.
- ``asker``: what questions need of a client.
- ``question``: ``Question``, in SQL or from a table, which does nothing before it is told to.
- ``terms``: the levels of a question, its name and its noise.
- ``cost``: what a question would be charged, and what is left.
- ``result``: the answer, as a table with intervals.
- ``allowances``: what analysts may register by themselves, and what is left of it.
- ``requests``: questions that were sent to the admins.
- ``select_list``: the names that SQL gives to its columns.
- ``sql_command``, ``request_command``, ``documents``: the commands ``sql`` and ``request``, and
  what they print.
"""
