"""Large work of the host, cut into parts for its cores."""
