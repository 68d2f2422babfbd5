#include "residue/backend.hpp"

#include "residue/backend_avx2.hpp"

namespace vernier {

// The loops of one set of instructions; two that not every set has are named.
#define VERNIER_LOOPS(set, publish, round_tile)                                                               \
  {                                                                                                           \
#set, statistics_##set < T>, measured_strip_##set < T>, decompose_##set < T>, recombine_##set < T>,       \
        recombine_speculative_##set, update_##set < T>, publish, block_deficits_##set < T>, span_costs_##set, \
        recombine_leading_##set, find_lowest_bits_##set < T>, round_tile < T>, residual_##set < T>,           \
        decompose_complex_##set < T>, recombine_complex_##set < T>, decompose_sum_##set, round_dd_tile_##set  \
  }

template <class T>
const SchemeBackend<T>& portable_backend() {
  static constexpr SchemeBackend<T> backend VERNIER_LOOPS(portable, publish_portable, round_tile_portable);
  return backend;
}

template <class T>
const SchemeBackend<T>* avx2_backend() {
#if VERNIER_X86
  static const bool supported = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  static constexpr SchemeBackend<T> backend VERNIER_LOOPS(avx2, publish_portable, round_tile_portable);
  return supported ? &backend : nullptr;
#else
  return nullptr;
#endif
}

template <class T>
const SchemeBackend<T>* avx512_backend() {
#if VERNIER_X86
  static const bool supported = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                                __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                                __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512vbmi") &&
                                __builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("avx512ifma") &&
                                __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("fma");
  static constexpr SchemeBackend<T> backend VERNIER_LOOPS(avx512, publish_avx512, round_tile_avx512);
  return supported ? &backend : nullptr;
#else
  return nullptr;
#endif
}

template <class T>
const SchemeBackend<T>& best_backend() {
  for (const SchemeBackend<T>* vector : {avx512_backend<T>(), avx2_backend<T>()})
    if (vector != nullptr) return *vector;
  return portable_backend<T>();
}

template const SchemeBackend<double>& portable_backend();
template const SchemeBackend<float>& portable_backend();
template const SchemeBackend<double>* avx2_backend();
template const SchemeBackend<float>* avx2_backend();
template const SchemeBackend<double>* avx512_backend();
template const SchemeBackend<float>* avx512_backend();
template const SchemeBackend<double>& best_backend();
template const SchemeBackend<float>& best_backend();

}  // namespace vernier
