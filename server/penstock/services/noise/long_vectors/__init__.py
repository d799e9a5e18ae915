"""Draw, store and read vectors that are too long for a row, in chunks.

* ``sizes``          which vectors are long, and how large their chunks are
* ``manifest``       what the row of a release has in place of the vector
* ``chunk_sealing``  chunks sealed for their places
* ``chunk_draws``    the draw of a chunk, a function of a key and of the neighbors' chunks
* ``long_vector``    a vector that is read chunk by chunk
* ``rooms``          memory that the chunks of one thread pass through
* ``attempts``       drawing a whole vector into the store, under keys of its own
* ``spread``         chunks drawn in other processes, on a Ray cluster
* ``drawing``        the draws of a query with long vectors
* ``lazy_values``    the values of a release, read when they are needed
* ``parts``          ranges of a release's values
* ``abandoned``      chunks that no release names, and those of a shredded dataset

The README says why it is done so.
"""
