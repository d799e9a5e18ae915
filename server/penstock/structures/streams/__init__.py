"""Release running sums over time: trees, epochs, the square root and buffers, step by step.

* ``forest``                                 running sums over nodes with parents: what the trees
                                             have in common
* ``kary, smooth_binary, epochs``            the k-ary tree, the tree whose outputs all have one
                                             law, and streams without an end
* ``node_noise, node_state``                 the noise of a forest at every tier, and that noise
                                             as bytes
* ``root_matrices, root_noise, root_state``  the square root in integers, its noise, and that as
                                             bytes
* ``buffered``                               the square root's error with few numbers kept, for
                                             any length
* ``choice, comparison``                     the tree with the least error, and what each
                                             structure costs
* ``spread``                                 the confidence interval of a running total
"""
