// Error-corrected products on a modelled engine. Each sum of a scheme is one replayed product of matrices in which the
// parts lie interleaved along k, so that the engine meets the terms in the scheme's order.
#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "base/status.hpp"
#include "number/two_sum.hpp"
#include "product/arguments.hpp"
#include "split/schemes.hpp"

namespace vernier::split {
namespace {

// Rows of op(A), or columns of op(B): element (v, l) at data[v * vector_stride + l * k_stride].
struct Vectors {
  const float* data;
  std::int64_t count, k, vector_stride, k_stride;

  float operator()(std::int64_t v, std::int64_t l) const { return data[v * vector_stride + l * k_stride]; }
};

// A part over some k of each step.
struct Piece {
  int part, from, length;
};
std::int64_t length_of(const std::vector<Piece>& pieces) {
  std::int64_t sum = 0;
  for (const Piece& p : pieces) sum += p.length;
  return sum;
}

// The parts of all vectors, k padded with zeros, and the powers of two that they were scaled by.
class Parts {
 public:
  Parts(const Scheme& scheme, const Vectors& x, std::int64_t padded_k)
      : count_(x.count), k_(padded_k), words_(scheme.shifts.size()) {
    const SplitRule rule = split_rule(scheme);
    for (auto& plane : words_) plane.resize(static_cast<std::size_t>(count_ * k_));
    scales.resize(static_cast<std::size_t>(count_));
    finite.resize(static_cast<std::size_t>(count_));
    for (std::int64_t v = 0; v < count_; ++v) {
      std::uint32_t largest = 0;
      for (std::int64_t l = 0; l < x.k; ++l) largest = std::max(largest, float_word(x(v, l)) & 0x7fffffffu);
      finite[at(v)] = largest < 0x7f800000u;
      scales[at(v)] = scheme.scaled ? split_scale(largest) : 0;
      const SplitScale scale(scales[at(v)]);
      for (std::int64_t l = 0; l < x.k; ++l) {
        std::uint32_t parts[max_split_parts];
        split_parts(rule, scale(x(v, l)), parts);
        for (std::size_t p = 0; p < words_.size(); ++p) words_[p][at(v * k_ + l)] = parts[p];
      }
    }
  }

  // For each step of k, the pieces one after the other, in the storage of the format.
  std::vector<std::uint8_t> interleaved(const Scheme& scheme, const std::vector<Piece>& pieces) const {
    const auto bytes = static_cast<std::size_t>(model::storage_bytes(scheme.low));
    std::vector<std::uint8_t> out(at(count_ * k_ / scheme.step * length_of(pieces)) * bytes);
    std::uint8_t* to = out.data();
    for (std::int64_t v = 0; v < count_; ++v)
      for (std::int64_t k0 = 0; k0 < k_; k0 += scheme.step)
        for (const Piece& p : pieces)
          for (std::int64_t l = k0 + p.from; l < k0 + p.from + p.length; ++l, to += bytes) {
            const std::uint32_t word = words_[static_cast<std::size_t>(p.part)][at(v * k_ + l)];
            for (std::size_t b = 0; b < bytes; ++b) to[b] = static_cast<std::uint8_t>(word >> (8 * b));
          }
    return out;
  }

  std::int64_t count() const { return count_; }
  std::int64_t k() const { return k_; }

  std::vector<int> scales;
  std::vector<bool> finite;

 private:
  static std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

  std::int64_t count_, k_;
  std::vector<std::vector<std::uint32_t>> words_;
};

// Infinities and NaNs go where IEEE arithmetic sends them; scaled parts would mix them up.
float conventional(const Vectors& a, const Vectors& b, std::int64_t i, std::int64_t j) {
  double sum = 0;
  for (std::int64_t l = 0; l < a.k; ++l) sum += static_cast<double>(a(i, l)) * static_cast<double>(b(j, l));
  return static_cast<float>(sum);
}

void check_engine(const Scheme& s, const model::Engine& e) {
  model::validate(e);
  require(e.a == s.low && e.b == s.low && e.c == model::Format::fp32,
          "split: scheme {} multiplies {} into fp32; the engine multiplies {} and {} into {}", s.name,
          model::to_string(s.low), model::to_string(e.a), model::to_string(e.b), model::to_string(e.c));
  require(s.step > 0 && s.step % e.k == 0, "split: scheme {}: step is {}; expected a multiple of the engine's k = {}",
          s.name, s.step, e.k);
  for (const Term& t : s.terms)
    require(t.from >= 0 && t.length >= 0 && t.from + t.length <= s.step && t.from % e.k == 0 && t.length % e.k == 0,
            "split: scheme {}: a term covers k from {} to {} of a step; expected multiples of {} up to {}", s.name,
            t.from, t.from + t.length, e.k, s.step);
  for (const Sum& sum : s.sums)
    require(sum.run >= 0 && sum.run % s.step == 0, "split: scheme {}: run is {}; expected a multiple of the step {}",
            s.name, sum.run, s.step);
  for (std::size_t q = 0; q < s.sums.size(); ++q)
    require(s.sums[q].carry == Carry::none ||
                (s.sums[q].run > 0 && (q + 1 == s.sums.size() || s.sums[q].shift == s.sums[q + 1].shift)),
            "split: scheme {}: sum {} has a carry; expected runs, and the shift of the sum that joins it", s.name, q);
}

// The operands of one sum: its terms' parts, interleaved in each step.
struct SumOperands {
  std::vector<std::uint8_t> a, b;
  std::int64_t in_step;  // products of a step

