#include "blas/device_state.hpp"

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <tuple>
#include <utility>

#include "base/look_pause.hpp"
#include "blas/staging_memory.hpp"
#include "cuda/device.hpp"
#include "plan/device_plan.hpp"

namespace vernier::cuda {
namespace {

// One pool for each device, which keeps what it has until it is asked to let go.
cudaMemPool_t pool_of_current_device() {
  static std::mutex mutex;
  static std::map<int, cudaMemPool_t> pools;
  const int device = current_device().number;
  const std::lock_guard lock(mutex);
  const auto found = pools.find(device);
  if (found != pools.end()) return found->second;
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location = {cudaMemLocationTypeDevice, device};
  cudaMemPool_t pool = nullptr;
  check(cudaMemPoolCreate(&pool, &properties), "cudaMemPoolCreate");
  std::uint64_t keep = std::numeric_limits<std::uint64_t>::max();
  check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep), "cudaMemPoolSetAttribute");
  return pools[device] = pool;
}

std::uint64_t pool_attribute(cudaMemPoolAttr attribute) {
  std::uint64_t value = 0;
  check(cudaMemPoolGetAttribute(pool_of_current_device(), attribute, &value), "cudaMemPoolGetAttribute");
  return value;
}

}  // namespace

DeviceWorkspace::DeviceWorkspace(std::size_t bytes, cudaStream_t stream, void* callers_own)
    : data_(static_cast<std::byte*>(callers_own)),
      bytes_(bytes),
      stream_(stream),
      callers_own_(callers_own != nullptr) {
  if (callers_own_) return;
  void* data = nullptr;
  check(cudaMallocFromPoolAsync(&data, bytes, pool_of_current_device(), stream), "workspace");
  data_ = static_cast<std::byte*>(data);
}

DeviceWorkspace::~DeviceWorkspace() {
  if (!callers_own_) (void)cudaFreeAsync(data_, stream_);
}

PinnedMemory::PinnedMemory(std::size_t bytes) {
  check(cudaHostAlloc(&data_, bytes, cudaHostAllocPortable), "cudaHostAlloc");
}

PinnedMemory::~PinnedMemory() { (void)cudaFreeHost(data_); }

void release_device_memory() {
  check(cudaMemPoolTrimTo(pool_of_current_device(), 0), "cudaMemPoolTrimTo");
  release_staging_memory();
}

std::size_t available_device_memory() {
  std::size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
  return free + pool_attribute(cudaMemPoolAttrReservedMemCurrent) - pool_attribute(cudaMemPoolAttrUsedMemCurrent);
}

unsigned long long id_of(cudaStream_t stream) {
  unsigned long long id = 0;
  check(cudaStreamGetId(stream, &id), "cudaStreamGetId");
  return id;
}

namespace {

struct Pauses {
  using Key = std::tuple<int, unsigned long long, std::int64_t, std::int64_t, std::int64_t, bool, Contract::Kind, int>;
  static constexpr std::size_t most = 4096;  // then all are forgotten

  std::mutex mutex;
  std::map<Key, LookPause> of;

  template <class Body>
  auto with(cudaStream_t stream, const DeviceProductPlan& plan, Body body) {
    const ProductShape& s = plan.shape;
    const Contract& contract = plan.printable.contract;
    const Key key{current_device().number, id_of(stream),      s.m, s.n, s.k, plan.single_precision,
                  contract.kind,           contract.bits_asked};
    const std::lock_guard lock(mutex);
    if (of.size() >= most) of.clear();
    return body(of[key]);
  }
};

Pauses& pauses() {
  static auto& all = *new Pauses;  // as the words of streams
  return all;
}

}  // namespace

bool wants_a_look(cudaStream_t stream, const DeviceProductPlan& plan) {
  return pauses().with(stream, plan, [](LookPause& p) { return p.wants_a_look(); });
}

void looked(cudaStream_t stream, const DeviceProductPlan& plan, bool in_vain) {
  pauses().with(stream, plan, [&](LookPause& p) { p.looked(in_vain); });
}

struct RegularityWords::Words {
  std::mutex mutex;
  DeviceBuffer<RegularityState> state{1};
  DeviceBuffer<int> hold{1};
  unsigned* host = nullptr;            // pinned, and seen by the device under the same address
  bool was_regular[2] = {true, true};  // [lean]

  Words() {
    check(cudaMemset(state.data(), 0, sizeof(RegularityState)), "cudaMemset");
    check(cudaStreamSynchronize(nullptr), "cudaMemset");  // streams that do not wait for the default one follow
    check(cudaHostAlloc(reinterpret_cast<void**>(&host), sizeof(unsigned), cudaHostAllocDefault), "cudaHostAlloc");
  }
};

RegularityWords::Words& RegularityWords::of_stream(cudaStream_t stream) {
  static std::mutex mutex;
  // Never freed: kernels of a stream that is gone may still be running, and a process has few streams.
  static auto& all = *new std::map<std::pair<int, unsigned long long>, std::unique_ptr<Words>>;
  const int device = current_device().number;  // default streams of two devices may have one number
  const unsigned long long id = id_of(stream);
  const std::lock_guard lock(mutex);
  std::unique_ptr<Words>& words = all[{device, id}];
  if (words == nullptr) words = std::make_unique<Words>();
  return *words;
}

RegularityWords::RegularityWords(cudaStream_t stream, bool lean)
    : stream_(stream), words_(of_stream(stream)), lean_(lean), lock_(words_.mutex) {
  *static_cast<volatile unsigned*>(words_.host) = 0;
}

RegularityWords::~RegularityWords() {
  if (!answered_) (void)cudaStreamSynchronize(stream_);
}

Regularity RegularityWords::regularity() const { return {words_.state.data(), words_.hold.data(), words_.host}; }

bool RegularityWords::was_regular() const { return words_.was_regular[lean_]; }

bool RegularityWords::wait() {
  constexpr int polls_between_queries = 4096;
  const volatile unsigned* answer = words_.host;
  for (;;) {
    for (int i = 0; i < polls_between_queries; ++i)
      if (*answer != 0) {
        answered_ = true;
        return words_.was_regular[lean_] = *answer == Regularity::regular;
      }
    const cudaError_t state = cudaStreamQuery(stream_);
    if (state == cudaErrorNotReady) {
      (void)cudaGetLastError();  // no error of anybody's
      continue;
    }
    check(state, "residues of A and B");
    if (*answer == 0) fail(Status::internal_error, "residues of A and B: the kernel ended without an answer");
  }
}

}  // namespace vernier::cuda
