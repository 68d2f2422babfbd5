// The C interface of the level-3 routines and of batches.
#include "c_api/c_api.hpp"
#include "c_api/product_functions.hpp"

using namespace vernier::c_api;
using vernier::Diag;
using vernier::Op;
using vernier::Options;
using vernier::Real;
using vernier::Report;
using vernier::Side;
using vernier::Uplo;

extern "C" {

VERNIER_C_BATCH(vernier_gemm_batched, product, vernier::gemm_batched, alpha_of<T>(alpha), beta_of<T>(beta))
VERNIER_C_STRIDED_BATCH(vernier_gemm_strided_batched, product, vernier::gemm_strided_batched, alpha_of<T>(alpha),
                        beta_of<T>(beta))
VERNIER_C_SYMMETRIC_PRODUCT(vernier_symm, product, vernier::symm)
VERNIER_C_SYMMETRIC_PRODUCT(vernier_hemm, product, vernier::hemm)
VERNIER_C_GEMMT(vernier_gemmt, product, vernier::gemmt)
VERNIER_C_RANK_K_UPDATE(vernier_syrk, product, vernier::syrk, T)
VERNIER_C_RANK_K_UPDATE(vernier_herk, product, vernier::herk, Real<T>)
VERNIER_C_RANK_2K_UPDATE(vernier_syr2k, product, vernier::syr2k, T)
VERNIER_C_RANK_2K_UPDATE(vernier_her2k, product, vernier::her2k, Real<T>)
VERNIER_C_TRIANGULAR_IN_PLACE(vernier_trmm, product, vernier::trmm)
VERNIER_C_TRIANGULAR_IN_PLACE(vernier_trsm, product, vernier::trsm)

}  // extern "C"
