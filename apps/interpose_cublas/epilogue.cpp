#include "epilogue.hpp"

#include <algorithm>
#include <iterator>

namespace vernier::interpose::cublas {
namespace {

bool same_or_default(int type, int data_type) { return type == data_type || type == -1; }

}  // namespace

// RELU_AUX and DRELU keep a bit for each sign, by columns: 0 below 0, 1 for NaN, those of no row untouched (cuBLAS 13).
std::optional<Epilogue> epilogue_of(const Attributes& product, int data_type, std::int64_t rows) {
  const auto asked = product(product_epilogue, std::uint32_t{default_epilogue});
  if (asked == default_epilogue) return Epilogue{};
  constexpr std::uint32_t known[] = {epilogue_relu,
                                     epilogue_bias,
                                     epilogue_relu | epilogue_bias,
                                     epilogue_relu | epilogue_auxiliary,
                                     epilogue_relu | epilogue_auxiliary | epilogue_bias,
                                     epilogue_relu_gradient | epilogue_auxiliary,
                                     epilogue_relu_gradient | epilogue_auxiliary | epilogue_bias_gradient,
                                     epilogue_gelu,
                                     epilogue_gelu | epilogue_bias,
                                     epilogue_gelu | epilogue_auxiliary,
                                     epilogue_gelu | epilogue_auxiliary | epilogue_bias,
                                     epilogue_gelu_gradient | epilogue_auxiliary,
                                     epilogue_gelu_gradient | epilogue_auxiliary | epilogue_bias_gradient,
                                     epilogue_sums_of_a,
                                     epilogue_sums_of_b};
  const auto has = [asked](std::uint32_t bit) { return (asked & bit) != 0; };
  const bool real = data_type == r_32f || data_type == r_64f;
  if (std::find(std::begin(known), std::end(known), asked) == std::end(known) || !real ||
      !same_or_default(product(product_bias_type, std::int32_t{-1}), data_type) ||
      !same_or_default(product(product_auxiliary_type, std::int32_t{-1}), data_type))
    return std::nullopt;
  void* const vector = product(product_bias, static_cast<void*>(nullptr));
  void* const auxiliary = product(product_auxiliary, static_cast<void*>(nullptr));
  const bool signs = has(epilogue_relu_gradient) || (has(epilogue_relu) && has(epilogue_auxiliary));
  const bool sums = has(epilogue_bias_gradient) || has(epilogue_sums_of_a) || has(epilogue_sums_of_b);
  const auto ld_auxiliary = product(product_auxiliary_ld, std::int64_t{0});
  if (((has(epilogue_bias) || sums) && vector == nullptr) ||
      (has(epilogue_auxiliary) && (auxiliary == nullptr || ld_auxiliary < rows)) || (signs && ld_auxiliary % 128 != 0))
    return std::nullopt;
  return Epilogue{.activation = has(epilogue_relu)   ? VERNIER_ACTIVATION_RELU
                                : has(epilogue_gelu) ? VERNIER_ACTIVATION_GELU
                                                     : VERNIER_ACTIVATION_NONE,
                  .gradient = has(epilogue_gelu_gradient) || has(epilogue_relu_gradient),
                  .signs = signs,
                  .bias = has(epilogue_bias) ? vector : nullptr,
                  .auxiliary = has(epilogue_auxiliary) ? auxiliary : nullptr,
                  .ld_auxiliary = ld_auxiliary,
                  .sums_of = has(epilogue_bias_gradient) ? Epilogue::Sums::result
                             : has(epilogue_sums_of_a)   ? Epilogue::Sums::a
                             : has(epilogue_sums_of_b)   ? Epilogue::Sums::b
                                                         : Epilogue::Sums::none,
                  .sums = sums ? vector : nullptr};
}

}  // namespace vernier::interpose::cublas
