"""Write the SQL of a plan as expressions for an engine, and read what the engine returns.

* ``statement``     a text with its plan and hash, and the names that it uses
* ``expressions``   makes the nodes of SQL expressions
* ``formulas``      conditions and derived columns
* ``dialect``       what an engine does otherwise than others
* ``template``      the one template, filled in by a plan
* ``texts``         keeps the latest texts, by all that they depend on
* ``unit_bins``     what a unit gives to the bins of its groups, at most
* ``parts``         what is added up of a unit and of a group, and how totals saturate
* ``declared``      the tables of declared keys, and the columns that a plan reads
* ``decoding``      from the engine's rows to the answer's vector
* ``questions``     rows with known answers, with which an engine is checked
"""
