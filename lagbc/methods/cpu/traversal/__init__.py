"""Traversals: a thread searches from one root, and sums over the trail of that search, before it takes the next.

`sweep` has the loop over the roots of a batch; `hops` and `lengths` are searches, `near` has sums within bounds.
"""
