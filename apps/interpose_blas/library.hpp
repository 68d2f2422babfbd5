// libvernier's side of a call of the BLAS.
#pragma once

#include "libvernier.hpp"

namespace vernier::interpose {

struct Library {
  decltype(&vernier_gemm) gemm;
  decltype(&vernier_symm) symm, hemm;
  decltype(&vernier_syrk) syrk, herk;
  decltype(&vernier_syr2k) syr2k, her2k;
  decltype(&vernier_trmm) trmm, trsm;
  decltype(&vernier_gemmt) gemmt;
};

const Library& library();

}  // namespace vernier::interpose
