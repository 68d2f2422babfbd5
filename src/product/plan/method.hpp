// The choice of a method, on CPU and GPU: by what the call asks for, else by what takes the least; and whether the
// native product may take over.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "number/complex.hpp"
#include "product/plan/native_cost.hpp"
#include "vernier/vernier.hpp"

namespace vernier {

// So short that a string holds it without memory.
inline constexpr const char* small_product_reason = "a small product";

inline constexpr const char* by_estimates = "estimates by ";  // what the reason of a choice begins with
inline constexpr const char* as_before_reason = "estimates by times seen in this process, as of a call before";

// What a plan says of a product that a BLAS makes. Moved in: fewer instructions than copied.
inline void describe_native(Plan& plan, std::string engine = std::string("cublas")) {
  plan.scheme = std::string("native");
  plan.engine = std::move(engine);
  plan.moduli = 0;
}

struct MethodRequest {
  const Contract& contract;
  bool native_keeps = true;  // the contract
  std::string_view asked;    // "", "native" or an int8 engine
  bool small = false;        // the native product ends before residues begin
};

enum class MethodChoice { native, residues, by_estimate };

// Leaves the reason in the plan, but where estimates are to give it. Throws where the contract forbids what is asked.
MethodChoice choose_by_request(const MethodRequest& request, Plan& plan);

// What the methods take, in the order in which a person reads them.
struct MethodSeconds {
  double seconds;
  std::string_view how;  // "by residues on "
  std::string_view engine = {};
};
std::string compared(std::string source, std::initializer_list<MethodSeconds> methods);

// Throws unless the limit, that of the caller's own workspace or another, is `least` bytes at least.
void require_workspace(const ProductShape& shape, std::size_t limit, std::size_t least, bool own_workspace);

// May the native product take over? The one place that says so; a plan asks once, and keeps the answer.
enum class NativeUse {
  never,     // it does not keep the contract, or must not
  for_data,  // where the scheme does not hold the data, or memory fails: residues were asked for
  for_speed  // also where it is faster
};

// T is float, double or complex of these.
template <class T>
constexpr bool native_keeps(const Contract& contract) {
  return contract.kind != Contract::Kind::exact && contract.bits_asked <= std::numeric_limits<RealType<T>>::digits;
}

template <class T>
constexpr NativeUse native_use(const Contract& contract, bool residues_asked = false) {
  if (contract.reproducible || contract.fallback != Fallback::native || !native_keeps<T>(contract))
    return NativeUse::never;
  return residues_asked ? NativeUse::for_data : NativeUse::for_speed;
}

}  // namespace vernier
