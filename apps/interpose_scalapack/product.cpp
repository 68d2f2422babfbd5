#include "product.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <optional>
#include <vector>

#include "depth.hpp"
#include "fingerprint.hpp"
#include "functions.hpp"
#include "libvernier.hpp"
#include "local_copy.hpp"
#include "panels.hpp"
#include "preload.hpp"
#include "ring.hpp"
#include "routines.hpp"
#include "settings.hpp"

namespace vernier::interpose {
namespace {

// Under contract exact complex products keep it where alpha and beta are real.
bool is_real(vernier_type type, const void* factor) {
  if (type == VERNIER_C) return static_cast<const float*>(factor)[1] == 0;
  return type != VERNIER_Z || static_cast<const double*>(factor)[1] == 0;
}

// MKL's PBLAS asks no pilaenv_ from outside, so that whole panels do not come through it.
std::atomic<bool> keeps_its_blocks = false;

constexpr std::size_t words_at_a_time = std::size_t{1} << 15;

using Memory = std::unique_ptr<std::byte, FreeMemory>;

Memory zeros(std::size_t bytes) {
  return Memory(static_cast<std::byte*>(std::calloc(std::max<std::size_t>(1, bytes), 1)));
}

class Run {
 public:
  Run(const Grid& grid, const DistributedCall& call) : grid_(grid), c_(call) {}
  ~Run() {
    release_panels();
    distributed().destroy(product_);
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  Outcome run() {
    if (!all(create())) return why();
    if (c_.arrange) c_.arrange();
    std::uint64_t operands[3] = {};
    if (prints_) operands_of(operands);
    const Outcome outcome = multiply();
    if (outcome.done && prints_) say_fingerprints(operands);
    return outcome;
  }

 private:
  void operands_of(std::uint64_t (&prints)[3]) const {
    prints[0] = fingerprint(grid_, c_.type, *c_.a, c_.a_part, 0);
    prints[1] = fingerprint(grid_, c_.type, *c_.b, c_.b_part, 0);
    if (!is_zero(c_.type, c_.beta)) prints[2] = fingerprint(grid_, c_.type, *c_.c, c_.c_part, c_.c_triangle);
  }
  void say_fingerprints(const std::uint64_t (&operands)[3]) const {
    const std::uint64_t result = fingerprint(grid_, c_.type, *c_.c, c_.c_part, c_.c_triangle);
    if (grid_.row != 0 || grid_.column != 0) return;
    std::fprintf(stderr, "%s: bits %d x %d x %d: %010llx %010llx %010llx -> %010llx, A on %d x %d in %d x %d\n",
                 preload.name, c_.m, c_.n, c_.k, static_cast<unsigned long long>(operands[0]),
                 static_cast<unsigned long long>(operands[1]), static_cast<unsigned long long>(operands[2]),
                 static_cast<unsigned long long>(result), grid_.rows, grid_.columns, c_.a->row_block(),
                 c_.a->column_block());
  }

  Outcome multiply() {
    if (exact_ && c_.triangle == 0 && panels_come())
      if (const Outcome outcome = run_panels(); !tells_of_blocks(outcome)) return outcome;
    while (distributed().scanning(product_) != 0)
      if (!all(scan())) return why();
    if (panels_come() && distributed().regular(product_) != 0)
      if (const Outcome outcome = run_panels(); !tells_of_blocks(outcome)) return outcome;
    const int passes = distributed().passes(product_);
    for (int pass = 0; pass < passes; ++pass) {
      if (!all(make_elements(pass))) return why();
      if (!all(multiply(pass))) return why();
    }
    finish();
    return {.done = true};
  }

  bool panels_come() const { return pieces_.any() && (whole_ || !keeps_its_blocks); }
  // Nothing has been multiplied then, and elements come in any blocks.
  bool tells_of_blocks(const Outcome& outcome) const {
    if (outcome.reason != Reason::unsupported || whole_) return false;
    return keeps_its_blocks = true;
  }

  // The worst status of any process, which all of them take; whether any wants to see the bits, since all have to help
  // with that; and whether any has met a PBLAS that keeps its blocks.
  bool all(vernier_status own) {
    double most[] = {static_cast<double>(own), settings().verbose > 2 ? 1.0 : 0.0, keeps_its_blocks ? 1.0 : 0.0};
    int rows[3] = {}, columns[3] = {};
    pblas().maximum(grid_.context, "All", " ", 3, 1, most, 3, rows, columns, -1, -1, -1);
    prints_ = most[1] > 0;
    keeps_its_blocks = most[2] > 0;
    if (handle_ != nullptr && own != VERNIER_SUCCESS && own != VERNIER_OUT_OF_MEMORY)
      message_ = libvernier().last_error(handle_);
    status_ = static_cast<vernier_status>(most[0]);
    return status_ == VERNIER_SUCCESS;
  }

  Outcome why() const {
    const Reason reason = status_ == VERNIER_BOUND_NOT_MET      ? Reason::bound
                          : status_ == VERNIER_OUT_OF_MEMORY    ? Reason::memory
                          : status_ == VERNIER_UNSUPPORTED      ? Reason::unsupported
                          : status_ == VERNIER_INVALID_ARGUMENT ? Reason::invalid
                                                                : Reason::other;
    if (handle_ == nullptr && reason == Reason::unsupported)
      return {false, reason, "contract exact: for complex matrices it is kept where alpha and beta are real"};
    if (reason == Reason::memory) return {false, reason, "a process has no memory for the product"};
    return {false, reason, message_};
  }

  // Whole rows and columns meet: each entry is that of one process, since its scales are those of its row and column
  // alone, or since the contract says what it is.
  Outcome run_panels() {
    const double start = now();
    if (copy_) copy_->take_all();
    const PanelOutcome outcome =
        multiply_panels(c_, pieces_, handle_, copy_ ? copy_->part() : c_.c_part, whole_ ? &*whole_ : nullptr,
                        [&](double rows, double columns) { return all(reserve(rows, columns)); });
    if (settings().verbose > 1)
      std::fprintf(
          stderr, "%s: %lld x %lld here: scanned in %.4f s, multiplied in %.4f s, waited and sent for %.4f s\n",
          preload.name, static_cast<long long>(c_.c->row_count()), static_cast<long long>(c_.c->column_count()),
          start - start_, outcome.seconds, now() - start - outcome.seconds);
    if (!all(outcome.status)) return why();
    if (copy_) copy_->give_all();
    return {.done = true};
  }

  vernier_status create() {
    if (!c_.sound) return VERNIER_INVALID_ARGUMENT;
    if (exact_ && !(is_real(c_.type, c_.alpha) && is_real(c_.type, c_.beta))) return VERNIER_UNSUPPORTED;
    try {
      handle_ = thread_handle();
      words_.resize(words_at_a_time);
      if (c_.allocate && !c_.allocate()) return VERNIER_OUT_OF_MEMORY;
      if (pieces_.any() && !c_.c_is_ours && !copy_.emplace(c_.type, *c_.c, c_.c_part).allocate())
        return VERNIER_OUT_OF_MEMORY;
      if (pieces_.any() && WholePanels::serves(c_) && !whole_.emplace(grid_, c_).allocate())
        return VERNIER_OUT_OF_MEMORY;
    } catch (const std::bad_alloc&) {
      return VERNIER_OUT_OF_MEMORY;
    }
    const auto op = [](char letter) { return static_cast<vernier_op>(letter); };
    return distributed().create(handle_, c_.type, op(c_.opa), op(c_.opb), c_.m, c_.n, c_.k, &product_);
  }

  static vernier_status reserve(double rows, double columns) {
    constexpr int each = panels_at_a_time / 2;
    return reserve_panels(each, rows) && reserve_panels(each, columns) ? VERNIER_SUCCESS : VERNIER_OUT_OF_MEMORY;
  }

  vernier_status scan() {
    const DistributedFunctions& d = distributed();
    vernier_status status = d.scan(product_, VERNIER_LEFT, &c_.a_part);
    if (status == VERNIER_SUCCESS) status = d.scan(product_, VERNIER_RIGHT, &c_.b_part);
    if (status != VERNIER_SUCCESS) d.refuse(product_);
    std::int64_t count = 0;
    std::int64_t* words = d.maxima(product_, &count);
    exchange(words, count, [&](int n, double* x) {
      int row = 0, column = 0;
      pblas().maximum(grid_.context, "All", " ", n, 1, x, n, &row, &column, -1, -1, -1);
    });
    words = d.sums(product_, &count);
    exchange(words, count, [&](int n, double* x) { pblas().sum(grid_.context, "All", " ", n, 1, x, n, -1, -1); });
    return d.combine(product_);
  }

  // As doubles, which hold the words exactly: BLACS knows integers of 32 bits alone.
  template <class Communicate>
  void exchange(std::int64_t* words, std::int64_t count, Communicate communicate) {
    for (std::int64_t begin = 0; begin < count; begin += static_cast<std::int64_t>(words_.size())) {
      const auto n = std::min(static_cast<std::int64_t>(words_.size()), count - begin);
      for (std::int64_t i = 0; i < n; ++i) words_[static_cast<std::size_t>(i)] = static_cast<double>(words[begin + i]);
      communicate(static_cast<int>(n), words_.data());
      for (std::int64_t i = 0; i < n; ++i)
        words[begin + i] = static_cast<std::int64_t>(words_[static_cast<std::size_t>(i)]);
    }
  }

  vernier_status make_elements(int pass) {
    bytes_ = distributed().element_bytes(product_, pass);
    a_ = zeros(bytes_ * static_cast<std::size_t>(c_.a->count()));
    b_ = zeros(bytes_ * static_cast<std::size_t>(c_.b->count()));
    sums_[pass] = zeros(bytes_ * static_cast<std::size_t>(c_.c->count()));
    buffer_ = zeros(ring_buffer_bytes(bytes_));
    if (!a_ || !b_ || !sums_[pass] || !buffer_) return VERNIER_OUT_OF_MEMORY;
    depth_ = depth_of(grid_, {c_.a, c_.b, c_.c}, c_.k, bytes_);
    if (!reserve_panels(panels_at_a_time, depth_.bytes)) return VERNIER_OUT_OF_MEMORY;
    vernier_status status = distributed().convert(product_, pass, VERNIER_LEFT, &c_.a_part, a_.get(), c_.a->ld());
    if (status == VERNIER_SUCCESS)
      status = distributed().convert(product_, pass, VERNIER_RIGHT, &c_.b_part, b_.get(), c_.b->ld());
    if (c_.triangle != 0)
      clear_beyond_triangle(c_.triangle_is_b ? *c_.b : *c_.a, c_.triangle_is_b ? b_.get() : a_.get());
    return status;
  }

  // An element that is all zeros is an entry that is not there: it meets no infinity.
  void clear_beyond_triangle(const SubMatrix& x, std::byte* elements) const {
    x.for_each([&](std::int64_t i, std::int64_t j, std::int64_t below) {
      if (c_.triangle == 'U' ? below <= 0 : below >= 0) return;
      std::byte* const element = elements + bytes_ * static_cast<std::size_t>(i + j * x.ld());
      std::fill(element, element + bytes_, std::byte{0});
    });
  }

  vernier_status multiply(int pass) {
    const auto op = [](char letter) { return letter == 'N' ? 'N' : 'T'; };
    const DeepBlocks deep(depth_.k);
    const bool well = multiply_by_ring({product_,
                                        pass,
                                        bytes_,
                                        grid_,
                                        buffer_.get(),
                                        op(c_.opa),
                                        op(c_.opb),
                                        c_.m,
                                        c_.n,
                                        c_.k,
                                        {a_.get(), c_.a->inner()},
                                        {b_.get(), c_.b->inner()},
                                        {sums_[pass].get(), c_.c->inner()}});
    a_.reset();
    b_.reset();
    return well ? VERNIER_SUCCESS : VERNIER_OUT_OF_MEMORY;
  }

  // Arguments are checked and memory is there: nothing is left that could fail.
  void finish() {
    const void* sums[] = {sums_[0].get(), sums_[1].get()};
    if (distributed().finish(product_, sums, c_.c->ld(), c_.alpha, c_.beta, &c_.c_part) != VERNIER_SUCCESS)
      fatal(std::string("finish: ") + libvernier().last_error(handle_));
  }

  const Grid& grid_;
  const DistributedCall& c_;
  const bool exact_ = settings().contract.rfind("exact", 0) == 0;
  const Pieces pieces_ = pieces_of(grid_, c_, most_shares_of_residues);
  std::optional<LocalCopy> copy_;     // of C, which a failure on another process must leave as it is
  std::optional<WholePanels> whole_;  // where operands are dealt out as C is
  const double start_ = now();
  vernier_handle handle_ = nullptr;
  vernier_distributed product_ = nullptr;
  std::vector<double> words_;
  std::size_t bytes_ = 0;
  PanelDepth depth_;  // of elements
  Memory a_, b_, buffer_, sums_[2];
  bool prints_ = false;
  vernier_status status_ = VERNIER_SUCCESS;
  std::string message_;
};

}  // namespace

std::size_t element_size(vernier_type type) { return type == VERNIER_S ? 4 : type == VERNIER_Z ? 16 : 8; }

Outcome multiply_distributed(const Grid& grid, const DistributedCall& call) {
  Run run(grid, call);
  return run.run();
}

}  // namespace vernier::interpose
