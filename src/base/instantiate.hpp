// Instantiations by lists: LIST(F, T) is F(result, name, T, types of parameters...) for each function template of T. By
// a macro F(T), in each of the types.
#pragma once

#include <tuple>
#include <type_traits>

#include "base/lists.hpp"

#define VERNIER_INSTANTIATION(Result, name, T, ...) template Result name<T>(__VA_ARGS__);
#define VERNIER_FOR_REAL(LIST, F) LIST(F, float) LIST(F, double)
#define VERNIER_FOR_ALL(LIST, F) VERNIER_FOR_REAL(LIST, F) LIST(F, std::complex<float>) LIST(F, std::complex<double>)
#define VERNIER_EACH_REAL(F) F(float) F(double)
#define VERNIER_EACH_TYPE(F) VERNIER_EACH_REAL(F) F(std::complex<float>) F(std::complex<double>)

// By names alone: VERNIER_REAL_INSTANCES(f, g) instantiates f<T> and g<T> for float and double.
#define VERNIER_REAL_INSTANCES(...) VERNIER_INSTANCES(float, __VA_ARGS__) VERNIER_INSTANCES(double, __VA_ARGS__)
#define VERNIER_TYPE_INSTANCES(...)   \
  VERNIER_REAL_INSTANCES(__VA_ARGS__) \
  VERNIER_INSTANCES(std::complex<float>, __VA_ARGS__) VERNIER_INSTANCES(std::complex<double>, __VA_ARGS__)
#define VERNIER_INSTANCES(T, ...) template struct Instances<VERNIER_LIST(VERNIER_INSTANCE, T, __VA_ARGS__)>;
#define VERNIER_INSTANCE(T, name) name<T>

namespace vernier {

// `template struct Instances<f<double>, g<float>>` instantiates function templates by their names. It has to stand in
// the namespace of Instances: hence one for vernier and one for vernier::cuda.
template <auto... functions>
struct Instances {
  static constexpr std::tuple<decltype(functions)...> all{functions...};
};
namespace cuda {
template <auto... functions>
struct Instances {
  static constexpr std::tuple<decltype(functions)...> all{functions...};
};
}  // namespace cuda

// The one of four values that belongs to a type.
template <class T, class S, class D, class C, class Z>
constexpr auto of_type(S s, D d, C c, Z z) {
  if constexpr (std::is_same_v<T, float>)
    return s;
  else if constexpr (std::is_same_v<T, double>)
    return d;
  else if constexpr (sizeof(T) == 2 * sizeof(float))
    return c;
  else
    return z;
}

}  // namespace vernier
