// Products by residues on a GPU, as kernels that are queued one behind the other: statistics and scales, residues,
// products modulo each p, C. What a product needs is decided by those who call this; the kinds of products are options:
// blocks, Strassen-Winograd, contract exact, operands that are prepared, batches, complex numbers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "cuda/device.hpp"
#include "product/operand_blocks.hpp"
#include "product/sides.hpp"
#include "residue/convert/complex_root.hpp"
#include "residue/convert/convert.hpp"
#include "residue/convert/winograd_cuda.hpp"
#include "residue/exact/exact_cuda.hpp"
#include "residue/gemm_cuda.hpp"
#include "residue/residues.hpp"
#include "vernier/level3.hpp"

namespace vernier::cuda {

// Residues of an operand that were made before, a block of k behind the other; none: they are made by the pass.
struct ReadyPlanes {
  std::uint8_t* data = nullptr;
  std::size_t bytes_a_block = 0;
};

// FilledPieces of residues that a pass makes, cleared, where their zeros are not multiplied; and the share of
// operations that is left, about.
struct PassPieces {
  Sides<std::uint32_t*> of = {};
  double share = 1;
};

// A pass over C: what is queued, with which scales, behind which gates.
struct ChainPass {
  DevicePass pass;
  DevicePassBuffers buffers = {};
  Sides<int*> scales = {};
  bool specials = false;      // NaN and infinities may be about
  bool usual = false;         // a gate of its conversion is open for most data
  bool device_words = false;  // the device chooses the words of elements, too: conversion opens for each number of them
  Gate conversion = {}, products = {}, recombination = {};
  Gate uniform = {};       // of a faster recombination, for products of which every entry is finite and ordinary
  bool converted = false;  // the residues of all of C are there ...
  int multiplied = 0;      // ... and its products modulo the first of the moduli
  Sides<ReadyPlanes> ready = {};
  const std::int8_t* balance = nullptr;  // of residues that the pass makes
  PassPieces filled = {};
  const int* asymmetric = nullptr;  // in device memory: where it is 0, C is symmetric
};

// What passes have in common. Pointers are to device memory.
template <class T>
struct ChainData {
  Sides<DeviceVectors> vectors = {};
  Sides<std::int64_t> product_stride = {};  // of a batch: elements from one product's operand to the next one's
  std::int64_t product_stride_c = 0;
  DeviceOpenCounts* open_counts = nullptr;           // contract exact
  Rounding rounding = Rounding::nearest;             // contract exact
  const DeviceComplexBuffers<T>* complex = nullptr;  // vectors of 2k real numbers are k complex ones
  Sides<bool> conjugated = {};
};

template <class T>
class ResidueChain {
 public:
  ResidueChain(const DeviceInt8Engine& engine, const DeviceResidueProblem<T>& problem, const ChainData<T>& data,
               cudaStream_t stream)
      : engine_(engine), problem_(problem), data_(data), stream_(stream) {}

  ProductShape shape() const { return {problem_.a.vectors, problem_.b.vectors, problem_.a.k}; }

  ConversionForm form(const DevicePass& pass) const {
    return {.moduli = pass.blocking.moduli,
            .words = pass.words,
            .form = engine_.form(),
            .list = list(),
            .clusters = takes_later_kernels(),
            .products = pass.blocking.form.products};
  }

  // The same where statistics are measured: products, whose memory is free until then, follow.
  ConversionForm measuring_form(const ChainPass& p) const {
    ConversionForm as = form(p.pass);
    as.meeting = {reinterpret_cast<std::byte*>(p.buffers.c), p.buffers.c_bytes};
    return as;
  }

  // The operands with their statistics and scales, which measuring writes; and where their residues go, if anywhere.
  Sides<DeviceOperand<T>> operands(const Sides<std::uint8_t*>& planes = {}) const {
    const auto operand = [&](const Operand<T>& x, Side side) {
      const DeviceVectors& v = data_.vectors[side];
      return DeviceOperand<T>{x, v.statistics, v.scales, planes[side], data_.product_stride[side]};
    };
    return {operand(problem_.a, Side::left), operand(problem_.b, Side::right)};
  }

