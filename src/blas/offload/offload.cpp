#include "blas/offload/offload.hpp"

#include <algorithm>
#include <atomic>
#include <deque>
#include <mutex>
#include <utility>
#include <vector>

#include "base/duration.hpp"
#include "base/environment.hpp"
#include "base/instantiate.hpp"
#include "base/status.hpp"
#include "base/workspace.hpp"
#include "blas/offload/device.hpp"
#include "blas/offload/kept_panels.hpp"
#include "number/complex.hpp"
#include "product/plan/method.hpp"
#include "product/progress.hpp"
#include "residue/backend.hpp"
#include "residue/plan/bounds.hpp"
#include "residue/scale/scaling.hpp"
#include "vernier/cuda.hpp"
#include "vernier/offload.hpp"

namespace vernier {
namespace {

using offload::Lane, offload::Memory, offload::Rectangle, offload::Schedule;

constexpr int most_copying_threads = 24;

// May each block go its own way, whatever the data? Where no bits are promised and the native product serves all data,
// and where the contract says itself what the result is.
template <class T>
bool blocks_are_free(const Contract& c) {
  if (c.kind == Contract::Kind::exact || c.kind == Contract::Kind::normwise) return true;
  return native_use<T>(c) != NativeUse::never;
}

// Statistics of all vectors: is every entry ordinary? Then it is so in each part of the product, with the same scales.
template <class T>
bool every_entry_is_ordinary(const GemmCall<T>& call, const Contract& contract, int threads) {
  const Operand<T> a = call.rows(), b = call.columns();
  std::vector<VectorStatistics> statistics[2];
  std::vector<VectorProof> proofs[2];
  const SchemeBackend<T>& backend = best_backend<T>();
  for (int side = 0; side < 2; ++side) {
    const Operand<T>& x = side == 0 ? a : b;
    statistics[side].resize(static_cast<std::size_t>(x.vectors));
    proofs[side].resize(statistics[side].size());
#pragma omp parallel num_threads(threads)
    {
      const FloatingEnvironment environment;
#pragma omp for schedule(dynamic, 1)
      for (std::int64_t first = 0; first < x.vectors; first += strip_size)
        backend.statistics(x, first, std::min<std::int64_t>(strip_size, x.vectors - first),
                           statistics[side].data() + first);
    }
  }
  return !choose_scales(scaling_rule<T>(contract, call.k), call.k, statistics[0], statistics[1], proofs[0], proofs[1])
              .any_wide;
}

template <class T>
bool may_be_cut(const GemmCall<T>& call, const Contract& contract, int threads) {
  if (blocks_are_free<T>(contract)) return true;
  if constexpr (is_complex<T>)
    return false;
  else
    return every_entry_is_ordinary(call, contract, threads);
}

template <class T>
offload::HostMatrix host_matrix(const T* data, std::int64_t ld) {
  return {reinterpret_cast<std::byte*>(const_cast<T*>(data)), ld, sizeof(T)};
}

// The last element of a stored matrix, op of which is rows x columns.
template <class T>
const T* last_of(const T* data, std::int64_t rows, std::int64_t columns, std::int64_t ld, Op op = Op::none) {
  return op == Op::none ? data + (rows - 1) + (columns - 1) * ld : data + (columns - 1) + (rows - 1) * ld;
}

// Calls under way: threads of a program that multiply side by side, by a runtime that OpenMP here knows nothing of,
// share the processors.
class Busy {
 public:
  Busy() : calls_(count().fetch_add(1) + 1) {}
  ~Busy() { count().fetch_sub(1); }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;
  int share(int threads) const { return std::max(1, threads / calls_); }

 private:
  static std::atomic<int>& count() {
    static std::atomic<int> calls{0};
    return calls;
  }
  int calls_;
};

template <class T>
class OffloadRun {
 public:
  OffloadRun(const GemmCall<T>& call, const Options& options, const OffloadTarget<T>& target, OffloadSettings settings)
      : call_(call), options_(options), target_(target), settings_(std::move(settings)) {
    settings_.transfer.threads = busy_.share(offload_threads(options));
  }

