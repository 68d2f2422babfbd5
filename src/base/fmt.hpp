// fmt, in an inline namespace of our own: its code is part of libvernier (fmt.cpp), and linked as an archive beside the
// program's own fmt, of this version or another, it must not share names with that. Include this before others of fmt.
#pragma once

#ifdef FMT_VERSION
#error "base/fmt.hpp comes before other headers of fmt"
#endif

#define FMT_BEGIN_NAMESPACE \
  namespace fmt {           \
  inline namespace of_vernier {
#define FMT_END_NAMESPACE \
  }                       \
  }

#include <fmt/core.h>
