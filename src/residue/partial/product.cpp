// DistributedProduct: from the statistics of all parties to scales and passes.
#include <algorithm>
#include <cmath>
#include <type_traits>

#include "base/environment.hpp"
#include "base/status.hpp"
#include "number/digit_sum.hpp"
#include "product/arguments.hpp"
#include "residue/gemm.hpp"
#include "residue/partial/finish.hpp"
#include "residue/partial/scan.hpp"
#include "residue/plan/bounds.hpp"
#include "residue/scale/scale_search.hpp"
#include "residue/scale/wide_entries.hpp"
#include "vernier/distributed.hpp"

namespace vernier {
namespace {

constexpr const char* routine = "DistributedProduct";

void set_digits(PassData& pass, int exponent) {
  pass.narrow = exponent <= narrow_exponent;
  for (pass.limbs = 1; exponent > largest_exponent(pass.limbs);) ++pass.limbs;
}

// What each vector of one side asks, with spans, of all of the other.
std::vector<std::uint8_t> norm_bits(const ScannedSide& side) {
  std::vector<std::uint8_t> bits(static_cast<std::size_t>(side.stride), no_cost);
  for (std::size_t v = 0; v < side.statistics.size(); ++v)
    if (!side.statistics[v].zero()) bits[v] = norm_bits_of(side.statistics[v]);
  return bits;
}

struct Costs {
  std::vector<std::uint8_t> rows, columns;
};

template <class R>
Costs span_costs_of(const Scan& scan, std::int64_t k, const Int8Engine& engine) {
  const ScannedSide &a = scan.side(Side::left), &b = scan.side(Side::right);
  Costs costs{std::vector<std::uint8_t>(static_cast<std::size_t>(a.stride)),
              std::vector<std::uint8_t>(static_cast<std::size_t>(b.stride))};
  const std::vector<std::uint8_t> row_bits = norm_bits(a), column_bits = norm_bits(b);
  for (std::int64_t j = 0; j < b.count(); j += span_lanes)
    backend_of<R>(engine).span_costs({.a_deficits = a.deficits.data(),
                                      .b_deficits = b.deficits.data(),
                                      .a_stride = a.stride,
                                      .b_stride = b.stride,
                                      .blocks = span_blocks(k),
                                      .rows = a.count(),
                                      .row_norm_bits = row_bits.data(),
                                      .column_norm_bits = column_bits.data(),
                                      .row_costs = costs.rows.data(),
                                      .column_costs = costs.columns.data()},
                                     j);
  costs.rows.resize(static_cast<std::size_t>(a.count()));
  costs.columns.resize(static_cast<std::size_t>(b.count()));
  return costs;
}

}  // namespace

template <class T>
struct DistributedState {
  using R = RealType<T>;
  static constexpr int parts = parts_of_type<T>;

  Op opa, opb;
  std::int64_t m, n, k;
  Contract contract;
  int threads;
  const Int8Engine& engine;
  bool exact;
  ScalingRule rule;
  Scan scan;
  Scaling scaling;
  std::vector<VectorProof> row_proofs, column_proofs;
  std::vector<PassData> passes;

  DistributedState(Op a, Op b, std::int64_t rows, std::int64_t columns, std::int64_t inner, const Options& options)
      : opa(a),
        opb(b),
        m(rows),
        n(columns),
        k(inner),
        contract(options.contract),
        threads(usable_threads(options.threads)),
        engine(find_int8_engine(options.engine)),
        exact(contract.kind == Contract::Kind::exact),
        rule(scaling_rule<R>(contract, std::max<std::int64_t>(1, parts * k))),
        scan(m, n, parts * k, rule.componentwise && !exact) {
    if (scan.round() == ScanRound::done) choose();
  }

  bool conjugated(Side side) const { return (side == Side::left ? opa : opb) == Op::conjugate_transpose; }
  bool vectors_are_rows(Side side) const { return side == Side::left ? opa == Op::none : opb != Op::none; }
  PartView<T> view(Side side, const MatrixPart<const T>& part) const { return {part, vectors_are_rows(side)}; }