  // Everything behind the scales.
  void run(const ChainPass& p) const {
    const ProductShape s = shape();
    const DeviceBlocking& blocks = p.pass.blocking;
    const bool keep_a = s.k <= blocks.k_block;  // the planes of A then serve all blocks of columns
    for (std::int64_t i = 0; i < s.m; i += blocks.m_block) {
      const Range rows{i, std::min(blocks.m_block, s.m - i)};
      for (std::int64_t j = 0; j < s.n; j += blocks.n_block) {
        const Range columns{j, std::min(blocks.n_block, s.n - j)};
        if (blocks.form.exact && !p.converted) clear_open_counts();
        for (std::int64_t l = 0; l < s.k; l += blocks.k_block) {
          const Range ks{l, std::min(blocks.k_block, s.k - l)};
          if (!p.converted) decompose(p, {rows.begin, keep_a && j > 0 ? 0 : rows.count}, columns, ks);
          multiply(p, rows, columns, ks, {p.multiplied, blocks.moduli - p.multiplied});
        }
        finish(p, rows, columns);
      }
    }
  }

  // The first products modulo some of the moduli, of a C that is one block whose residues are there.
  void multiply_first(const ChainPass& p, int moduli) const {
    const ProductShape s = shape();
    multiply(p, {0, s.m}, {0, s.n}, {0, s.k}, {0, moduli});
  }

 private:
  ModuliList list() const { return data_.complex != nullptr ? ModuliList::with_root : ModuliList::densest; }

  void clear_open_counts() const {
    constexpr std::size_t counts_of_a_block = offsetof(DeviceOpenCounts, total_open);
    check(cudaMemsetAsync(data_.open_counts, 0, counts_of_a_block, stream_), "open entries");
  }

  static std::uint8_t* planes(const ChainPass& p, Side side, std::int64_t k_begin) {
    const ReadyPlanes& ready = p.ready[side];
    if (ready.data == nullptr) return side == Side::left ? p.buffers.a : p.buffers.b;
    return ready.data + static_cast<std::size_t>(k_begin / p.pass.blocking.k_block) * ready.bytes_a_block;
  }

  void decompose(const ChainPass& p, Range rows, Range columns, Range ks) const {
    for (const auto& [ready, vectors] : {std::pair{&p.ready.a, &rows}, {&p.ready.b, &columns}})
      if (ready->data != nullptr) vectors->count = 0;
    if (rows.count == 0 && columns.count == 0) return;
    const auto part = [&](Side side, Range vectors) {
      return part_of(balanced(side == Side::left ? problem_.a : problem_.b, side, p.balance), vectors, ks);
    };
    DeviceOperand<T> a{part(Side::left, rows), nullptr, p.scales.a + rows.begin, planes(p, Side::left, ks.begin)},
        b{part(Side::right, columns), nullptr, p.scales.b + columns.begin, planes(p, Side::right, ks.begin)};
    a.filled_planes = p.filled.of.a, b.filled_planes = p.filled.of.b;
    ConversionForm as = form(p.pass);
    as.seldom = !p.usual;
    const auto convert = [&](const Gate& gate) {
      p.pass.blocking.form.strassen ? decompose_winograd_on_device(a, b, as, stream_, gate)
                                    : decompose_on_device(a, b, as, stream_, gate);
    };
    if (!p.device_words) return convert(p.conversion);
    const auto convert_words = [&](int words) {
      as.words = words;
      convert({p.conversion.word, conversion_of(as.moduli, words)});
    };
    if (!p.pass.every_entry) return convert_words(few_route_words), convert_words(many_route_words);
    for (const int words : bound_route_words)
      if (words < many_route_words || as.moduli >= least_moduli_of_many_words) convert_words(words);
  }

