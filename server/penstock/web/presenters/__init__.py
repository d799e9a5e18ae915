"""Present answers of services as templates and charts take them.

* ``spec_text``                                  what a query asks, in words
* ``release_charts, stream_charts, budget_charts, exposure_charts, tier_ladder``: one subject each
* ``preview_charts, preview_choices, noise_comparison``: previews, and what may be had instead
* ``front_page``                                 what the first page explains itself with
* ``figure``                                     a chart, and the same numbers as a table
* ``template_filters``                           how numbers, times and keys are written on pages
"""
