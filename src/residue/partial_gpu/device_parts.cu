#include "residue/partial_gpu/device_parts.hpp"

#include <algorithm>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "base/instantiate.hpp"
#include "cuda/device.hpp"
#include "cuda/nccl.hpp"
#include "product/device_memory.hpp"
#include "residue/partial_gpu/device_block.hpp"
#include "residue/partial_gpu/part_kernels.hpp"

namespace vernier {
namespace {

using namespace cuda;

// Numbers of the host in device memory.
template <class Number>
class DeviceList {
 public:
  DeviceList(std::span<const Number> list, cudaStream_t stream)
      : memory_(std::max<std::size_t>(1, list.size_bytes()), stream) {
    if (!list.empty())
      check(cudaMemcpyAsync(memory_.data(), list.data(), list.size_bytes(), cudaMemcpyHostToDevice, stream),
            "copy of indices and scales");
  }
  const Number* data() const { return reinterpret_cast<const Number*>(memory_.data()); }

 private:
  DeviceWorkspace memory_;
};

// A matrix of the device in memory of the host: columns of so many bytes, some bytes apart.
class HostCopy {
 public:
  HostCopy(const void* device, std::size_t column_bytes, std::size_t step, std::int64_t columns, cudaStream_t stream)
      : device_(device),
        column_(column_bytes),
        step_(step),
        columns_(static_cast<std::size_t>(columns)),
        stream_(stream) {
    data_.resize(columns_ == 0 ? 0 : step_ * (columns_ - 1) + column_);
    copy(data_.data(), device_, cudaMemcpyDeviceToHost);
  }
  std::byte* data() { return data_.data(); }
  void store() const { copy(const_cast<void*>(device_), data_.data(), cudaMemcpyHostToDevice); }

 private:
  void copy(void* to, const void* from, cudaMemcpyKind kind) const {
    if (columns_ == 0 || column_ == 0) return;
    check(cudaMemcpy2DAsync(to, step_, from, step_, column_, columns_, kind, stream_), "copy of a part");
    check(cudaStreamSynchronize(stream_), "copy of a part");
  }

  const void* device_;
  std::size_t column_, step_, columns_;
  cudaStream_t stream_;
  std::vector<std::byte> data_;
};

std::int64_t words_of_round(ScanRound round, std::int64_t k) {
  return round == ScanRound::extremes ? extreme_words
         : round == ScanRound::sums   ? sum_words
         : round == ScanRound::depths ? depth_words
                                      : span_words(k);
}

// A vector's words into those of the message.
void merge(const RoundMessage& message, std::int64_t vector, std::span<const std::int64_t> words) {
  const auto count = static_cast<std::int64_t>(words.size());
  const std::int64_t place = message.step.round == ScanRound::depths
                                 ? message.side.deep_places[static_cast<std::size_t>(vector)]
                                 : message.offset + vector - message.step.first;
  std::int64_t* const to = (message.step.round == ScanRound::extremes ? message.maxima : message.sums) + count * place;
  for (std::int64_t w = 0; w < count; ++w) {
    const std::int64_t word = words[static_cast<std::size_t>(w)];
    message.step.round == ScanRound::extremes ? raise(to[w], word) : static_cast<void>(to[w] += word);
  }
}

DeviceElements elements_of(const ElementView<const std::byte>& x) {
  const auto bytes = static_cast<std::int64_t>(x.bytes), far = bytes * x.ld;
  return {x.data, x.k_contiguous ? far : bytes, x.k_contiguous ? bytes : far};
}

WordFormat format_of(const PassData& pass) {
  return {pass.layout, pass.layout.moduli > 0 ? limbs_of(pass) : 0, pass.specials};
}

template <class List>
auto chosen(const List& of_all, const std::int64_t* indices, std::int64_t count) {
  std::vector<std::remove_cv_t<typename List::value_type>> list;
  for (std::int64_t i = 0; i < count; ++i) list.push_back(of_all[static_cast<std::size_t>(indices[i])]);
  return list;
}

template <class T>
class PartsOnDevice final : public DeviceParts<T> {
 public:
  explicit PartsOnDevice(cudaStream_t stream) : stream_(stream) { find_device_int8_engine(""); }