  Report run() {
    const OperandMemory at{target_.memory_of(call_.a, last_a()), target_.memory_of(call_.b, last_b()),
                           target_.memory_of(call_.c, last_c())};
    if (at.all_on_a_device("gemm")) {
      Report report = target_.multiply(call_, 0, nullptr);
      target_.synchronize();  // as on the CPU, C is written now
      return report;
    }
    whole_ = !may_be_cut(call_, options_.contract, usable_threads(options_.threads));
    try {
      if (!make_lanes(at))
        return on_cpu(whole_ ? "these data are multiplied whole, and the GPU's memory does not hold them"
                             : "the GPU's memory does not hold the least blocks");
    } catch (const Error& error) {
      return on_cpu(error.what());
    }
    return whole_ ? run_whole() : run_blocks();
  }

  Report on_cpu(const std::string& why) {
    Report report = gemm<T>(call_.opa, call_.opb, call_.m, call_.n, call_.k, call_.alpha, call_.a, call_.lda, call_.b,
                            call_.ldb, call_.beta, call_.c, call_.ldc, cpu_options());
    report.plan.reason += "; on the CPU: " + why;
    return report;
  }

 private:
  const T* last_a() const { return last_of(call_.a, call_.m, call_.k, call_.lda, call_.opa); }
  const T* last_b() const { return last_of(call_.b, call_.k, call_.n, call_.ldb, call_.opb); }
  const T* last_c() const { return last_of<T>(call_.c, call_.m, call_.n, call_.ldc); }

  Options cpu_options() const {
    Options options = options_;
    options.workspace = nullptr;
    options.workspace_bytes = 0;
    return options;
  }

  // C is written once all of it has come.
  Report run_whole() {
    const Workspace out(static_cast<std::size_t>(call_.m * call_.n) * sizeof(T));
    lanes_.front().out = {out.data(), call_.m, sizeof(T)};
    lanes_.front().direct_c = false;
    Progress progress(options_.progress);
    const std::vector<offload::LaneResult> results = offload::run(lanes_, settings_.transfer, progress);
    if (!results.front().error.empty()) return on_cpu(results.front().error);
    copy_out(out.data());
    progress.finish();
    return finished();
  }

  Report run_blocks() {
    const Schedule& first = lanes_.front().schedule;
    // For what is missing of C if a device fails on the way.
    const Workspace reserve(gemm_workspace<T>(first.m_block, first.n_block, call_.k, cpu_options(), true));
    Progress progress(options_.progress);
    const std::vector<offload::LaneResult> results = offload::run(lanes_, settings_.transfer, progress);
    bool untouched = true;
    for (const offload::LaneResult& r : results) {
      untouched = untouched && r.untouched;
      if (!r.error.empty()) error_ = r.error;
    }
    if (!error_.empty() && untouched) return on_cpu(error_);
    for (std::size_t lane = 0; lane < results.size(); ++lane)
      for (const Rectangle& r : results[lane].missing) complete(lane, r, reserve);
    progress.finish();
    return finished();
  }

  std::size_t memory_of_device(int device) const {
    const std::size_t free = target_.free_memory(device) / 16 * 15;
    return settings_.memory != 0 ? std::min(settings_.memory, free) : free;
  }

  std::vector<offload::Share> shares(const offload::ScheduleRequest& all, bool direct_c) const {
    if (whole_ || !target_.shared_seconds) return offload::deal(call_.m, call_.n, whole_ ? 1 : target_.devices);
    return offload::deal(call_.m, call_.n, target_.devices, [&](const std::vector<offload::Share>& x) {
      return target_.shared_seconds(offload::staged(x, all, direct_c), all.k);
    });
  }

