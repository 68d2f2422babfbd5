// Matrices of dd in two arrays in host memory.
#include "lapack/quad/quad_arrays.hpp"

#include "base/environment.hpp"
#include "base/size.hpp"
#include "base/workspace.hpp"

namespace vernier {
namespace {

class HostArrays {
 public:
  class Packed {
   public:
    explicit Packed(std::int64_t count) : memory_(size_product({static_cast<std::size_t>(count + 1), sizeof(dd)})) {}
    dd* data() const { return reinterpret_cast<dd*>(memory_.data()); }

   private:
    Workspace memory_;
  };

  explicit HostArrays(const QuadOptions& options) : options_(options) {}

  void check() const {  // of the options, by a product of no size
    const dd* const none = nullptr;
    quad_gemm(Op::none, Op::none, 0, 0, 0, 1, none, 1, none, 1, 0, static_cast<dd*>(nullptr), 1, options_);
  }
  Packed take(std::int64_t count) const { return Packed(count); }
  void pack(const ConstDdArrays& x, const ArraysShape& s, dd* to) const {
#pragma omp parallel for schedule(static) num_threads(usable_threads(options_.threads))
    for (std::int64_t j = 0; j < s.columns; ++j)
      for (std::int64_t i = s.first_row(j); i < s.end_row(j); ++i)
        to[i + j * s.rows].hi = x.hi[i + j * s.ld], to[i + j * s.rows].lo = x.lo[i + j * s.ld];
  }
  void unpack(const dd* from, const ArraysShape& s, const DdArrays& x) const {
#pragma omp parallel for schedule(static) num_threads(usable_threads(options_.threads))
    for (std::int64_t j = 0; j < s.columns; ++j)
      for (std::int64_t i = s.first_row(j); i < s.end_row(j); ++i)
        x.hi[i + j * s.ld] = from[i + j * s.rows].hi, x.lo[i + j * s.ld] = from[i + j * s.rows].lo;
  }

 private:
  const QuadOptions& options_;
};

}  // namespace

VERNIER_DEFINE_QUAD_ARRAYS(HostArrays, vernier)

QuadSolveReport quad_solve(std::int64_t n, std::int64_t nrhs, const ConstDdArrays& A, std::int64_t lda,
                           const ConstDdArrays& B, std::int64_t ldb, const DdArrays& X, std::int64_t ldx,
                           const QuadOptions& options) {
  constexpr const char* routine = "quad_solve";
  check_shape(routine, Op::none, Op::none, n, nrhs, 0);
  check_leading(routine, "lda", lda, n);
  check_leading(routine, "ldb", ldb, n);
  check_leading(routine, "ldx", ldx, n);
  const bool any = n > 0 && nrhs > 0;
  check_arrays(routine, "A", n > 0, A);
  check_arrays(routine, "B", any, B);
  check_arrays(routine, "X", any, X);
  const HostArrays place(options);
  place.check();
  const PackedInput<HostArrays> a(place, A, {n, n, lda}), b(place, B, {n, nrhs, ldb});
  const PackedOutput<HostArrays> x(place, X, {n, nrhs, ldx}, true);
  QuadSolveReport report =
      quad_solve(n, nrhs, a.data(), packed_ld(n), b.data(), packed_ld(n), x.data(), packed_ld(n), options);
  x.store();
  return report;
}

}  // namespace vernier