  void multiply(const ChainPass& p, Range rows, Range columns, Range ks, Range moduli) const {
    if (moduli.count == 0) return;
    if (data_.complex != nullptr) return multiply_complex(p);
    const DeviceBlocking& blocking = p.pass.blocking;
    const bool strassen = blocking.form.strassen;
    const int products = strassen ? winograd_products : blocking.form.products;
    const std::int64_t m = plane_vectors(rows.count, strassen), n = plane_vectors(columns.count, strassen),
                       pitch = plane_pitch(ks.count, strassen);
    engine_.multiply({.rows = planes(p, Side::left, ks.begin) + moduli.begin * m * pitch,
                      .columns = planes(p, Side::right, ks.begin) + moduli.begin * n * pitch,
                      .m = m,
                      .n = n,
                      .pitch = pitch,
                      .moduli = static_cast<int>(moduli.count),
                      .first = static_cast<int>(moduli.begin),
                      .products = products,
                      .factor = residue_system(blocking.moduli).row_factor,
                      .accumulate = ks.begin > 0,
                      .out = p.buffers.c + moduli.begin * product_units(m, n).plane_bytes(),
                      .gate = p.products,
                      .seldom = seldom(p),
                      .wanted = wanted(p.pass, rows, columns),
                      .filled = {p.filled.of.a, p.filled.of.b, static_cast<int>(piece_words(ks.count))},
                      .filled_share = p.filled.share,
                      .scratch = p.buffers.sums,
                      .steps = p.buffers.steps,
                      .asymmetric = half_of_all(p)},
                     stream_);
  }

  // By two products modulo each p with a root of -1, whose halves are c / 2 times the factor of the recombination.
  void multiply_complex(const ChainPass& p) const {
    const DeviceComplexBuffers<T>& w = *data_.complex;
    const ProductShape s{problem_.a.vectors, problem_.b.vectors, problem_.a.k / 2};
    const int moduli = p.pass.blocking.moduli;
    const int* irregular = p.products.word;
    pair_on_device({moduli, s.m, s.k, data_.conjugated.a, w.parts.a, w.plus.a, w.minus.a, irregular}, stream_);
    pair_on_device({moduli, s.n, s.k, data_.conjugated.b, w.parts.b, w.plus.b, w.minus.b, irregular}, stream_);
    DeviceInt8Product product{.rows = w.plus.a,
                              .columns = w.plus.b,
                              .m = s.m,
                              .n = s.n,
                              .pitch = device_pitch(s.k),
                              .moduli = moduli,
                              .list = list(),
                              .out = w.c_plus,
                              .gate = p.products,
                              .steps = w.steps};
    for (int q = 0; q < moduli; ++q) {
      const auto i = static_cast<std::size_t>(q);
      const int modulus = modulus_of(list(), q);
      product.factor[i] = multiply_mod(residue_system(moduli, list()).row_factor[i], (modulus + 1) / 2, modulus);
    }
    engine_.multiply(product, stream_);
    product.rows = w.minus.a, product.columns = w.minus.b, product.out = w.c_minus;
    engine_.multiply(product, stream_);
    part_on_device({moduli, s.m, s.n, w.c_plus, w.c_minus, w.c, irregular}, stream_);
    double_on_device(s.m, p.scales.a, w.row_scales, stream_);
  }

  // The entries that the recombination will write. With Strassen-Winograd a row of a plane stands for two of C.
  EntryFilter wanted(const DevicePass& pass, Range rows, Range columns) const {
    constexpr std::int64_t group = EntryFilter::group;
    if (pass.every_entry || pass.blocking.form.strassen || rows.begin % group != 0 || columns.begin % group != 0)
      return {};
    const Sides<DeviceVectors>& v = data_.vectors;
    return {v.a.group_proofs + rows.begin / group, v.b.group_proofs + columns.begin / group, pass.ordinary};
  }

  void finish(const ChainPass& p, Range rows, Range columns) const {
    if (p.pass.blocking.form.exact) return round(p, rows, columns);
    if (p.pass.blocking.form.strassen) return recombine_winograd(p, rows, columns);
    recombine_on_device(recombination(p, rows, columns), stream_);
    if (p.uniform.word == nullptr) return;
    ChainPass all = p;
    all.pass.every_entry = true;
    all.specials = false;
    all.recombination = p.uniform;
    recombine_on_device(recombination(all, rows, columns), stream_);
  }

  static bool seldom(const ChainPass& p) { return p.conversion.word != nullptr && !p.usual; }

  // Of products that are made at once alone, and seldom in vain: closed kernels of half of C start all their blocks.
  const int* half_of_all(const ChainPass& p) const {
    const DeviceBlocking& blocks = p.pass.blocking;
    const bool plain = !blocks.form.strassen && !blocks.form.exact && blocks.form.products == 1 && !seldom(p);
    return plain && p.pass.every_entry && blocks.whole(shape()) ? p.asymmetric : nullptr;
  }

