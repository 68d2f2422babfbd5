// What a contract of quad_gemm asks for C of a type, on CPUs and GPUs.
#pragma once

#include <complex>
#include <type_traits>

#include "base/status.hpp"
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
void check_exact(const QuadContract& contract, double alpha, double beta) {
  if (contract.kind != QuadContract::Kind::exact || std::is_same_v<TC, dd>) return;
  if (beta != 0 || (alpha != 0 && !is_power_of_two(alpha)))
    fail(Status::unsupported,
         "quad_gemm: contract exact, C of {}: alpha = {}, beta = {}: expected a power of two and 0", type_name<TC>(),
         alpha, beta);
}

template <class TC>
std::string contract_text(const QuadContract& contract) {
  if (contract.kind != QuadContract::Kind::by_type) return contract.text();
  return has_113_bits<TC> ? "fp128" : "dd";
}

}  // namespace vernier
