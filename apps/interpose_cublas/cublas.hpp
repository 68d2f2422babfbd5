// What of cuBLAS's interface is needed, in numbers: a preload needs no CUDA headers where it is built or run. A test
// holds them against the headers where there are some.
#pragma once

namespace vernier::interpose::cublas {

using Handle = void*;
using Status = int;
inline constexpr Status success = 0, alloc_failed = 3, not_supported = 15;

enum Operation { op_n = 0, op_t = 1, op_c = 2 };
enum FillMode { lower = 0, upper = 1 };
enum SideMode { left = 0, right = 1 };
enum DiagType { non_unit = 0, unit = 1 };
enum PointerMode { host = 0, device = 1 };

// Modes of arithmetic: the low bits say which, the others limit it.
enum MathMode {
  default_math = 0,
  tensor_op_math = 1,
  pedantic_math = 2,
  tf32_math = 3,
  emulated_fp32 = 4,
  emulated_fp64 = 8
};
inline constexpr int math_mode_bits = 0xf;

enum DataType { r_32f = 0, r_64f = 1, c_32f = 4, c_64f = 5 };
enum ComputeType { compute_32f = 68, compute_32f_emulated = 78, compute_64f = 70, compute_64f_emulated = 79 };

// cuBLASLt's attributes of matrices and of products.
enum LayoutAttribute {
  layout_type = 0,
  layout_order = 1,
  layout_rows = 2,
  layout_columns = 3,
  layout_ld = 4,
  layout_batch_count = 5,
  layout_batch_stride = 6,
  layout_plane_offset = 7,
  layout_batch_mode = 8
};
inline constexpr int order_columns = 0, order_rows = 1;
enum ProductAttribute {
  product_compute_type = 0,
  product_scale_type = 1,
  product_pointer_mode = 2,
  product_op_a = 3,
  product_op_b = 4,
  product_op_c = 5,
  product_fill_mode = 6,
  product_epilogue = 7,
  product_bias = 8,
  product_auxiliary = 11,
  product_auxiliary_ld = 12,
  product_a_scale = 17,  // addresses, as those that follow
  product_b_scale = 18,
  product_c_scale = 19,
  product_d_scale = 20,
  product_d_maximum = 21,
  product_auxiliary_type = 22,
  product_bias_type = 26
};
enum EpilogueBit : unsigned {
  epilogue_relu = 2,
  epilogue_bias = 4,
  epilogue_relu_gradient = 8,
  epilogue_bias_gradient = 16,
  epilogue_gelu = 32,
  epilogue_gelu_gradient = 64,
  epilogue_auxiliary = 128,
  epilogue_sums_of_a = 256,
  epilogue_sums_of_b = 512
};
inline constexpr int fill_full = 2, default_epilogue = 1;

}  // namespace vernier::interpose::cublas