  const PassData& pass(int index) const {
    require(scan.round() == ScanRound::done, "{}: the scan is not complete: call combine() until scanning() is false",
            routine);
    require(index >= 0 && static_cast<std::size_t>(index) < passes.size(), "{}: pass = {}: expected 0 to {}", routine,
            index, passes.size() - 1);
    return passes[static_cast<std::size_t>(index)];
  }

  void combine() {
    const bool had_spans = scan.round() == ScanRound::spans;
    scan.combine();
    if (scan.round() != ScanRound::done) return;
    if (exact || !had_spans)
      choose();
    else
      choose_with_spans();
  }

  // From the statistics alone; where these leave entries wide, spans are asked for, if k allows.
  void choose() {
    if (m == 0 || n == 0 || k == 0) return;
    if (exact) return choose_exact();
    scale({}, {});
    if (scaling.any_wide && parts * k <= longest_spanned_k) return scan.want_spans();
    make_passes();
  }

  void choose_with_spans() {
    const Costs costs = span_costs_of<R>(scan, parts * k, engine);
    scale(costs.rows, costs.columns);
    make_passes();
  }

  void scale(BlockCosts row_costs, BlockCosts column_costs) {
    const ScannedSide &a = scan.side(Side::left), &b = scan.side(Side::right);
    row_proofs.resize(static_cast<std::size_t>(m));
    column_proofs.resize(static_cast<std::size_t>(n));
    scaling =
        choose_scales(rule, parts * k, a.statistics, b.statistics, row_proofs, column_proofs, row_costs, column_costs);
  }

  void make_passes() {
    if (scaling.any_ordinary) add_pass(ordinary_moduli<R>(contract, parts * k), rule.largest_exponent, true);
    if (!scaling.any_wide) return;
    const int count = moduli_for(scaling.wide_log2);
    if (count == 0 || scaling.wide_exponent > largest_exponent(max_limbs))
      fail_beyond_scheme(contract, scan.widest_span(Side::left), scan.widest_span(Side::right));
    add_pass(count, scaling.wide_exponent, false);
  }

  PassData& add_pass(int moduli, int exponent, bool ordinary) {
    PassData& pass = passes.emplace_back();
    pass.layout = {.parts = parts, .moduli = moduli};
    set_digits(pass, exponent);
    pass.ordinary = ordinary;
    pass.specials = scan.nonfinite();
    pass.engine = &engine;
    pass.threads = threads;
    const auto scales_of = [&](const std::vector<VectorProof>& proofs) {
      std::vector<int> scales;
      for (const VectorProof& p : proofs) scales.push_back(ordinary ? p.ordinary : p.wide);
      return scales;
    };
    pass.scales = {scales_of(row_proofs), scales_of(column_proofs)};
    if (moduli > 0) pass.tables = std::make_shared<RecombineTables>(residue_system(moduli));
    return pass;
  }

  // One vector of a side: largest exponents of scaled elements, and the norm, where all elements become integers.
  struct IntegerNeeds {
    int exponent = 0;
    double norm = 0;  // log2
    int lowest = 0, highest = 0;
    bool any = false;
  };

  IntegerNeeds make_integers(const ScannedSide& side, std::vector<VectorProof>& proofs) const {
    proofs.assign(side.statistics.size(), {.proofs = proof_sets - 1});
    IntegerNeeds needs;
    for (std::size_t v = 0; v < proofs.size(); ++v) {
      const VectorStatistics& s = side.statistics[v];
      if (s.zero()) continue;
      const int lowest = side.lowest_bits[v], exponent = s.exponent - lowest;
      proofs[v].ordinary = -lowest;
      needs.exponent = std::max(needs.exponent, exponent);
      needs.norm = std::max(needs.norm, norm_log2(s, parts * k, exponent));
      needs.lowest = needs.any ? std::min(needs.lowest, lowest) : lowest;
      needs.highest = needs.any ? std::max(needs.highest, s.exponent) : s.exponent;
      needs.any = true;
    }
    return needs;
  }

