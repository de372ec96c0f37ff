"""The public functions of scores, each with its signature, its specification and its call.

Each packs its arguments into `Read` and `Arguments`, and has them computed with its record of `centrality/records.py`.
"""
