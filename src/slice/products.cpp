#include "slice/products.hpp"

#include <cstring>

#include "base/status.hpp"
#include "engine/panel.hpp"
#include "model/spec.hpp"
#include "product/arguments.hpp"
#include "product/native/native.hpp"

namespace vernier {
namespace {

using model::Format;

bool is_signed(Format format) { return format != Format::uint8; }

double decoded(Format format, const std::byte* p) {
  std::uint64_t word = 0;
  std::memcpy(&word, p, static_cast<std::size_t>(model::storage_bytes(format)));
  return model::decode(format, word);
}

}  // namespace

SliceEngine::SliceEngine(const std::string& name) : name_(name), blas_(name == "blas") {
  // Of doubles, in whatever order a BLAS adds them.
  engine_ = blas_ ? model::fma_chain(Format::fp64, Format::fp64, 1) : model::find_engine(name).engine;
  require(is_signed(engine_.a) && is_signed(engine_.b), "engine \"{}\": slices have signs, its inputs have none", name);
}

int SliceEngine::bits(std::int64_t k) const {
  const int bits = std::min(model::exact_bits(engine_, k), 30);
  if (bits < 1)
    fail(Status::unsupported, "engine \"{}\" cannot sum {} products of slices exactly; expected a smaller k_block",
         name_, k);
  return bits;
}

EncodedSlice SliceEngine::encode(Side side, const std::vector<std::int32_t>& digits) const {
  const Format format = side == Side::left ? engine_.a : engine_.b;
  const auto bytes = static_cast<std::size_t>(model::storage_bytes(format));
  EncodedSlice slice(digits.size() * bytes);
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const std::uint64_t word = model::encode(format, digits[i]);
    std::memcpy(slice.data() + i * bytes, &word, bytes);
  }
  return slice;
}

const std::byte* SliceEngine::at(const EncodedSlice& slice, Format format, std::int64_t index) const {
  return slice.data() + index * model::storage_bytes(format);
}

void SliceEngine::multiply(const Product& p, double* out) const {
  const std::byte* a = at(*p.a, engine_.a, p.first_row * p.ld + p.first_k);
  const std::byte* b = at(*p.b, engine_.b, p.first_column * p.ld + p.first_k);
  if (blas_)
    return native_gemm<double>({Op::transpose, Op::none, p.m, p.n, p.k, 1.0, reinterpret_cast<const double*>(a), p.ld,
                                reinterpret_cast<const double*>(b), p.ld, 0.0, out, p.m},
                               0);
  const std::int64_t bytes = model::storage_bytes(engine_.c);
  std::vector<std::byte> sums(static_cast<std::size_t>(p.m * p.n * bytes));
  model::multiply(engine_, {}, p.m, p.n, p.k, a, p.ld, b, p.ld, sums.data(), sums.data(), p.m);
#pragma omp parallel for
  for (std::int64_t i = 0; i < p.m * p.n; ++i) out[i] = decoded(engine_.c, sums.data() + i * bytes);
}

SliceProducts plan_slice_products(const SliceCounts& counts) {
  const auto [in_a, in_b] = counts.slices;
  const int most_weight = counts.fast ? std::max(in_a, in_b) - 1 : in_a + in_b - 2;
  SliceProducts plan;
  for (std::int64_t l = 0; l < counts.k; l += counts.k_block)
    for (int p = 0; p < in_a; ++p)
      for (int q = 0; q <= std::min(in_b - 1, most_weight - p); ++q) {
        if (q % counts.neighbours != 0)
          ++plan.jobs.back().count;
        else
          plan.jobs.push_back({p, q, 1, l, plan.count});
        plan.terms.push_back({plan.count++, p, q});
      }
  std::stable_sort(plan.terms.begin(), plan.terms.end(), [&](const SliceTerm& x, const SliceTerm& y) {
    if (counts.any_order) return x.p != y.p ? x.p < y.p : x.q < y.q;
    return x.p + x.q != y.p + y.q ? x.p + x.q > y.p + y.q : x.p < y.p;
  });
  return plan;
}

void check_slice_options(const SliceOptions& options) {
  constexpr const char* routine = "gemm_by_slices";
  check_dimension(routine, "slices", options.slices);
  check_dimension(routine, "k_block", options.k_block);
  require(options.block == 0 || options.block >= strip_size, "gemm_by_slices: block = {}: expected 0 or at least {}",
          options.block, strip_size);
  require(options.slices == 0 || options.mode != SliceMode::correctly_rounded,
          "gemm_by_slices: slices = {}: correct rounding takes as many as there are", options.slices);
}

}  // namespace vernier
