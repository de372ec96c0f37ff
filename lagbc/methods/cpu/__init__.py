"""Methods on a CPU, and the routine for roots whose path counts leave the range of float64."""