  SumOperands(const Scheme& s, const Parts& pa, const Parts& pb, std::size_t sum) {
    std::vector<Piece> pieces_a, pieces_b;
    for (const Term& term : s.terms) {
      if (term.sum != static_cast<int>(sum)) continue;
      const int length = term.length != 0 ? term.length : s.step;
      pieces_a.push_back({term.a, term.from, length});
      pieces_b.push_back({term.b, term.from, length});
    }
    in_step = length_of(pieces_a);
    a = pa.interleaved(s, pieces_a), b = pb.interleaved(s, pieces_b);
  }
};

// One of `count` equal pieces of k: every sum of the scheme replayed, then joined by Horner's rule.
std::vector<float> sum_of_piece(const Scheme& s, const model::Engine& engine, const Parts& a, const Parts& b, int piece,
                                int count) {
  const std::int64_t m = a.count(), n = b.count(), ldc = std::max<std::int64_t>(1, m);
  const std::vector<float> zero(static_cast<std::size_t>(m * n), 0.0f);
  std::vector<float> t;
  for (std::size_t q = s.sums.size(); q-- > 0;) {
    const SumOperands x(s, a, b, q);
    const std::int64_t ld = std::max<std::int64_t>(1, a.k() / s.step * x.in_step),
                       k = a.k() / s.step * x.in_step / count;
    const std::int64_t run = s.sums[q].run / s.step * x.in_step;
    const auto add = [&](const model::Replay& replay, std::int64_t at, std::int64_t length, std::vector<float>& to) {
      const auto offset = static_cast<std::size_t>((piece * k + at) * model::storage_bytes(s.low));
      model::multiply(engine, replay, m, n, length, x.a.data() + offset, ld, x.b.data() + offset, ld, to.data(),
                      to.data(), ldc);
    };
    std::vector<float> sum = zero;
    if (s.sums[q].carry != Carry::none) {
      // Run by run, each inside the engine from what rounding took of the addition before; `sum` is what lies outside.
      std::vector<float> rest = zero;
      for (std::int64_t at = 0; at < k; at += run) {
        add({}, at, run, rest);
        for (std::size_t i = 0; i < sum.size(); ++i)
          s.sums[q].carry == Carry::exact ? two_sum(sum[i], rest[i]) : fast_two_sum(sum[i], rest[i]);
      }
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = compensated_end(sum[i], rest[i], t.empty() ? 0.0f : t[i]);
      t = sum;
      continue;
    }
    add({.run = run}, 0, k, sum);
    if (t.empty())
      t = sum;
    else
      for (std::size_t i = 0; i < t.size(); ++i)
        t[i] = std::fma(t[i], float_power_of_two(s.sums[q].shift - s.sums[q + 1].shift), sum[i]);
  }
  return t;
}

}  // namespace

const model::NamedEngine& engine_of(const Scheme& s) {
  return model::find_engine(std::string("hopper-wgmma-") + model::to_string(s.low) + "-fp32");
}

void multiply(const Scheme& s, const model::Engine& engine, Op opa, Op opb, std::int64_t m, std::int64_t n,
              std::int64_t k, const float* A, std::int64_t lda, const float* B, std::int64_t ldb, float* C,
              std::int64_t ldc, int split_k) {
  check_engine(s, engine);
  check_sizes("split", opa, opb, {m, n, k}, lda, ldb, ldc);
  require(split_k >= 1, "split: split_k = {}: expected at least 1", split_k);
  const bool a_by_k = opa != Op::none, b_by_k = opb == Op::none;
  const Vectors rows{A, m, k, a_by_k ? lda : 1, a_by_k ? 1 : lda};
  const Vectors columns{B, n, k, b_by_k ? ldb : 1, b_by_k ? 1 : ldb};

  std::int64_t unit = s.step;  // a piece of k holds whole runs of every sum
  for (const Sum& sum : s.sums) unit = std::max<std::int64_t>(unit, sum.run);
  unit *= split_k;
  const std::int64_t padded = (k + unit - 1) / unit * unit;
  const Parts a(s, rows, padded), b(s, columns, padded);

  std::vector<float> total;
  for (int piece = 0; piece < split_k; ++piece) {
    const std::vector<float> t = sum_of_piece(s, engine, a, b, piece, split_k);
    if (piece == 0)
      total = t;
    else
      std::transform(total.begin(), total.end(), t.begin(), total.begin(), std::plus<float>());
  }
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < m; ++i) {
      float t = total[static_cast<std::size_t>(i + j * m)];
      const auto ui = static_cast<std::size_t>(i), uj = static_cast<std::size_t>(j);
      if (s.scaled)
        t = a.finite[ui] && b.finite[uj] ? unscale(t, -a.scales[ui] - b.scales[uj]) : conventional(rows, columns, i, j);
      C[i + j * ldc] = t;
    }
}

#if !VERNIER_HAS_CUDA
void multiply_on_gpu(const Scheme&, Op, Op, std::int64_t, std::int64_t, std::int64_t, float, const float*, std::int64_t,
                     const float*, std::int64_t, float, float*, std::int64_t, void*, bool) {
  fail(Status::unsupported, "split: this library was built without CUDA");
}
#endif

}  // namespace vernier::split
