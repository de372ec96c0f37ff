"""Centralities as records, the sums of a run made into their scores, and scores as a table."""
