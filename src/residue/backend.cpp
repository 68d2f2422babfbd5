#include "residue/backend.hpp"

namespace vernier {

template <class T>
const SchemeBackend<T>& portable_backend() {
  static constexpr SchemeBackend<T> backend{"portable",
                                            statistics_portable<T>,
                                            measured_strip_portable<T>,
                                            decompose_portable<T>,
                                            recombine_portable<T>,
                                            recombine_speculative_portable,
                                            update_portable<T>,
                                            publish_portable,
                                            block_deficits_portable<T>,
                                            span_costs_portable,
                                            recombine_leading_portable,
                                            find_lowest_bits_portable<T>,
                                            round_tile_portable<T>,
                                            residual_portable<T>,
                                            decompose_complex_portable<T>,
                                            recombine_complex_portable<T>};
  return backend;
}

template <class T>
const SchemeBackend<T>* avx512_backend() {
#if VERNIER_X86
  static const bool supported = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                                __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                                __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512vbmi") &&
                                __builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("avx512ifma") &&
                                __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("fma");
  static constexpr SchemeBackend<T> backend{"avx512",
                                            statistics_avx512<T>,
                                            measured_strip_avx512<T>,
                                            decompose_avx512<T>,
                                            recombine_avx512<T>,
                                            recombine_speculative_avx512,
                                            update_avx512<T>,
                                            publish_avx512,
                                            block_deficits_avx512<T>,
                                            span_costs_avx512,
                                            recombine_leading_avx512,
                                            find_lowest_bits_avx512<T>,
                                            round_tile_avx512<T>,
                                            residual_avx512<T>,
                                            decompose_complex_avx512<T>,
                                            recombine_complex_avx512<T>};
  return supported ? &backend : nullptr;
#else
  return nullptr;
#endif
}

template <class T>
const SchemeBackend<T>& best_backend() {
  const SchemeBackend<T>* vector = avx512_backend<T>();
  return vector != nullptr ? *vector : portable_backend<T>();
}

template const SchemeBackend<double>& portable_backend();
template const SchemeBackend<float>& portable_backend();
template const SchemeBackend<double>* avx512_backend();
template const SchemeBackend<float>* avx512_backend();
template const SchemeBackend<double>& best_backend();
template const SchemeBackend<float>& best_backend();

}  // namespace vernier
