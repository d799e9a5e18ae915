"""Read forms with a file of data.

* ``form_parts``    the fields, and then the file piece by piece, never as a whole
"""