  // False: some device does not hold the least blocks of its part.
  bool make_lanes(const OperandMemory& at) {
    const offload::ScheduleRequest all{.k = call_.k,
                                       .element = sizeof(T),
                                       .a_by_rows = call_.opa != Op::none,
                                       .b_by_columns = call_.opb == Op::none,
                                       .reads_c = call_.beta != T{0},
                                       .direct_a = at.a == Memory::pinned,
                                       .direct_b = at.b == Memory::pinned};
    const bool direct_c = at.c == Memory::pinned && !all.reads_c;  // what is lost in the middle can be computed again
    for (const offload::Share& share : shares(all, direct_c)) {
      const std::size_t d = lanes_.size();
      const GemmCall<T> part = part_of(call_, share.rows, share.columns);
      const std::size_t memory = memory_of_device(static_cast<int>(d));
      offload::ScheduleRequest request = all;
      request.m = part.m, request.n = part.n, request.memory = memory;
      request.m_block = whole_ ? part.m : settings_.m_block, request.n_block = whole_ ? part.n : settings_.n_block;
      request.workspace = [&](std::int64_t m, std::int64_t n) { return target_.workspace(m, n, part.k, whole_); };
      Schedule schedule = offload::make_schedule(request);
      if (schedule.blocks.empty() || (whole_ && schedule.blocks.size() != 1)) return false;
      const std::size_t working = target_.workspace(schedule.m_block, schedule.n_block, part.k, false);
      const std::size_t most = memory - schedule.bytes - std::min(working, memory - schedule.bytes);
      kept_.emplace_back(schedule, part.k, target_.multiply_keeping ? target_.kept_bytes : nullptr, most);
      const std::size_t left = memory - schedule.bytes - kept_.back().bytes();
      links_.push_back(target_.link(static_cast<int>(d),
                                    [this, d, left](const offload::BlockOnDevice& b) { multiply(b, kept_[d], left); }));
      Lane lane{.link = links_.back().get(), .schedule = std::move(schedule)};
      lane.a = host_matrix(part.a, part.lda);
      lane.b = host_matrix(part.b, part.ldb);
      lane.c = lane.out = host_matrix(part.c, part.ldc);
      lane.direct_a = all.direct_a, lane.direct_b = all.direct_b, lane.direct_c = direct_c;
      lanes_.push_back(std::move(lane));
      parts_.push_back(part);
    }
    return true;
  }

  Report multiply(const GemmCall<T>& call, const offload::BlockOnDevice& b, KeptPanels& kept, std::size_t workspace) {
    if (!target_.multiply_keeping) return target_.multiply(call, workspace, b.stream);
    const KeptPanels::Use use(kept, *b.block);
    return target_.multiply_keeping(call, workspace, b.stream, use.a(), use.b());
  }

  void multiply(const offload::BlockOnDevice& b, KeptPanels& kept, std::size_t workspace) {
    const Range rows = b.block->rows, columns = b.block->columns;
    GemmCall<T> call = call_;
    call.m = rows.count, call.n = columns.count;
    call.a = reinterpret_cast<const T*>(b.a), call.lda = call.opa == Op::none ? call.m : call.k;
    call.b = reinterpret_cast<const T*>(b.b), call.ldb = call.opb == Op::none ? call.k : call.n;
    call.c = reinterpret_cast<T*>(b.c), call.ldc = call.m;
    Report report = multiply(call, b, kept, workspace);
    const std::lock_guard lock(mutex_);
    add(std::move(report));
  }

  void add(Report&& part) {
    if (blocks_++ == 0) {
      report_ = std::move(part);
      return;
    }
    if (part.fallback && !report_.fallback) {  // the blocks that residues did not serve are told
      report_.fallback = true;
      report_.plan.scheme = part.plan.scheme, report_.plan.engine = part.plan.engine;
      report_.plan.moduli = part.plan.moduli;
    }
    report_.wide_moduli = std::max(report_.wide_moduli, part.wide_moduli);
    report_.span_a = std::max(report_.span_a, part.span_a);
    report_.span_b = std::max(report_.span_b, part.span_b);
    report_.undecided += part.undecided;
    report_.accumulated += part.accumulated;
  }

  void copy_out(const std::byte* c) const {
    const offload::HostMatrix to = host_matrix(call_.c, call_.ldc);
#pragma omp parallel for schedule(static) num_threads(settings_.transfer.threads)
    for (std::int64_t j = 0; j < call_.n; ++j)
      offload::scatter(c + static_cast<std::size_t>(j * call_.m) * sizeof(T), {to.at(0, j), to.ld, to.element}, call_.m,
                       1);
  }

  // C is written in part: nothing may fail.
  void complete(std::size_t lane, const Rectangle& r, const Workspace& reserve) {
    const GemmCall<T> p = part_of(parts_[lane], {r.row, r.rows}, {r.column, r.columns});
    Options options = cpu_options();
    options.progress = {};
    const auto product = [&] {
      gemm<T>(p.opa, p.opb, p.m, p.n, p.k, p.alpha, p.a, p.lda, p.b, p.ldb, p.beta, p.c, p.ldc, options);
    };
    try {
      product();
    } catch (const std::exception&) {
      options.workspace = reserve.data();
      options.workspace_bytes = reserve.bytes();
      product();
    }
    completed_ += r.rows * r.columns;
  }

