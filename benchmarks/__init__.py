"""Speed, memory and agreement of lagbc and its peers on the same graphs and the same roots (see README.md)."""