  void scan(const PartView<T>& view, const RoundMessage& message) const override {
    std::vector<std::int64_t> vectors;
    std::vector<int> exponents;
    for (std::int64_t v = 0; v < view.vectors(); ++v)
      if (message.concerns(view.vector(v))) {
        vectors.push_back(v);
        exponents.push_back(message.side.statistics[static_cast<std::size_t>(view.vector(v))].exponent);
      }
    if (vectors.empty() || view.ks() == 0) return;
    std::vector<std::int64_t> ks;
    for (std::int64_t l = 0; l < view.ks(); ++l) ks.push_back(view.k_at(l));
    const DeviceList<std::int64_t> on_device(vectors, stream_), k_indices(ks, stream_);
    const DeviceList<int> largest(exponents, stream_);
    const std::int64_t each = words_of_round(message.step.round, message.k);
    std::vector<std::int64_t> words(static_cast<std::size_t>(each) * vectors.size());
    const DeviceWorkspace out(words.size() * sizeof(std::int64_t), stream_);
    check(cudaMemsetAsync(out.data(), 0, out.bytes(), stream_), "zeros for a scan");
    const std::int64_t ldx = view.part.ldx;
    scan_vectors<T>({.part = {view.part.X, view.vectors_are_rows ? 1 : ldx, view.vectors_are_rows ? ldx : 1, view.ks()},
                     .round = message.step.round,
                     .count = std::ssize(vectors),
                     .vectors = on_device.data(),
                     .exponents = largest.data(),
                     .k_indices = k_indices.data(),
                     .words = each,
                     .out = reinterpret_cast<std::int64_t*>(out.data())},
                    stream_);
    check(cudaMemcpyAsync(words.data(), out.data(), out.bytes(), cudaMemcpyDeviceToHost, stream_), "a scan");
    check(cudaStreamSynchronize(stream_), "a scan");
    for (std::size_t i = 0; i < vectors.size(); ++i)
      merge(message, view.vector(vectors[i]),
            std::span(words).subspan(i * static_cast<std::size_t>(each), static_cast<std::size_t>(each)));
  }

  void convert(const PassData& pass, Side side, const PartView<T>& view, bool conjugated, std::byte* elements,
               std::int64_t ld) const override {
    if (view.vectors() == 0 || view.ks() == 0) return;
    if (pass.layout.moduli == 0) return convert_by_host(pass, view, conjugated, elements, ld);
    const MatrixPart<const T>& part = view.part;
    const DeviceList<int> scales(
        chosen(pass.scales_of(side), view.vectors_are_rows ? part.rows : part.columns, view.vectors()), stream_);
    convert_entries<T>({.x = part.X,
                        .ldx = part.ldx,
                        .rows = part.row_count,
                        .columns = part.column_count,
                        .vectors_are_rows = view.vectors_are_rows,
                        .conjugated = conjugated,
                        .left = side == Side::left,
                        .scales = scales.data(),
                        .narrow = pass.narrow,
                        .limbs = pass.limbs,
                        .specials = pass.specials,
                        .moduli = pass.layout.moduli,
                        .bytes = static_cast<std::int64_t>(pass.layout.bytes()),
                        .ld = ld,
                        .elements = elements},
                       stream_);
  }

  void multiply(const PassData& pass, const ElementProduct& p) const override {
    if (pass.layout.moduli == 0) return multiply_by_host(pass, p);
    const std::size_t vectors = pass.specials ? static_cast<std::size_t>(p.m + p.n) : 1;
    const DeviceWorkspace marks(vectors, stream_);  // before C is written to
    BlockProduct(pass, p, stream_).run();
    if (!pass.specials) return;
    auto* const special = reinterpret_cast<std::uint8_t*>(marks.data());
    add_classes({.a = elements_of(p.a),
                 .b = elements_of(p.b),
                 .m = p.m,
                 .n = p.n,
                 .k = p.k,
                 .special_rows = special,
                 .special_columns = special + p.m,
                 .layout = pass.layout,
                 .c = p.c,
                 .ld = p.ldc},
                stream_);
  }

  void add(const PassData& pass, std::int64_t count, const std::byte* from, std::byte* to) const override {
    if (count == 0) return;
    if (pass.layout.moduli > 0) return add_residues(pass.layout, count, from, to, stream_);
    HostCopy terms = elements(pass, from, count), sums = elements(pass, to, count);
    add_elements(pass, count, terms.data(), sums.data());
    sums.store();
  }

  void to_words(const PassData& pass, std::int64_t count, const std::byte* from, std::int64_t* words) const override {
    if (count == 0) return;
    if (pass.layout.moduli > 0) return make_words(format_of(pass), count, from, words, stream_);
    HostCopy sums = elements(pass, from, count), made = words_of(pass, words, count);
    elements_to_words(pass, count, sums.data(), reinterpret_cast<std::int64_t*>(made.data()));
    made.store();
  }

  void from_words(const PassData& pass, std::int64_t count, const std::int64_t* words, std::byte* to) const override {
    if (count == 0) return;
    if (pass.layout.moduli > 0) return read_words(format_of(pass), count, words, to, stream_);
    HostCopy given = words_of(pass, words, count), made = elements(pass, to, count);
    words_to_elements(pass, count, reinterpret_cast<const std::int64_t*>(given.data()), made.data());
    made.store();
  }

