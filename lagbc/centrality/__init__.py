"""The way of a call that makes scores: prepared, run and finished; here, on ranks, in parts, or by other searches."""
