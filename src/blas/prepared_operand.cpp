#include "blas/prepared_operand.hpp"

#include <omp.h>

#include <algorithm>

#include "base/environment.hpp"
#include "blas/arguments.hpp"
#include "blas/residue_gemm.hpp"
#include "plan/bounds.hpp"
#include "scheme/strip.hpp"

namespace vernier {
namespace {

constexpr const char* routine = "PreparedOperand";

const Int8Engine& engine_of(const Options& options) {
  const std::string requested = requested_engine(options.engine);
  require(requested != "native", "{}: engine \"native\" has no residues; expected an int8 engine", routine);
  return find_int8_engine(options.engine);
}

template <class T>
std::int64_t vectors_of(const PreparedData<T>& d) {
  return d.side == Side::left ? d.rows : d.columns;
}

}  // namespace

template <class T>
PreparedData<T>::PreparedData(Side side, Op op, std::int64_t rows, std::int64_t columns, const T* X, std::int64_t ldx,
                              const Options& options)
    : side(side), rows(rows), columns(columns), contract(options.contract) {
  require(side == Side::left || side == Side::right, "{}: side = {}: expected left or right", routine,
          static_cast<int>(side));
  require(valid(op), "{}: op = {}: expected none, transpose or conjugate_transpose", routine, static_cast<int>(op));
  check_dimension(routine, "rows", rows);
  check_dimension(routine, "columns", columns);
  check_leading(routine, "ldx", ldx, op == Op::none ? rows : columns);
  check_pointer(routine, "X", rows > 0 && columns > 0, X);
  check_options(routine, options);
  if (contract.kind == Contract::Kind::exact)
    fail(Status::unsupported, "{}: contract exact chooses its moduli by both factors; expected another contract",
         routine);
  const Int8Engine& found = engine_of(options);
  engine = std::string(found.name());
  if (const std::string requested = requested_engine(options.engine); !requested.empty()) engine = requested;
  if (rows == 0 || columns == 0) return;
  own_copy(op, X, ldx);
  make_planes(found, usable_threads(options.threads));
}

// All memory, and X in it.
template <class T>
void PreparedData<T>::own_copy(Op op, const T* X, std::int64_t ldx) {
  const std::int64_t vectors = vectors_of(*this), k = side == Side::left ? columns : rows;
  const std::int64_t lines = op == Op::none ? columns : rows, length = op == Op::none ? rows : columns;
  const auto padded = static_cast<std::size_t>(round_up(vectors, strip_size));
  planes.vectors = vectors;
  planes.moduli = ordinary_moduli<T>(contract, k);
  planes.k_block = largest_k_block(k, find_int8_engine(engine));
  planes.stride = plane_stride(static_cast<std::int64_t>(padded) * planes.k_block);
  const auto blocks = static_cast<std::size_t>(divide_up(k, planes.k_block));
  const auto carve = [&](Arena& arena) {
    copy_begin_ = arena.take<T>(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns));
    statistics_ = arena.take<VectorStatistics>(padded);
    exponents_ = arena.take<int>(padded);
    planes_begin_ = arena.take<std::int8_t>(blocks * static_cast<std::size_t>(planes.moduli) * planes.stride);
  };
  Arena count;
  carve(count);
  bytes = count.used();
  memory_.emplace(bytes);
  std::byte* begin = align_to_page(memory_->data());
  Arena arena(begin, bytes - static_cast<std::size_t>(begin - memory_->data()));
  carve(arena);
  planes.statistics = statistics_;
  planes.exponents = exponents_;
  planes.planes = planes_begin_;
  for (std::int64_t j = 0; j < lines; ++j) std::copy_n(X + j * ldx, length, copy_begin_ + j * length);
  copy = {copy_begin_, vectors, k, length, (side == Side::left) != (op == Op::none)};
}

template <class T>
void PreparedData<T>::make_planes(const Int8Engine& engine, int threads) {
  const SchemeBackend<T>& backend = backend_of<T>(engine);
  ProductPlan plan;
  plan.rule = scaling_rule<T>(contract, copy.k);
  plan.ordinary.moduli = planes.moduli;
  const Pass pass = ordinary_pass(plan);
  const DigitTables tables(residue_system(planes.moduli), side == Side::left ? PanelSide::rows : PanelSide::columns,
                           pass.narrow, pass.limbs);
  const auto gathered = static_cast<std::size_t>(strip_size * planes.k_block);
  const Workspace scratch(gathered * sizeof(T) * static_cast<std::size_t>(threads));
#pragma omp parallel num_threads(threads)
  {
    const FloatingEnvironment environment;
    T* buffer = reinterpret_cast<T*>(scratch.data()) + gathered * static_cast<std::size_t>(omp_get_thread_num());
#pragma omp for schedule(dynamic, 1)
    for (std::int64_t first = 0; first < copy.vectors; first += strip_size) {
      const std::int64_t count = std::min<std::int64_t>(strip_size, copy.vectors - first);
      VectorStatistics* statistics = statistics_ + first;
      const bool once = copy.k <= planes.k_block;
      const Operand<T> whole = once ? gather_strip(copy, first, 0, copy.k, buffer) : strip_of(copy, first, 0, copy.k);
      backend.statistics(whole, 0, count, statistics);
      bool nonfinite = false;
      for (std::int64_t v = 0; v < strip_size; ++v) {
        exponents_[first + v] = v < count ? ordinary_scale(plan.rule, copy.k, statistics[v]) : 0;
        nonfinite = nonfinite || (v < count && statistics[v].nonfinite);
      }
      for (std::int64_t l = 0; l < copy.k; l += planes.k_block) {
        const Range ks{l, std::min(planes.k_block, copy.k - l)};
        const PlaneView view = planes.of({0, copy.vectors}, ks);
        backend.decompose(once ? whole : gather_strip(copy, first, ks.begin, ks.count, buffer), tables,
                          {.scales = exponents_ + first,
                           .planes = planes_begin_ + (view.planes - planes_begin_),
                           .plane_bytes = planes.stride,
                           .layout = view.layout,
                           .strip = first / strip_size,
                           .has_nonfinite = nonfinite});
      }
    }
  }
}

template struct PreparedData<double>;
template struct PreparedData<float>;

template <class T>
PreparedOperand<T>::PreparedOperand(Side side, Op op, std::int64_t rows, std::int64_t columns, const T* X,
                                    std::int64_t ldx, const Options& options)
    : data_(std::make_shared<const PreparedData<T>>(side, op, rows, columns, X, ldx, options)) {}

template <class T>
Side PreparedOperand<T>::side() const {
  return data_->side;
}
template <class T>
std::int64_t PreparedOperand<T>::rows() const {
  return data_->rows;
}
template <class T>
std::int64_t PreparedOperand<T>::columns() const {
  return data_->columns;
}
template <class T>
const Contract& PreparedOperand<T>::contract() const {
  return data_->contract;
}
template <class T>
const std::string& PreparedOperand<T>::engine() const {
  return data_->engine;
}
template <class T>
int PreparedOperand<T>::moduli() const {
  return data_->planes.moduli;
}
template <class T>
std::size_t PreparedOperand<T>::bytes() const {
  return data_->bytes;
}

template class PreparedOperand<double>;
template class PreparedOperand<float>;

}  // namespace vernier
