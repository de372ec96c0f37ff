"""Between the arguments of a call and the first allocation: request, options, method, reduction, memory; one `Plan`."""
