"""Turn what belongs to a single page into what its template shows.

* ``front_page``     the example on the start page
* ``menu``           the sections of the menu
* ``own_questions``  one's own questions, and what is left for more
"""
