// fmt's own code, compiled here once. As headers alone it costs every source that formats a message up to four seconds
// to compile, and as a shared library it would bind libvernier, and so each program under a preload, to one version.
#include "base/fmt.hpp"

#include <fmt/format-inl.h>

FMT_BEGIN_NAMESPACE
namespace detail {
// The headers leave these to whoever compiles fmt.
template auto thousands_sep_impl(locale_ref) -> thousands_sep_result<char>;
template auto decimal_point_impl(locale_ref) -> char;
}  // namespace detail
FMT_END_NAMESPACE
