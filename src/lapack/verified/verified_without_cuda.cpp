// Enclosures in device memory, in a build without CUDA.
#include "base/instantiate.hpp"
#include "base/stub.hpp"
#include "lapack/quad/quad_instances.hpp"
#include "lapack/verified/interval_products.hpp"
#include "vernier/quad_arrays.hpp"

#if !VERNIER_HAS_CUDA

namespace vernier::cuda {

VERNIER_STUB(void, interval_gemm, T, Op, Op, std::int64_t, std::int64_t, std::int64_t, const T*, const double*,
             std::int64_t, const T*, const double*, std::int64_t, T*, double*, std::int64_t, const Options&)
VERNIER_STUB(void, interval_gemm_ends, T, Op, Op, std::int64_t, std::int64_t, std::int64_t, const T*, const T*,
             std::int64_t, const T*, const T*, std::int64_t, T*, T*, std::int64_t, const Options&)
VERNIER_PLAIN_STUB(VerifiedReport, verified_solve, std::int64_t, std::int64_t, const double*, std::int64_t,
                   const double*, std::int64_t, double*, double*, std::int64_t, const Options&)
VERNIER_PLAIN_STUB(VerifiedReport, verified_inverse, std::int64_t, const double*, std::int64_t, double*, double*,
                   std::int64_t, const Options&)
VERNIER_PLAIN_STUB(VerifiedReport, verified_determinant, std::int64_t, const double*, std::int64_t,
                   DeterminantInterval&, const Options&)
VERNIER_PLAIN_STUB(VerifiedReport, verified_definite, std::int64_t, const double*, std::int64_t, double&,
                   const Options&)

VERNIER_STUB(QuadSolveReport, quad_solve, T, std::int64_t, std::int64_t, const double*, std::int64_t, const T*,
             std::int64_t, dd*, std::int64_t, const QuadOptions&)
template struct Instances<quad_solve<double>, quad_solve<dd>>;
VERNIER_STUB(void, quad_syrk, T, Uplo, Op, std::int64_t, std::int64_t, double, const T*, std::int64_t, double, T*,
             std::int64_t, const QuadOptions&)
VERNIER_STUB(void, quad_trsm, T, Side, Uplo, Op, Diag, std::int64_t, std::int64_t, double, const T*, std::int64_t, T*,
             std::int64_t, const QuadOptions&)
VERNIER_STUB(std::int64_t, quad_getrf, T, std::int64_t, std::int64_t, T*, std::int64_t, std::int64_t*,
             const QuadOptions&)
VERNIER_STUB(std::int64_t, quad_potrf, T, Uplo, std::int64_t, T*, std::int64_t, const QuadOptions&)
VERNIER_STUB(std::int64_t, quad_gesv, T, std::int64_t, std::int64_t, T*, std::int64_t, std::int64_t*, T*, std::int64_t,
             const QuadOptions&)
VERNIER_ALL_QUAD_FACTORS()
VERNIER_PLAIN_STUB(QuadReport, quad_gemm, Op, Op, std::int64_t, std::int64_t, std::int64_t, double,
                   const ConstDdArrays&, std::int64_t, const ConstDdArrays&, std::int64_t, double, const DdArrays&,
                   std::int64_t, const QuadOptions&)
VERNIER_PLAIN_STUB(void, quad_syrk, Uplo, Op, std::int64_t, std::int64_t, double, const ConstDdArrays&, std::int64_t,
                   double, const DdArrays&, std::int64_t, const QuadOptions&)
VERNIER_PLAIN_STUB(void, quad_trsm, Side, Uplo, Op, Diag, std::int64_t, std::int64_t, double, const ConstDdArrays&,
                   std::int64_t, const DdArrays&, std::int64_t, const QuadOptions&)
VERNIER_PLAIN_STUB(std::int64_t, quad_getrf, std::int64_t, std::int64_t, const DdArrays&, std::int64_t, std::int64_t*,
                   const QuadOptions&)
VERNIER_PLAIN_STUB(std::int64_t, quad_potrf, Uplo, std::int64_t, const DdArrays&, std::int64_t, const QuadOptions&)
VERNIER_PLAIN_STUB(std::int64_t, quad_gesv, std::int64_t, std::int64_t, const DdArrays&, std::int64_t, std::int64_t*,
                   const DdArrays&, std::int64_t, const QuadOptions&)

VERNIER_INTERVAL_PRODUCTS(double)
VERNIER_INTERVAL_PRODUCTS(std::complex<double>)

}  // namespace vernier::cuda

#endif
