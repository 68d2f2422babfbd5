// DistributedProduct: what its functions check, and what they hand on.
#include "residue/partial/entry_integer.hpp"
#include "residue/partial/finish.hpp"
#include "residue/partial/state.hpp"
#include "residue/partial_gpu/device_product.hpp"
#include "vernier/distributed.hpp"

namespace vernier {
namespace {

constexpr const char* routine = distributed_routine;

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
void check_part(const char* name, const MatrixPart<T>& part, std::int64_t rows, std::int64_t columns) {
  check_part(name, part.X, part.ldx, part.row_count, part.column_count);
  check_indices("rows", part.rows, part.row_count, rows);
  check_indices("columns", part.columns, part.column_count, columns);
}

template <class T>
void check_operand(const DistributedState<T>& s, Side side, const MatrixPart<const T>& part) {
  require(side == Side::left || side == Side::right, "{}: side = {}: expected left or right", routine,
          static_cast<int>(side));
  const bool rows = s.vectors_are_rows(side);
  const std::int64_t vectors = side == Side::left ? s.m : s.n;
  check_part(side == Side::left ? "A" : "B", part, rows ? vectors : s.k, rows ? s.k : vectors);
}

template <class T>
void check_scanning(const DistributedState<T>& s) {
  require(s.scanning(), "{}: the scan is complete: no round is to come", routine);
}

void check_elements(std::int64_t count, const void* from, const void* to) {
  require(count >= 0, "{}: count = {}: expected 0 or more", routine, count);
  check_pointer(routine, "from", count > 0, from);
  check_pointer(routine, "to", count > 0, to);
}

template <class T>
std::unique_ptr<DistributedState<T>> checked_state(Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k,
                                                   const Options& options, const DeviceMemory* on_device) {
  check_shape(routine, opa, opb, m, n, k);
  check_options(routine, options);
  const Contract& c = options.contract;
  require(c.reproducible || c.kind == Contract::Kind::exact,
          "{}: contract {} promises no bits; expected {}+reproducible or exact", routine, c.text(), c.text());
  return std::make_unique<DistributedState<T>>(opa, opb, m, n, k, options,
                                               on_device != nullptr ? device_parts<T>(on_device->stream) : nullptr);
}

}  // namespace

template <class T>
DistributedProduct<T>::DistributedProduct(Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k,
                                          const Options& options)
    : state_(checked_state<T>(opa, opb, m, n, k, options, nullptr)) {}
template <class T>
DistributedProduct<T>::DistributedProduct(Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k,
                                          const Options& options, DeviceMemory memory)
    : state_(checked_state<T>(opa, opb, m, n, k, options, &memory)) {}
template <class T>
DistributedProduct<T>::~DistributedProduct() = default;
template <class T>
DistributedProduct<T>::DistributedProduct(DistributedProduct&&) noexcept = default;
template <class T>
DistributedProduct<T>& DistributedProduct<T>::operator=(DistributedProduct&&) noexcept = default;

template <class T>
bool DistributedProduct<T>::scanning() const {
  return state_->scanning();
}

template <class T>
void DistributedProduct<T>::scan(Side side, const MatrixPart<const T>& part) {
  DistributedState<T>& s = *state_;
  check_operand(s, side, part);
  check_scanning(s);
  if (s.parts_on_device) {
    if (s.scan.takes_entries()) s.parts_on_device->scan(s.view(side, part), s.scan.message(side));
    return;
  }
  s.scan.template add<T>(side, s.vectors_are_rows(side), part, s.threads, backend_of<RealType<T>>(s.engine).name);
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
  check_scanning(*state_);
  state_->combine();
}

template <class T>
bool DistributedProduct<T>::regular() const {
  const DistributedState<T>& s = *state_;
  return !scanning() && !s.scaling.any_wide && !s.scan.nonfinite();
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
  check_operand(s, side, part);
  check_leading(routine, "ld", ld, part.row_count);
  check_pointer(routine, "elements", part.row_count > 0 && part.column_count > 0, elements);
  if (s.parts_on_device)
    s.parts_on_device->convert(data, side, s.view(side, part), s.conjugated(side), elements, ld);
  else if (data.layout.moduli > 0)
    convert_residues(data, side, s.view(side, part), s.conjugated(side), elements, ld);
  else
    convert_digits(data, s.view(side, part), s.conjugated(side), elements, ld);
}

template <class T>
void DistributedProduct<T>::multiply(int pass, Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k,
                                     const std::byte* A, std::int64_t lda, const std::byte* B, std::int64_t ldb,
                                     std::byte* C, std::int64_t ldc) const {
  const PassData& data = state_->pass(pass);
  check_sizes(routine, opa, opb, {m, n, k}, lda, ldb, ldc);
  if (m == 0 || n == 0 || k == 0) return;
  for (const auto& [name, X] : {std::pair<const char*, const void*>{"A", A}, {"B", B}, {"C", C}})
    check_pointer(routine, name, true, X);
  const std::size_t bytes = data.layout.bytes();
  const ElementProduct product{m, n, k, {A, lda, opa != Op::none, bytes}, {B, ldb, opb == Op::none, bytes}, C, ldc};
  if (state_->parts_on_device) return state_->parts_on_device->multiply(data, product);
  if (data.layout.moduli == 0)
    multiply_digits(data, product);
  else
    goes_to_a_gpu(data, product) ? multiply_residues_by_gpu(data, product) : multiply_residues(data, product);
  if (data.specials) multiply_classes(data, product);
}

template <class T>
void DistributedProduct<T>::partial(int pass, const MatrixPart<const T>& a, const MatrixPart<const T>& b, std::byte* C,
                                    std::int64_t ldc) const {
  const DistributedState<T>& s = *state_;
  check_operand(s, Side::left, a);
  check_operand(s, Side::right, b);
  const PartView<T> rows = s.view(Side::left, a), columns = s.view(Side::right, b);
  require(rows.ks() == columns.ks(), "{}: partial: parts of {} and {} k; expected the same", routine, rows.ks(),
          columns.ks());
  const std::size_t bytes = element_bytes(pass);
  const std::int64_t lda = std::max<std::int64_t>(1, a.row_count), ldb = std::max<std::int64_t>(1, b.row_count);
  const std::shared_ptr<std::byte> left = s.memory(size_product({bytes, size_product({lda, a.column_count})})),
                                   right = s.memory(size_product({bytes, size_product({ldb, b.column_count})}));
  convert(pass, Side::left, a, left.get(), lda);
  convert(pass, Side::right, b, right.get(), ldb);
  multiply(pass, s.opa, s.opb, rows.vectors(), columns.vectors(), rows.ks(), left.get(), lda, right.get(), ldb, C, ldc);
}

template <class T>
void DistributedProduct<T>::add(int pass, std::int64_t count, const std::byte* from, std::byte* to) const {
  check_elements(count, from, to);
  const PassData& data = state_->pass(pass);
  state_->parts_on_device ? state_->parts_on_device->add(data, count, from, to) : add_elements(data, count, from, to);
}

template <class T>
std::size_t DistributedProduct<T>::words(int pass) const {
  return element_words(state_->pass(pass));
}
template <class T>
void DistributedProduct<T>::to_words(int pass, std::int64_t count, const std::byte* elements,
                                     std::int64_t* words) const {
  check_elements(count, elements, words);
  const PassData& data = state_->pass(pass);
  state_->parts_on_device ? state_->parts_on_device->to_words(data, count, elements, words)
                          : elements_to_words(data, count, elements, words);
}
template <class T>
void DistributedProduct<T>::from_words(int pass, std::int64_t count, const std::int64_t* words,
                                       std::byte* elements) const {
  check_elements(count, words, elements);
  const PassData& data = state_->pass(pass);
  state_->parts_on_device ? state_->parts_on_device->from_words(data, count, words, elements)
                          : words_to_elements(data, count, words, elements);
}
template <class T>
void DistributedProduct<T>::all_reduce(int pass, std::int64_t count, std::byte* elements, void* communicator) const {
  const DistributedState<T>& s = *state_;
  const PassData& data = s.pass(pass);
  check_elements(count, elements, elements);
  if (!s.parts_on_device)
    fail(Status::unsupported, "{}: all_reduce: NCCL sums in device memory alone; expected a DeviceMemory", routine);
  if (count == 0) return;
  const std::size_t words = size_product({element_words(data), static_cast<std::size_t>(count)});
  const std::shared_ptr<std::byte> memory = s.memory(size_product({words, sizeof(std::int64_t)}));
  auto* const sums = reinterpret_cast<std::int64_t*>(memory.get());
  s.parts_on_device->to_words(data, count, elements, sums);
  s.parts_on_device->sum_over_ranks(communicator, most_summed_parties, sums, words);
  s.parts_on_device->from_words(data, count, sums, elements);
}

template <class T>
void DistributedProduct<T>::finish(const std::byte* const* elements, std::int64_t ld, T alpha, T beta,
                                   const MatrixPart<T>& c) const {
  const DistributedState<T>& s = *state_;
  check_part("C", c, s.m, s.n);
  if (c.row_count == 0 || c.column_count == 0) return;
  if (alpha == T{0} || s.k == 0)
    return s.parts_on_device ? s.parts_on_device->scale(beta, c, s.contract.rounding)
                             : scale_part(beta, c, s.contract.rounding);
  s.check_scalars(alpha, beta);
  s.pass(0);
  check_leading(routine, "ld", ld, c.row_count);
  for (int i = 0; i < passes(); ++i) check_pointer(routine, "elements", true, elements[i]);
  const Finish<T> last{s.passes,     elements,        ld,    s.exact, s.contract.rounding,
                       s.row_proofs, s.column_proofs, alpha, beta,    c};
  s.parts_on_device ? s.parts_on_device->finish(last) : finish_part(last);
}

template class DistributedProduct<float>;
template class DistributedProduct<double>;
template class DistributedProduct<std::complex<float>>;
template class DistributedProduct<std::complex<double>>;

}  // namespace vernier