  Report finished() {
    Plan& plan = report_.plan;
    plan.m = call_.m, plan.n = call_.n, plan.k = call_.k;
    if (plan.scheme == "native") plan.scheme = "cublas";  // "native" is the BLAS of the CPU
    plan.reason += fmt::format("; matrices of the host: {} x {} of C at a time on {}", lanes_.front().schedule.m_block,
                               lanes_.front().schedule.n_block, target_.name);
    if (lanes_.size() > 1) plan.reason += fmt::format(" and {} more", lanes_.size() - 1);
    if (!error_.empty())
      plan.reason += fmt::format("; {} of {} entries on the CPU: {}", completed_, call_.m * call_.n, error_);
    return std::move(report_);
  }

  const Busy busy_;
  GemmCall<T> call_;
  const Options& options_;
  const OffloadTarget<T>& target_;
  OffloadSettings settings_;
  bool whole_ = false;
  std::vector<std::unique_ptr<offload::Link>> links_;
  std::deque<KeptPanels> kept_;  // on the links' streams
  std::vector<Lane> lanes_;
  std::vector<GemmCall<T>> parts_;
  std::mutex mutex_;
  Report report_;
  int blocks_ = 0;
  std::int64_t completed_ = 0;
  std::string error_;
};

}  // namespace

bool OperandMemory::all_on_a_device(const char* routine) const {
  const auto reached = [](Memory m) { return m == Memory::device || m == Memory::managed; };
  if (reached(a) && reached(b) && reached(c)) return true;
  require(a != Memory::device && b != Memory::device && c != Memory::device,
          "{}: {} in memory of a GPU; expected all of A, B and C there, or none of them", routine,
          a == Memory::device   ? "A is"
          : b == Memory::device ? "B is"
                                : "C is");
  return false;
}

int offload_threads(const Options& options) { return std::min(usable_threads(options.threads), most_copying_threads); }

template <class T>
OffloadTarget<T> cuda_target(const Options& options) {
  OffloadTarget<T> target;
  target.devices = offload::device_count();
  if (target.devices == 0) {
    target.missing = offload::missing_device();
    return target;
  }
  try {
    target.name = offload::device_name(0);
  } catch (const Error& error) {  // it was there, and is lost
    target.devices = 0;
    target.missing = error.what();
    return target;
  }
  target.link = offload::cuda_link;
  target.free_memory = offload::free_memory;
  target.memory_of = offload::memory_of;
  target.synchronize = offload::synchronize;
  const Contract contract = options.contract;
  target.workspace = [contract](std::int64_t m, std::int64_t n, std::int64_t k, bool least) {
    return cuda::gemm_workspace<T>(m, n, k, {.contract = contract}, least);
  };
  target.multiply = [contract](const GemmCall<T>& x, std::size_t workspace, void* stream) {
    return cuda::gemm<T>(x.opa, x.opb, x.m, x.n, x.k, &x.alpha, x.a, x.lda, x.b, x.ldb, &x.beta, x.c, x.ldc,
                         {.contract = contract, .stream = stream, .workspace_limit = workspace});
  };
  target.multiply_keeping = [contract](const GemmCall<T>& x, std::size_t workspace, void* stream, KeptOperand& a,
                                       KeptOperand& b) {
    return cuda::gemm_keeping<T>(x, {.contract = contract, .stream = stream, .workspace_limit = workspace}, a, b);
  };
  target.kept_bytes = [contract](std::int64_t vectors, std::int64_t k) {
    return cuda::kept_bytes<T>(vectors, k, contract);
  };
  if (target.devices > 1)
    target.shared_seconds = [contract](const offload::Staged& x, std::int64_t k) {
      return shared_product_seconds<T>(x, k, contract);
    };
  return target;
}

template <class T>
Report offloaded_gemm(const GemmCall<T>& call, const Options& options, const OffloadTarget<T>& target,
                      OffloadSettings settings) {
  const Clock clock;
  Options left = options;  // what the CPU completes
  left.device = Device::cpu;
  OffloadRun<T> run(call, left, target, std::move(settings));
  Report report = target.devices == 0 ? run.on_cpu(target.missing) : run.run();
  report.seconds = clock.seconds();
  return report;
}

VERNIER_TYPE_INSTANCES(cuda_target, offloaded_gemm)

}  // namespace vernier
