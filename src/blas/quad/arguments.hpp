// The arguments of quad_gemm, checked before any work, and the report they begin: the same for CPUs and GPUs.
#pragma once

#include <complex>
#include <type_traits>

#include "base/status.hpp"
#include "product/call.hpp"
#include "product/exact/entry.hpp"
#include "residue/quad/quad_plan.hpp"
#include "vernier/quad.hpp"

namespace vernier {

inline constexpr int least_bits = 4, most_bits = 226;

// The real type of an entry of A, B or C.
template <class T>
struct EntryPart {
  using type = T;
};
template <>
struct EntryPart<std::complex<double>> {
  using type = double;
};
template <>
struct EntryPart<complex_dd> {
  using type = dd;
};
#if defined(__SIZEOF_FLOAT128__)
template <>
struct EntryPart<complex_binary128> {
  using type = binary128;
};
#endif
template <class T>
using PartOf = typename EntryPart<T>::type;

template <class T>
inline constexpr bool is_complex_entry = !std::is_same_v<PartOf<T>, T>;
template <class T>  // of C
inline constexpr bool has_113_bits = !std::is_same_v<PartOf<T>, dd>;

template <class T>
const char* type_name() {
  if (is_complex_entry<T>) return has_113_bits<T> ? "complex_binary128" : "complex_dd";
  return has_113_bits<T> ? "binary128" : "dd";
}

template <class TC>
QuadGoal goal_of(const QuadContract& c) {
  using Kind = QuadContract::Kind;
  require(c.kind >= Kind::by_type && c.kind <= Kind::exact, "quad_gemm: contract: unknown kind {}",
          static_cast<int>(c.kind));
  if (c.kind != Kind::exact)
    require(c.rounding == Rounding::nearest, "quad_gemm: contract {}: only contract exact rounds in a direction",
            c.text());
  if (c.kind == Kind::exact) return {0};
  if (c.kind == Kind::bits) {
    require(c.bits_asked >= least_bits && c.bits_asked <= most_bits,
            "quad_gemm: contract bits({}): expected a number from {} to {}", c.bits_asked, least_bits, most_bits);
    return {c.bits_asked};
  }
  if (c.kind == Kind::fp128) {
    require(has_113_bits<TC>, "quad_gemm: contract fp128: a {} has 106 bits; expected dd, bits(n) or exact",
            type_name<TC>());
    return {113};
  }
  return {c.kind == Kind::by_type && has_113_bits<TC> ? 113 : 106};
}

template <class TC>
std::string contract_text(const QuadContract& contract) {
  if (contract.kind != QuadContract::Kind::by_type) return contract.text();
  return has_113_bits<TC> ? "fp128" : "dd";
}

template <class TC>
using QuadCallArguments = GemmCall<TC, double, const void*>;

template <class TC>
bool reads_operands(const QuadCallArguments<TC>& p) {
  return p.alpha != 0 && p.k > 0 && p.m > 0 && p.n > 0;
}

// Throws where they are not those of a product.
template <class TC>
QuadReport checked_quad_call(const QuadCallArguments<TC>& p, const QuadOptions& options) {
  constexpr const char* routine = "quad_gemm";
  check_call(routine, p);
  check_operands(routine, reads_operands(p), p.a, p.b);
  check_pointer(routine, "C", p.m > 0 && p.n > 0, p.c);
  require(options.threads >= 0, "{}: threads = {}: expected 0 or more", routine, options.threads);
  goal_of<TC>(options.contract);
  QuadReport report;
  report.type = type_name<TC>();
  report.contract = contract_text<TC>(options.contract);
  report.m = p.m, report.n = p.n, report.k = p.k;
  return report;
}

// C as its parts: how many an entry has, and where they begin.
template <class TC>
inline constexpr std::int64_t parts_of_entry = is_complex_entry<TC> ? 2 : 1;
template <class TC>
PartOf<TC>* parts_of(TC* c) {
  return reinterpret_cast<PartOf<TC>*>(c);
}

}  // namespace vernier
