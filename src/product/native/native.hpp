// The BLAS underneath: its routines in the order of operations that vernier documents for them, functions beyond the
// interface of BLAS, and its number of threads.
#pragma once

#include <dlfcn.h>
#include <atomic>
#include <functional>
#include <string>

#include "number/complex.hpp"
#include "product/call.hpp"

namespace vernier {

// T is float, double or complex of these. With someone to tell, a long product goes by blocks of columns.
template <class T>
void native_gemm(const GemmCall<T>& call, int threads, const std::function<void(double)>& tell = {});

// Where op(B) is op(A) transposed and beta is 0: panels of the lower triangle, and the rest from these. (SYRK of
// OpenBLAS takes longer than GEMM with 16 threads.)
template <class T>
void native_gram(const GemmCall<T>& call, int threads, const std::function<void(double)>& tell = {});

// By threads of the library, each with a part of C and one thread of the BLAS, that round to nearest.
template <class T>
void native_gemm_in_parts(const GemmCall<T>& call, int threads);

// In its life native products go in parts, on whatever thread, since a BLAS has one number of threads: its own have the
// rounding mode of whoever began them, and proofs ask for the nearest. (A program that sets that number meanwhile is
// not seen; the number is OpenBLAS's.)
class NearestProducts {
 public:
  NearestProducts() { ++inside; }
  ~NearestProducts() { --inside; }
  NearestProducts(const NearestProducts&) = delete;
  NearestProducts& operator=(const NearestProducts&) = delete;
  static bool asked() { return inside.load(std::memory_order_relaxed) > 0; }

 private:
  inline static std::atomic<int> inside = 0;
};

// native_blas() without its configuration.
const std::string& native_name();

// Null where the BLAS underneath has no function of that name.
template <class Function>
Function native_symbol(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

// As it takes them: real factors by value, complex ones by address.
template <class T>
auto native_factor(const T& x) {
  if constexpr (is_complex<T>)
    return &x;
  else
    return x;
}

// A call of the BLAS underneath is the library's own, on whatever thread: a preload that stands before that BLAS hands
// it on.
class NativeCall {
 public:
  NativeCall() { tell(1); }
  ~NativeCall() { tell(-1); }
  NativeCall(const NativeCall&) = delete;
  NativeCall& operator=(const NativeCall&) = delete;

 private:
  static void tell(int change) {
    if (inside != nullptr) inside(change);
  }
  inline static const auto inside = native_symbol<void (*)(int)>("vernier_blas_inside");
};

// Holds it at `threads` for the life of the object; 0 leaves it alone. OpenBLAS has one setting for the process: the
// first object changes it, the last one restores it, and meanwhile it holds for all. Other BLAS keep their own.
class NativeThreads {
 public:
  explicit NativeThreads(int threads);
  ~NativeThreads();
  NativeThreads(const NativeThreads&) = delete;
  NativeThreads& operator=(const NativeThreads&) = delete;

 private:
  bool active_;
};

}  // namespace vernier
