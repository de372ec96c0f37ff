"""From the arguments of a call to its `Plan`: request, options, method, reduction, memory. Nothing is summed."""
