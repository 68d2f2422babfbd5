#include "slice/products_engine.hpp"

#include <algorithm>
#include <cstring>

#include "base/status.hpp"
#include "engine/panel.hpp"
#include "product/arguments.hpp"
#include "product/native/native.hpp"

namespace vernier {
namespace {

using model::Format;

bool is_signed(Format format) { return format != Format::uint8; }

// Sums of doubles, in whatever order a BLAS takes them.
model::Engine double_chain() {
  model::Engine e;
  e.a = e.b = e.c = Format::fp64;
  e.k = e.block = 1;
  e.sum = model::Sum::chain;
  e.sum_bits = 53;
  e.output_fraction_bits = 52;
  e.rounding = model::Rounding::nearest_even;
  e.zero_sign = model::ZeroSign::ieee;
  e.nan = 0x7ff8000000000000;
  return e;
}

double decoded(Format format, const std::byte* p) {
  const auto read = [&]<class X>(X x) {
    std::memcpy(&x, p, sizeof x);
    return static_cast<double>(x);
  };
  if (format == Format::fp32) return read(float{});
  if (format == Format::int32) return read(std::int32_t{});
  if (format == Format::fp64) return read(double{});
  std::uint64_t word = 0;
  std::memcpy(&word, p, static_cast<std::size_t>(model::storage_bytes(format)));
  return model::decode(format, word);
}

}  // namespace

SliceEngine::SliceEngine(const std::string& name) : name_(name), blas_(name == "blas") {
  engine_ = blas_ ? double_chain() : model::find_engine(name).engine;
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

void SliceEngine::multiply_by_blas(const Product& p, double* out) const {
  const auto* a = reinterpret_cast<const double*>(at(*p.a, Format::fp64, p.first_row * p.ld + p.first_k));
  const auto* b = reinterpret_cast<const double*>(at(*p.b, Format::fp64, p.first_column * p.ld + p.first_k));
  native_gemm<double>({Op::transpose, Op::none, p.m, p.n, p.k, 1.0, a, p.ld, b, p.ld, 0.0, out, p.m}, 0);
}

void SliceEngine::multiply(const Product& p, double* out) const {
  if (blas_) return multiply_by_blas(p, out);
  const std::int64_t bytes = model::storage_bytes(engine_.c);
  std::vector<std::byte> sums(static_cast<std::size_t>(p.m * p.n * bytes));
  model::multiply(engine_, {}, p.m, p.n, p.k, at(*p.a, engine_.a, p.first_row * p.ld + p.first_k), p.ld,
                  at(*p.b, engine_.b, p.first_column * p.ld + p.first_k), p.ld, sums.data(), sums.data(), p.m);
#pragma omp parallel for
  for (std::int64_t i = 0; i < p.m * p.n; ++i) out[i] = decoded(engine_.c, sums.data() + i * bytes);
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
