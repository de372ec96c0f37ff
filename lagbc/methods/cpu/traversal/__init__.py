"""Traversals: a thread searches from one root, and sums what the search wrote down, before it takes the next.

`dependencies` has the sums over a root, `sweep` the loop over the roots of a batch; `hops` and `lengths` are searches.
"""
