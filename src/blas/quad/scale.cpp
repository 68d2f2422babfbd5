#include "blas/quad/scale.hpp"

#include "base/environment.hpp"
#include "residue/quad/quad_entry.hpp"

namespace vernier {

template <class TC>
void scale_quad(std::int64_t m, std::int64_t n, double beta, TC* c, std::int64_t ldc, const QuadContract& contract) {
  if (beta == 1) return;
  const FloatingEnvironment environment;
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < m; ++i) {
      TC& x = c[i + j * ldc];
      if (contract.kind == QuadContract::Kind::exact)
        update_exactly({}, 0, 1, beta, contract.rounding, x);
      else
        x = beta == 0 ? from_double(0, static_cast<TC*>(nullptr)) : normalised(x) * beta;
    }
}

#if defined(__SIZEOF_FLOAT128__)
void update_binary128(double alpha, const std::vector<binary128>& t, double beta, std::vector<binary128>& c) {
  const QuadUpdate update = quad_update(alpha, beta);
  const FloatingEnvironment environment;
  for (std::size_t e = 0; e < t.size(); ++e) update_quad(update, t[e], c[e]);
}
#endif

template void scale_quad(std::int64_t, std::int64_t, double, dd*, std::int64_t, const QuadContract&);
#if defined(__SIZEOF_FLOAT128__)
template void scale_quad(std::int64_t, std::int64_t, double, binary128*, std::int64_t, const QuadContract&);
#endif

}  // namespace vernier
