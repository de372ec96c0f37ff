"""Methods on a CPU, and the routine for roots that leave the range of float64.

They share nothing with methods on a GPU but graph, plan and sums.
"""
