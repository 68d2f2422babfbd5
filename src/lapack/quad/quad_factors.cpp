// Factorisations and triangles in dd and binary128 in host memory.
#include <vector>

#include "engine/int8_engine.hpp"
#include "lapack/quad/quad_calls.hpp"
#include "lapack/quad/quad_instances.hpp"

namespace vernier {
namespace {

template <class T>
class HostPlace {
 public:
  using Element = T;

  explicit HostPlace(const QuadOptions& options) : options_(options) {}

  void check(const char* routine) const {
    check_factor_contract<T>(routine, options_.contract);
    static_cast<void>(find_int8_engine(options_.engine));
    const T* const none = nullptr;  // a product of no size checks the other options
    quad_gemm(Op::none, Op::none, 0, 0, 0, 1, none, 1, none, 1, 0, static_cast<T*>(nullptr), 1, options_);
  }
  int threads() const { return usable_threads(options_.threads); }
  void multiply(const GemmCall<T, double>& p) const {
    quad_gemm(p.opa, p.opb, p.m, p.n, p.k, p.alpha, p.a, p.lda, p.b, p.ldb, p.beta, p.c, p.ldc, options_);
  }
  template <class Use>
  void host(const Placed<T>& m, Access, const Use& use) const {
    use(m.x, m.ld);
  }
  void swap_rows(const Placed<T>& m, std::int64_t first, std::int64_t last, const std::int64_t* pivots) const {
    for (std::int64_t l = 0; l < m.columns; ++l)
      for (std::int64_t j = first; j < last; ++j)
        if (pivots[j] - 1 != j) std::swap(m.x[j + l * m.ld], m.x[pivots[j] - 1 + l * m.ld]);
  }
  // Rows from slope j on of each column j.
  void normalise(const Placed<T>& m, std::int64_t slope) const {
    for (std::int64_t j = 0; j < m.columns; ++j)
      for (std::int64_t i = slope * j; i < m.rows; ++i) m.x[i + j * m.ld] = normalised(m.x[i + j * m.ld]);
  }
  // to(j, i) = from(i, j); lower: for i >= j alone.
  void transpose(const Placed<T>& from, const Placed<T>& to, bool lower) const {
    for (std::int64_t j = 0; j < from.columns; ++j)
      for (std::int64_t i = lower ? j : 0; i < from.rows; ++i) to.x[j + i * to.ld] = from.x[i + j * from.ld];
  }
  template <class Run>
  std::int64_t with_pivots(std::int64_t, std::int64_t* pivots, const Run& run) const {
    return run(pivots);
  }

  // A copy, to put back where memory fails.
  Kept<T> keep(const Placed<T>& m) const { return {true, m.rows, m.columns, m.x, m.ld}; }

  struct Buffer {
    mutable std::vector<T> elements;
    T* data() const { return elements.data(); }
  };
  Buffer take(std::int64_t count) const { return {std::vector<T>(static_cast<std::size_t>(count))}; }

 private:
  const QuadOptions& options_;
};

}  // namespace

VERNIER_DEFINE_QUAD_FACTORS(HostPlace)

}  // namespace vernier
