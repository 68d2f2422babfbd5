// A BLAS to measure against: the one underneath, or another library with the functions of CBLAS.
#pragma once

#include <string>
#include <vector>
#include <vernier/vernier.hpp>

namespace vernier::cli {

// C = op(A) op(B), column-major.
template <class T>
struct BaselineCall {
  Op opa, opb;
  std::int64_t m, n, k;
  const T* a;
  std::int64_t lda;
  const T* b;
  std::int64_t ldb;
  T* c;
  std::int64_t ldc;
};

// By the BLAS underneath, called the way a user would who has no Vernier.
template <class T>
void native_gemm(const BaselineCall<T>& call);

// "native", "mkl", "openblas", "blis", "NAME=PATH" or a path: the library is opened, and kept, apart from all others.
// Integers have 64 bits where its functions say so in their names (cblas_dgemm64_), as those of PyPI's OpenBLAS do.
class Baseline {
 public:
  // Throws Error(Status::invalid_argument) where it cannot be opened, has no functions of CBLAS, or is the library
  // underneath by another name.
  explicit Baseline(const std::string& text);

  const std::string& name() const { return name_; }
  const std::string& blas() const { return blas_; }  // as the library tells of itself, or its file

  // False where it offers no such call; 0 threads leaves it as it is.
  bool set_threads(int threads) const;

  template <class T>
  void gemm(const BaselineCall<T>& call) const;

 private:
  void* function(const char* cblas_name) const;

  std::string name_, blas_;
  void* library_ = nullptr;  // null: native
  std::string prefix_, suffix_;
  bool long_integers_ = false;
};

// Of a list "native,mkl,openblas=/path/libopenblas.so"; none of "none".
std::vector<Baseline> baselines_of(const std::string& list);

}  // namespace vernier::cli
