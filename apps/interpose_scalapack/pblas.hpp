// ScaLAPACK's parallel BLAS (PBLAS) and the communication beneath it (BLACS), as far as this preload calls them. All of
// it is found in the program, whichever MPI it is built for.
#pragma once

#include <vernier/vernier.h>

#include <array>
#include <string>

namespace vernier::interpose {

using Function = void (*)();

// PBLAS is written over a table of functions for each type: PBTYP_T of its PBtools.h, unchanged from 1.7 to 2.2.
struct PblasType {
  char type;
  int usiz, size;  // bytes of a real, and of an element
  char *zero, *one, *negone;
  Function Cgesd2d, Cgerv2d, Cgebs2d, Cgebr2d, Cgsum2d;
  Function Fmmadd, Fmmcadd, Fmmtadd, Fmmtcadd, Fmmdda, Fmmddac, Fmmddat, Fmmddact;
  Function Fcshft, Frshft;
  Function Fvvdotu, Fvvdotc;
  Function Ftzpad, Ftzpadcpy, Fset;
  Function Ftzscal, Fhescal, Ftzcnjg;
  Function Faxpy, Fcopy, Fswap;
  Function Fgemv, Fsymv, Fhemv, Ftrmv, Ftrsv, Fagemv, Fasymv, Fahemv, Fatrmv;
  Function Fgerc, Fgeru, Fsyr, Fher, Fsyr2, Fher2;
  Function Fgemm, Fsymm, Fhemm, Fsyrk, Fherk, Fsyr2k, Fher2k, Ftrmm, Ftrsm;
};

// A descriptor of type 1, as programs pass it, has nine numbers: type, context, m, n, mb, nb, rsrc, csrc, lld. One of
// type 2, which PBLAS keeps inside and takes too, has the first mb and the first nb before mb.
using InnerDescriptor = std::array<int, 11>;
inline constexpr int block_cyclic = 1, inner_block_cyclic = 2;

using PanelProduct = void (*)(PblasType*, const char*, const char*, const char*, const char*, int, int, int, char*,
                              char*, int, int, int*, char*, int, int, int*, char*, char*, int, int, int*);

// Null where it is not there.
struct Pblas {
  void (*grid)(int context, int* rows, int* columns, int* row, int* column) = nullptr;
  void (*send)(int context, int m, int n, double* a, int lda, int row, int column) = nullptr;
  void (*receive)(int context, int m, int n, double* a, int lda, int row, int column) = nullptr;
  void (*broadcast)(int context, const char* scope, const char* top, int m, int n, double* a, int lda) = nullptr;
  void (*receive_broadcast)(int context, const char* scope, const char* top, int m, int n, double* a, int lda, int row,
                            int column) = nullptr;
  void (*sum)(int context, const char* scope, const char* top, int m, int n, double* a, int lda, int row,
              int column) = nullptr;
  void (*maximum)(int context, const char* scope, const char* top, int m, int n, double* a, int lda, int* rows,
                  int* columns, int ldia, int row, int column) = nullptr;
  PanelProduct product_ab = nullptr, product_ac = nullptr, product_bc = nullptr;
  int (*block)(const int* context, const char* type) = nullptr;  // pilaenv_
  using Table = PblasType* (*)();
  Table tables[4] = {};  // of float, double and their complex types, as the library fills them in
  Table table(vernier_type type) const;

  std::string missing;  // why residues cannot go through this library; empty: they can
};

// Looked up and checked once.
const Pblas& pblas();

}  // namespace vernier::interpose
