// The preload reads cuBLAS's calls without its headers: are its numbers theirs?
#if VERNIER_HAS_CUDA
#include <cublasLt.h>
#include <cublas_v2.h>
#include <gtest/gtest.h>

#include "cublas.hpp"

namespace vernier::test::cublas_numbers_test {
namespace {

namespace cublas = interpose::cublas;

TEST(CublasNumbers, AreThoseOfItsHeaders) {
  EXPECT_EQ(cublas::op_c, static_cast<int>(CUBLAS_OP_C));
  EXPECT_EQ(cublas::op_t, static_cast<int>(CUBLAS_OP_T));
  EXPECT_EQ(cublas::upper, static_cast<int>(CUBLAS_FILL_MODE_UPPER));
  EXPECT_EQ(cublas::fill_full, static_cast<int>(CUBLAS_FILL_MODE_FULL));
  EXPECT_EQ(cublas::right, static_cast<int>(CUBLAS_SIDE_RIGHT));
  EXPECT_EQ(cublas::unit, static_cast<int>(CUBLAS_DIAG_UNIT));
  EXPECT_EQ(cublas::device, static_cast<int>(CUBLAS_POINTER_MODE_DEVICE));
  EXPECT_EQ(cublas::tensor_op_math, static_cast<int>(CUBLAS_TENSOR_OP_MATH));
  EXPECT_EQ(cublas::pedantic_math, static_cast<int>(CUBLAS_PEDANTIC_MATH));
  EXPECT_EQ(cublas::tf32_math, static_cast<int>(CUBLAS_TF32_TENSOR_OP_MATH));
  EXPECT_EQ(cublas::r_64f, static_cast<int>(CUDA_R_64F));
  EXPECT_EQ(cublas::c_32f, static_cast<int>(CUDA_C_32F));
  EXPECT_EQ(cublas::c_64f, static_cast<int>(CUDA_C_64F));
  EXPECT_EQ(cublas::compute_32f, static_cast<int>(CUBLAS_COMPUTE_32F));
  EXPECT_EQ(cublas::compute_64f, static_cast<int>(CUBLAS_COMPUTE_64F));
  EXPECT_EQ(cublas::layout_ld, static_cast<int>(CUBLASLT_MATRIX_LAYOUT_LD));
  EXPECT_EQ(cublas::layout_plane_offset, static_cast<int>(CUBLASLT_MATRIX_LAYOUT_PLANE_OFFSET));
  EXPECT_EQ(cublas::order_columns, static_cast<int>(CUBLASLT_ORDER_COL));
  EXPECT_EQ(cublas::order_rows, static_cast<int>(CUBLASLT_ORDER_ROW));
  EXPECT_EQ(cublas::product_bias, static_cast<int>(CUBLASLT_MATMUL_DESC_BIAS_POINTER));
  EXPECT_EQ(cublas::product_auxiliary, static_cast<int>(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER));
  EXPECT_EQ(cublas::product_auxiliary_ld, static_cast<int>(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD));
  EXPECT_EQ(cublas::product_auxiliary_type, static_cast<int>(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE));
  EXPECT_EQ(cublas::product_bias_type, static_cast<int>(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE));
  EXPECT_EQ(cublas::epilogue_relu | cublas::epilogue_bias, static_cast<unsigned>(CUBLASLT_EPILOGUE_RELU_BIAS));
  EXPECT_EQ(cublas::epilogue_gelu | cublas::epilogue_auxiliary | cublas::epilogue_bias,
            static_cast<unsigned>(CUBLASLT_EPILOGUE_GELU_AUX_BIAS));
  EXPECT_EQ(cublas::epilogue_gelu_gradient | cublas::epilogue_auxiliary | cublas::epilogue_bias_gradient,
            static_cast<unsigned>(CUBLASLT_EPILOGUE_DGELU_BGRAD));
  EXPECT_EQ(cublas::epilogue_relu | cublas::epilogue_auxiliary, static_cast<unsigned>(CUBLASLT_EPILOGUE_RELU_AUX));
  EXPECT_EQ(cublas::epilogue_relu_gradient | cublas::epilogue_auxiliary | cublas::epilogue_bias_gradient,
            static_cast<unsigned>(CUBLASLT_EPILOGUE_DRELU_BGRAD));
  EXPECT_EQ(cublas::epilogue_sums_of_a, static_cast<unsigned>(CUBLASLT_EPILOGUE_BGRADA));
  EXPECT_EQ(cublas::epilogue_sums_of_b, static_cast<unsigned>(CUBLASLT_EPILOGUE_BGRADB));
  EXPECT_EQ(cublas::product_op_a, static_cast<int>(CUBLASLT_MATMUL_DESC_TRANSA));
  EXPECT_EQ(cublas::product_epilogue, static_cast<int>(CUBLASLT_MATMUL_DESC_EPILOGUE));
  EXPECT_EQ(cublas::product_d_maximum, static_cast<int>(CUBLASLT_MATMUL_DESC_AMAX_D_POINTER));
  EXPECT_EQ(cublas::product_a_scale, static_cast<int>(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER));
  EXPECT_EQ(cublas::default_epilogue, static_cast<int>(CUBLASLT_EPILOGUE_DEFAULT));
}

}  // namespace
}  // namespace vernier::test::cublas_numbers_test
#endif
