"""Orders in which sweeps number vertices and group roots, and the searches behind them.

All functions take arrays of the host or of a device and give the same order on both; host and device versions of a
function stand beside each other.
"""