  // All elements become integers: the sums are exact, and one rounding is left.
  void choose_exact() {
    const IntegerNeeds a = make_integers(scan.side(Side::left), row_proofs);
    const IntegerNeeds b = make_integers(scan.side(Side::right), column_proofs);
    const int exponent = std::max(a.exponent, b.exponent), count = moduli_for(a.norm + b.norm);
    if (count != 0 && exponent <= largest_exponent(max_limbs)) {
      add_pass(count, exponent, true);
      return;
    }
    PassData& pass = add_pass(0, 0, true);
    pass.layout.lowest = a.lowest + b.lowest;
    const int bits = a.highest + b.highest + 2 + std::bit_width(static_cast<std::uint64_t>(2 * k)) - pass.layout.lowest;
    pass.layout.digits = bits / digit_bits + 2;
  }

  void check_scalars(T alpha, T beta) const {
    if constexpr (parts == 2)
      if (exact && (alpha.imag() != 0 || beta.imag() != 0))
        fail(Status::unsupported, "{}: contract exact: for complex matrices it is kept where alpha and beta are real",
             routine);
  }
};

namespace {

void check_part(const char* name, const void* X, std::int64_t ldx, std::int64_t rows, std::int64_t columns) {
  require(rows >= 0 && columns >= 0, "{}: {}: a part of {} x {}: expected 0 or more", routine, name, rows, columns);
  check_leading(routine, "ldx", ldx, rows);
  check_pointer(routine, name, rows > 0 && columns > 0, X);
}

void check_indices(const char* name, const std::int64_t* indices, std::int64_t count, std::int64_t size) {
  check_pointer(routine, name, count > 0, indices);
  for (std::int64_t i = 0; i < count; ++i)
    require(indices[i] >= 0 && indices[i] < size, "{}: {}[{}] = {}: expected 0 to {}", routine, name, i, indices[i],
            size - 1);
}

template <class T>
void check(const char* name, const MatrixPart<T>& part, std::int64_t rows, std::int64_t columns) {
  check_part(name, part.X, part.ldx, part.row_count, part.column_count);
  check_indices("rows", part.rows, part.row_count, rows);
  check_indices("columns", part.columns, part.column_count, columns);
}

}  // namespace

template <class T>
DistributedProduct<T>::DistributedProduct(Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k,
                                          const Options& options) {
  check_shape(routine, opa, opb, m, n, k);
  check_options(routine, options);
  const Contract& c = options.contract;
  require(c.reproducible || c.kind == Contract::Kind::exact,
          "{}: contract {} promises no bits; expected {}+reproducible or exact", routine, c.text(), c.text());
  state_ = std::make_unique<DistributedState<T>>(opa, opb, m, n, k, options);
}
template <class T>
DistributedProduct<T>::~DistributedProduct() = default;
template <class T>
DistributedProduct<T>::DistributedProduct(DistributedProduct&&) noexcept = default;
template <class T>
DistributedProduct<T>& DistributedProduct<T>::operator=(DistributedProduct&&) noexcept = default;

template <class T>
bool DistributedProduct<T>::scanning() const {
  return state_->scan.round() != ScanRound::done;
}

template <class T>
void DistributedProduct<T>::scan(Side side, const MatrixPart<const T>& part) {
  DistributedState<T>& s = *state_;
  const bool rows = s.vectors_are_rows(side);
  const std::int64_t vectors = side == Side::left ? s.m : s.n;
  check(side == Side::left ? "A" : "B", part, rows ? vectors : s.k, rows ? s.k : vectors);
  s.scan.template add<T>(side, rows, part, s.threads);
}

template <class T>
std::span<std::int64_t> DistributedProduct<T>::maxima() {
  return state_->scan.maxima();
}
template <class T>
std::span<std::int64_t> DistributedProduct<T>::sums() {
  return state_->scan.sums();
}
template <class T>
void DistributedProduct<T>::refuse() {
  state_->scan.refuse();
}
template <class T>
void DistributedProduct<T>::combine() {
  const FloatingEnvironment environment;
  state_->combine();
}

template <class T>
int DistributedProduct<T>::passes() const {
  return static_cast<int>(state_->passes.size());
}
template <class T>
int DistributedProduct<T>::moduli(int pass) const {
  return state_->pass(pass).layout.moduli;
}
template <class T>
std::size_t DistributedProduct<T>::element_bytes(int pass) const {
  return state_->pass(pass).layout.bytes();
}
template <class T>
std::int64_t DistributedProduct<T>::wide_rows() const {
  return state_->scaling.wide_rows;
}
template <class T>
std::int64_t DistributedProduct<T>::wide_columns() const {
  return state_->scaling.wide_columns;
}

template <class T>
void DistributedProduct<T>::convert(int pass, Side side, const MatrixPart<const T>& part, std::byte* elements,
                                    std::int64_t ld) const {
  const DistributedState<T>& s = *state_;
  const PassData& data = s.pass(pass);
  if (data.layout.moduli > 0)
    convert_residues(data, side, s.view(side, part), s.conjugated(side), elements, ld);
  else
    convert_digits(data, s.view(side, part), s.conjugated(side), elements, ld);
}

template <class T>
void DistributedProduct<T>::multiply(int pass, Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k,
                                     const std::byte* A, std::int64_t lda, const std::byte* B, std::int64_t ldb,
                                     std::byte* C, std::int64_t ldc) const {
  if (m == 0 || n == 0 || k == 0) return;
  const PassData& data = state_->pass(pass);
  const std::size_t bytes = data.layout.bytes();
  const ElementProduct product{m, n, k, {A, lda, opa != Op::none, bytes}, {B, ldb, opb == Op::none, bytes}, C, ldc};
  data.layout.moduli > 0 ? multiply_residues(data, product) : multiply_digits(data, product);
  if (data.specials) multiply_classes(data, product);
}

template <class T>
void DistributedProduct<T>::partial(int pass, const MatrixPart<const T>& a, const MatrixPart<const T>& b, std::byte* C,
                                    std::int64_t ldc) const {
  const DistributedState<T>& s = *state_;
  const PartView<T> rows = s.view(Side::left, a), columns = s.view(Side::right, b);
  require(rows.ks() == columns.ks(), "{}: partial: parts of {} and {} k; expected the same", routine, rows.ks(),
          columns.ks());
  const std::size_t bytes = element_bytes(pass);
  const std::int64_t lda = std::max<std::int64_t>(1, a.row_count), ldb = std::max<std::int64_t>(1, b.row_count);
  std::vector<std::byte> left(bytes * static_cast<std::size_t>(lda * a.column_count));
  std::vector<std::byte> right(bytes * static_cast<std::size_t>(ldb * b.column_count));
  convert(pass, Side::left, a, left.data(), lda);
  convert(pass, Side::right, b, right.data(), ldb);
  multiply(pass, s.opa, s.opb, rows.vectors(), columns.vectors(), rows.ks(), left.data(), lda, right.data(), ldb, C,
           ldc);
}

template <class T>
void DistributedProduct<T>::add(int pass, std::int64_t count, const std::byte* from, std::byte* to) const {
  add_elements(state_->pass(pass), count, from, to);
}

template <class T>
std::size_t DistributedProduct<T>::words(int pass) const {
  return element_words(state_->pass(pass));
}
template <class T>
void DistributedProduct<T>::to_words(int pass, std::int64_t count, const std::byte* elements,
                                     std::int64_t* words) const {
  elements_to_words(state_->pass(pass), count, elements, words);
}
template <class T>
void DistributedProduct<T>::from_words(int pass, std::int64_t count, const std::int64_t* words,
                                       std::byte* elements) const {
  words_to_elements(state_->pass(pass), count, words, elements);
}

template <class T>
void DistributedProduct<T>::finish(const std::byte* const* elements, std::int64_t ld, T alpha, T beta,
                                   const MatrixPart<T>& c) const {
  const DistributedState<T>& s = *state_;
  check("C", c, s.m, s.n);
  if (c.row_count == 0 || c.column_count == 0) return;
  if (alpha == T{0} || s.k == 0) return scale_part(beta, c);
  s.check_scalars(alpha, beta);
  s.pass(0);
  finish_part(Finish<T>{s.passes, elements, ld, s.exact, s.row_proofs, s.column_proofs, alpha, beta, c});
}

template class DistributedProduct<float>;
template class DistributedProduct<double>;
template class DistributedProduct<std::complex<float>>;
template class DistributedProduct<std::complex<double>>;

}  // namespace vernier
