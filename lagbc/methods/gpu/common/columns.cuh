// What the kernels of the batched method share.
//
// 256 roots are the 256 columns of a group: a vertex has a row of 256 bits (BYTES bytes, WORDS words) for each set it
// may be in, and a row of 256 values. Rows are in sweep order; a group's arrays follow those of the group before.

constexpr int COLUMNS = 256;
constexpr int BYTES = COLUMNS / 8;
constexpr int WORDS = COLUMNS / 32;
constexpr int WARPS = 8;  // of a block
