"""What people and programs type: the command line and the NetworkX backend.

Nothing is computed here; it calls the public functions alone.
"""
