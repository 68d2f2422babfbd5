#include "blas/offload/host_routine.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/fmt.hpp"
#include "base/instantiate.hpp"
#include "base/size.hpp"
#include "base/status.hpp"
#include "base/workspace.hpp"
#include "product/progress.hpp"

namespace vernier {
namespace {

using offload::Memory;

template <class T>
class WholeRun {
 public:
  using OnDevice = std::function<void(const RoutineOperands<T>&, void*)>;

  WholeRun(const HostRoutine<T>& routine, const OnDevice& on_device, const Options& options,
           const OffloadTarget<T>& target, const offload::TransferSettings& settings)
      : routine_(routine), on_device_(on_device), options_(options), target_(target), settings_(settings) {}

  RoutineOutcome run() {
    const HostOperand<T>& c = routine_.c;
    const OperandMemory at{memory_of(routine_.a), memory_of(routine_.b), memory_of(c)};
    if (at.all_on_a_device(routine_.name)) {
      on_device_({routine_.a.data, routine_.a.ld, routine_.b.data, routine_.b.ld, mutable_c(), c.ld}, nullptr);
      target_.synchronize();
      return {.begun = true};
    }
    try {
      lane_.schedule = schedule();
      if (!fits()) return {};
      through_the_link(at);
      return {.begun = true, .where = fmt::format("; matrices of the host: whole on {}", target_.name)};
    } catch (const Error& error) {
      return {.begun = true, .error = error.what()};
    }
  }

 private:
  T* mutable_c() const { return const_cast<T*>(routine_.c.data); }
  // A missing operand lies where C does.
  Memory memory_of(const HostOperand<T>& x) const {
    const HostOperand<T>& there = x.data != nullptr ? x : routine_.c;
    return target_.memory_of(there.data, there.last());
  }

  // One block of C, with all operands.
  offload::Schedule schedule() const {
    const HostOperand<T>& c = routine_.c;
    offload::Schedule s{.m_block = c.rows, .n_block = c.columns, .element = sizeof(T)};
    const auto place = [&](const HostOperand<T>& x) {
      return std::exchange(s.bytes,
                           size_sum(s.bytes, offload::aligned(checked_area<T>(x.rows, x.columns) * sizeof(T))));
    };
    const auto send = [&](offload::Matrix which, const HostOperand<T>& x, std::size_t offset) {
      s.panels.push_back({which, 0, 0, x.rows, x.columns, offset, -1});
      return static_cast<int>(s.panels.size()) - 1;
    };
    offload::Block block{.rows = {0, c.rows}, .columns = {0, c.columns}, .a = missing, .b = missing};
    if (routine_.a.data != nullptr) block.a = send(offload::Matrix::a, routine_.a, place(routine_.a));
    if (routine_.b.data != nullptr) block.b = send(offload::Matrix::b, routine_.b, place(routine_.b));
    block.offset = place(c);
    if (routine_.reads_c) block.c = send(offload::Matrix::c, c, block.offset);
    for (int* operand : {&block.a, &block.b})  // some panel there must be
      if (*operand == missing) *operand = 0;
    s.blocks.push_back(block);
    return s;
  }

  bool fits() const {
    const HostOperand<T>&a = routine_.a, &c = routine_.c;
    const std::size_t scratch =
        size_product({static_cast<std::size_t>(routine_.copies), sizeof(T),
                      checked_area<T>(std::max(a.rows, c.rows), std::max(a.columns, c.columns))});
    const ProductShape& s = routine_.shape;
    const std::size_t taken = size_sum(scratch, target_.workspace(s.m, s.n, s.k, true));
    return size_sum(lane_.schedule.bytes, taken) <= target_.free_memory(0) / 16 * 15;
  }

  // Throws where the device stops: C is as it was.
  void through_the_link(const OperandMemory& at) {
    const auto host = [](const HostOperand<T>& x) {
      return offload::HostMatrix{reinterpret_cast<std::byte*>(const_cast<T*>(x.data)), x.ld, sizeof(T)};
    };
    const HostOperand<T>& c = routine_.c;
    const Workspace out(checked_area<T>(c.rows, c.columns) * sizeof(T));
    const auto link = target_.link(0, [this](const offload::BlockOnDevice& block) { multiply(block); });
    lane_.link = link.get();
    lane_.a = host(routine_.a), lane_.b = host(routine_.b), lane_.c = host(c);
    lane_.out = {out.data(), c.rows, sizeof(T)};
    lane_.direct_a = at.a == Memory::pinned, lane_.direct_b = at.b == Memory::pinned;
    std::vector<offload::Lane> lanes{lane_};
    Progress progress(options_.progress);
    std::vector<offload::LaneResult> results = offload::run(lanes, settings_, progress);
    if (!results.front().error.empty()) fail(Status::device_error, "{}", results.front().error);
    progress.finish();
    copy_out(reinterpret_cast<const T*>(out.data()));
  }

  void multiply(const offload::BlockOnDevice& block) const {
    const auto of = [](const std::byte* x) { return reinterpret_cast<const T*>(x); };
    const auto ld = [](const HostOperand<T>& x) { return std::max<std::int64_t>(1, x.rows); };
    on_device_(
        {of(block.a), ld(routine_.a), of(block.b), ld(routine_.b), reinterpret_cast<T*>(block.c), routine_.c.rows},
        block.stream);
  }

  // The rows of column j that are written.
  Range written(std::int64_t j) const {
    const std::int64_t rows = routine_.c.rows;
    if (!routine_.triangle) return {0, rows};
    return *routine_.triangle == Uplo::lower ? Range{j, rows - j} : Range{0, j + 1};
  }

  void copy_out(const T* from) const {
    const HostOperand<T>& c = routine_.c;
#pragma omp parallel for schedule(static, 16) num_threads(settings_.threads)
    for (std::int64_t j = 0; j < c.columns; ++j) {
      const Range rows = written(j);
      std::copy_n(from + rows.begin + j * c.rows, rows.count, mutable_c() + rows.begin + j * c.ld);
    }
  }

  static constexpr int missing = -1;

  const HostRoutine<T>& routine_;
  const OnDevice& on_device_;
  const Options& options_;
  const OffloadTarget<T>& target_;
  const offload::TransferSettings& settings_;
  offload::Lane lane_;
};

}  // namespace

template <class T>
RoutineOutcome run_whole(const HostRoutine<T>& routine,
                         const std::function<void(const RoutineOperands<T>&, void* stream)>& on_device,
                         const Options& options, const OffloadTarget<T>& target,
                         const offload::TransferSettings& settings) {
  return WholeRun<T>(routine, on_device, options, target, settings).run();
}

VERNIER_TYPE_INSTANCES(run_whole)

}  // namespace vernier