  void recombine_winograd(const ChainPass& p, Range rows, Range columns) const {
    const ProductUnits units = product_units(half_vectors(rows.count), half_vectors(columns.count));
    const auto part = [&](Range r, Range c, int quarter) {
      DeviceRecombination<T> task = recombination(p, r, c);
      task.residues += quarter * units.plane_bytes();
      task.units = units;
      task.plane_stride = winograd_products * units.plane_bytes();
      return task;
    };
    if constexpr (std::is_same_v<T, double>)
      if (recombine_winograd_on_device(part(rows, columns, 0), stream_)) return;
    // The products become quarters of C, which are recombined one by one.
    combine_winograd_on_device(p.buffers.c, p.pass.blocking.moduli, units.plane_bytes(), stream_, p.recombination);
    for (int quarter = 0; quarter < quarters; ++quarter) {
      const Range r = half_of(rows, quarter / 2), c = half_of(columns, quarter % 2);
      if (r.count > 0 && c.count > 0) recombine_on_device(part(r, c, quarter), stream_);
    }
  }

  DeviceRecombination<T> recombination(const ChainPass& p, Range rows, Range columns) const {
    const DevicePass& pass = p.pass;
    const int products = pass.blocking.form.products;
    const DeviceComplexBuffers<T>* complex = data_.complex;
    Sides<BlockSide<T>> side = block_of(p, rows, columns);
    if (complex != nullptr) side.a.scales = complex->row_scales;
    Sides<const VectorProof*> proofs;
    if (!pass.every_entry) proofs = {data_.vectors.a.proofs + rows.begin, data_.vectors.b.proofs + columns.begin};
    return {.moduli = pass.blocking.moduli,
            .list = list(),
            .residues = complex != nullptr ? complex->c : p.buffers.c,
            .plane_stride = products > 1 ? products * product_units(rows.count, columns.count).plane_bytes() : 0,
            .m = complex != nullptr ? 2 * rows.count : rows.count,  // real and imaginary parts are rows
            .n = columns.count,
            .side = side,
            .to = problem_.to.at(rows.begin, columns.begin),
            .products = products,
            .product_stride_c = data_.product_stride_c,
            .gate = p.recombination,
            .seldom = seldom(p),
            .specials = p.specials,
            .proofs = proofs,
            .ordinary = pass.ordinary,
            .asymmetric = half_of_all(p)};
  }

  // The operands of a block of C.
  Sides<BlockSide<T>> block_of(const ChainPass& p, Range rows, Range columns) const {
    const Range all{0, problem_.a.k};
    return {
        {part_of(problem_.a, rows, all), data_.vectors.a.statistics + rows.begin, p.scales.a + rows.begin},
        {part_of(problem_.b, columns, all), data_.vectors.b.statistics + columns.begin, p.scales.b + columns.begin}};
  }

  void round(const ChainPass& p, Range rows, Range columns) const {
    const auto lowest_bits = [](const DeviceVectors& v, Range range) {
      return DeviceLowestBitsLists{v.lowest_bits.counts + range.begin,
                                   v.lowest_bits.places + range.begin * kept_places};
    };
    const Sides<DeviceVectors>& v = data_.vectors;
    const DeviceExactBlock<T> block{.moduli = p.pass.blocking.moduli,
                                    .residues = p.buffers.c,
                                    .m = rows.count,
                                    .n = columns.count,
                                    .side = block_of(p, rows, columns),
                                    .errors = {v.a.errors + rows.begin, v.b.errors + columns.begin},
                                    .lowest_bits = {lowest_bits(v.a, rows), lowest_bits(v.b, columns)},
                                    .to = problem_.to.at(rows.begin, columns.begin),
                                    .rounding = data_.rounding,
                                    .specials = p.specials,
                                    .open = p.buffers.open,
                                    .counts = data_.open_counts};
    round_on_device(block, stream_);
    refine_open_entries(block, stream_);
    accumulate_on_device(block, stream_);
    if (p.specials) special_entries_on_device(block, stream_);
  }

  const DeviceInt8Engine& engine_;
  DeviceResidueProblem<T> problem_;
  ChainData<T> data_;
  cudaStream_t stream_;
};

}  // namespace vernier::cuda
