// Each level of instructions has a namespace of its own: lagbc::v2, lagbc::v3 and lagbc::v4 are the levels of x86-64,
// lagbc::generic runs on any processor, and lagbc::signatures is never run (see family.h).
#pragma once

#ifndef LAGBC_LEVEL
#error "compile with -DLAGBC_LEVEL=v3, for instance"
#endif

namespace lagbc {
namespace v2 {
struct Level;
}
namespace v3 {
struct Level;
}
namespace v4 {
struct Level;
}
namespace generic {
struct Level;
}
namespace signatures {
struct Level;
}
}  // namespace lagbc