  void finish(const Finish<T>& f) const override {
    if (f.exact) return finish_by_host(f);
    const bool two = f.passes.size() > 1;
    std::optional<DeviceList<VectorProof>> rows, columns;
    if (two) {
      rows.emplace(chosen(f.row_proofs, f.c.rows, f.c.row_count), stream_);
      columns.emplace(chosen(f.column_proofs, f.c.columns, f.c.column_count), stream_);
    }
    std::deque<DeviceList<int>> scales;  // all memory is there before C is written to
    for (const PassData& pass : f.passes) {
      scales.emplace_back(chosen(pass.scales_of(Side::left), f.c.rows, f.c.row_count), stream_);
      scales.emplace_back(chosen(pass.scales_of(Side::right), f.c.columns, f.c.column_count), stream_);
    }
    for (std::size_t i = 0; i < f.passes.size(); ++i)
      finish_entries<T>({.layout = f.passes[i].layout,
                         .elements = f.elements[i],
                         .ld = f.ld,
                         .rows = f.c.row_count,
                         .columns = f.c.column_count,
                         .row_scales = scales[2 * i].data(),
                         .column_scales = scales[2 * i + 1].data(),
                         .row_proofs = two ? rows->data() : nullptr,
                         .column_proofs = two ? columns->data() : nullptr,
                         .ordinary = f.passes[i].ordinary,
                         .out = {f.alpha, f.beta, f.c.X, f.c.ldx}},
                        stream_);
  }

  void scale(T beta, const MatrixPart<T>& c, Rounding rounding) const override {
    HostCopy copy = part_of(c);
    MatrixPart<T> part = c;
    part.X = reinterpret_cast<T*>(copy.data());
    scale_part(beta, part, rounding);
    copy.store();
  }

  std::shared_ptr<std::byte> memory(std::size_t bytes) const override {
    const auto own = std::make_shared<DeviceWorkspace>(std::max<std::size_t>(1, bytes), stream_);
    return {own, own->data()};
  }

  void sum_over_ranks(void* communicator, int most, std::int64_t* words, std::size_t count) const override {
    cuda::sum_over_ranks(communicator, most, words, count, stream_);
  }

 private:
  // ---- by way of the host: columns of a matrix, or `count` in a row ----
  template <class Entry>
  HostCopy part_of(const MatrixPart<Entry>& x) const {
    return {x.X, sizeof(T) * static_cast<std::size_t>(x.row_count), sizeof(T) * static_cast<std::size_t>(x.ldx),
            x.column_count, stream_};
  }
  HostCopy matrix(std::size_t bytes, const std::byte* x, std::int64_t rows, std::int64_t columns,
                  std::int64_t ld) const {
    return {x, bytes * static_cast<std::size_t>(rows), bytes * static_cast<std::size_t>(ld), columns, stream_};
  }
  HostCopy operand(const ElementView<const std::byte>& x, std::int64_t vectors, std::int64_t k) const {
    return matrix(x.bytes, x.data, x.k_contiguous ? k : vectors, x.k_contiguous ? vectors : k, x.ld);
  }
  HostCopy elements(const PassData& pass, const std::byte* x, std::int64_t count) const {
    return matrix(pass.layout.bytes(), x, count, 1, count);
  }
  HostCopy words_of(const PassData& pass, const std::int64_t* x, std::int64_t count) const {
    return matrix(sizeof(std::int64_t) * element_words(pass), reinterpret_cast<const std::byte*>(x), count, 1, count);
  }

  void convert_by_host(const PassData& pass, const PartView<T>& view, bool conjugated, std::byte* to,
                       std::int64_t ld) const {
    HostCopy entries = part_of(view.part),
             made = matrix(pass.layout.bytes(), to, view.part.row_count, view.part.column_count, ld);
    PartView<T> on_host = view;
    on_host.part.X = reinterpret_cast<const T*>(entries.data());
    convert_digits(pass, on_host, conjugated, made.data(), ld);
    made.store();
  }

  void multiply_by_host(const PassData& pass, const ElementProduct& p) const {
    HostCopy a = operand(p.a, p.m, p.k), b = operand(p.b, p.n, p.k), c = matrix(p.a.bytes, p.c, p.m, p.n, p.ldc);
    ElementProduct on_host = p;
    on_host.a.data = a.data(), on_host.b.data = b.data(), on_host.c = c.data();
    multiply_digits(pass, on_host);
    if (pass.specials) multiply_classes(pass, on_host);
    c.store();
  }

  void finish_by_host(const Finish<T>& f) const {
    HostCopy sums = matrix(f.passes[0].layout.bytes(), f.elements[0], f.c.row_count, f.c.column_count, f.ld);
    HostCopy c = part_of(f.c);
    const std::byte* on_host[] = {sums.data()};
    Finish<T> finish = f;
    finish.elements = on_host;
    finish.c.X = reinterpret_cast<T*>(c.data());
    finish_part(finish);
    c.store();
  }

  cudaStream_t stream_;
};

}  // namespace

template <class T>
std::unique_ptr<DeviceParts<T>> device_parts(void* stream) {
  return std::make_unique<PartsOnDevice<T>>(static_cast<cudaStream_t>(stream));
}

#define VERNIER_INSTANTIATE(T) template std::unique_ptr<DeviceParts<T>> device_parts(void*);
VERNIER_EACH_TYPE(VERNIER_INSTANTIATE)

}  // namespace vernier
