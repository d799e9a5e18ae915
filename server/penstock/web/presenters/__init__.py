"""Turn answers of services into what templates and charts need.

* ``spec_text``                                  the spec of a query, in words
* ``release_charts, stream_charts, budget_charts, exposure_charts, tier_ladder``: one subject each
* ``preview_charts, preview_choices, noise_comparison``: previews, and alternatives to choose from
* ``pages``                                      what belongs to a single page
* ``figure``                                     a chart, and the same numbers as a table
* ``chart_files``                                charts as SVG and PNG, to download
* ``template_filters``                           numbers, times and losses as templates write them
"""
