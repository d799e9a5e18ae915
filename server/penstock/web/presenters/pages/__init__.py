"""Turn what belongs to a single page into what its template shows.

* ``burn_downs``     what was left of budgets over time, under a sentence
* ``catalogue_links``  the orders and filters of the catalogue
* ``front_page``     the example on the start page
* ``home_figures``   figures and small charts of the page at which everybody arrives
* ``menu``           the sections of the menu
* ``own_questions``  one's own questions, and what is left for more
* ``token_states``   what has become of tokens
"""
