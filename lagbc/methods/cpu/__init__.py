"""Methods that run on a CPU, and what computes again what leaves the range of float64.

They share nothing with those of the GPU but graph, plan and sums.
"""
