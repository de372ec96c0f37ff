// VALUE (double or float) is the type of path counts and dependencies; sums of scores are double.

typedef VALUE value;
