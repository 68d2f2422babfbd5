#include "residue/regularity.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <utility>

#include "base/status.hpp"
#include "cuda/device.hpp"
#include "product/backoff.hpp"
#include "residue/bound/bound_kernels.hpp"

namespace vernier::cuda {

namespace {

// Of all shapes on all streams.
struct Memories {
  using Key =
      std::tuple<int, unsigned long long, std::int64_t, std::int64_t, std::int64_t, bool, bool, Contract::Kind, int>;
  static constexpr std::size_t most = 4096;  // then all are forgotten
  struct Memory {
    Backoff pause;
    ProductMemory product;
  };

  std::mutex mutex;
  std::map<Key, Memory> of;

  static constexpr unsigned long long any_stream = ~0ull;

  template <class Body>
  auto with(unsigned long long stream, const DeviceProductPlan& plan, Body body) {
    const ProductShape& s = plan.shape;
    const Contract& contract = plan.printable.contract;
    const Key key{
        current_device().number, stream, s.m, s.n, s.k, plan.single_precision, plan.by_sqrt_rule, contract.kind,
        contract.bits_asked};
    const std::lock_guard lock(mutex);
    if (of.size() >= most) of.clear();
    return body(of[key]);
  }
};

Memories& memories() {
  static auto& all = *new Memories;  // as the words of streams
  return all;
}

}  // namespace

void fail_words(const char* kernel, int words) {
  fail(Status::internal_error, "{}: {} words an element: expected 1 to 6, counting 2 or 3", kernel, words);
}

bool should_try(cudaStream_t stream, const DeviceProductPlan& plan) {
  return memories().with(id_of(stream), plan, [](Memories::Memory& m) { return m.pause.should_try(); });
}

void tried(cudaStream_t stream, const DeviceProductPlan& plan, bool in_vain) {
  for (const auto key : {id_of(stream), Memories::any_stream})
    memories().with(key, plan, [&](Memories::Memory& m) { m.pause.tried(in_vain); });
}

bool pauses_on_any_stream(const DeviceProductPlan& plan) {
  return memories().with(Memories::any_stream, plan, [](const Memories::Memory& m) { return m.pause.pauses(); });
}

ProductMemory remembered(cudaStream_t stream, const DeviceProductPlan& plan) {
  return memories().with(id_of(stream), plan, [](const Memories::Memory& m) { return m.product; });
}

ProductMemory remembered_of_any_stream(const DeviceProductPlan& plan) {
  return memories().with(Memories::any_stream, plan, [](const Memories::Memory& m) { return m.product; });
}

void remember(cudaStream_t stream, const DeviceProductPlan& plan, const ProductMemory& memory) {
  for (const auto key : {id_of(stream), Memories::any_stream})
    memories().with(key, plan, [&](Memories::Memory& m) { m.product = memory; });
}

struct RegularityMailbox::Words {
  std::mutex mutex;
  DeviceBuffer<RegularityState> state{1};
  DeviceBuffer<int> irregular{1};
  unsigned* host = nullptr;            // two, pinned, and seen by the device under the same address
  bool was_regular[2] = {true, true};  // [square-root]

  Words() {
    check(cudaMemset(state.data(), 0, sizeof(RegularityState)), "cudaMemset");
    check(cudaStreamSynchronize(nullptr), "cudaMemset");  // streams that do not wait for the default one follow
    check(cudaHostAlloc(reinterpret_cast<void**>(&host), 2 * sizeof(unsigned), cudaHostAllocDefault), "cudaHostAlloc");
  }
};

RegularityMailbox::Words& RegularityMailbox::of_stream(cudaStream_t stream) {
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

RegularityMailbox::RegularityMailbox(cudaStream_t stream, bool by_sqrt_rule)
    : stream_(stream), words_(of_stream(stream)), by_sqrt_rule_(by_sqrt_rule), lock_(words_.mutex) {
  for (int word = 0; word < 2; ++word) static_cast<volatile unsigned*>(words_.host)[word] = 0;
}

RegularityMailbox::~RegularityMailbox() {
  if (!answered_) (void)cudaStreamSynchronize(stream_);
}

Regularity RegularityMailbox::regularity() const { return {words_.state.data(), words_.irregular.data(), words_.host}; }

bool RegularityMailbox::was_regular() const { return words_.was_regular[by_sqrt_rule_]; }

unsigned* RegularityMailbox::verdict() const { return words_.host + 1; }

unsigned RegularityMailbox::answer(const volatile unsigned* word) {
  constexpr int polls_between_queries = 4096;
  for (;;) {
    for (int i = 0; i < polls_between_queries; ++i)
      if (const unsigned found = *word; found != 0) return found;
    const cudaError_t state = cudaStreamQuery(stream_);
    if (state == cudaErrorNotReady) {
      (void)cudaGetLastError();  // no error of anybody's
      continue;
    }
    check(state, "residues of A and B");
    if (*word == 0) fail(Status::internal_error, "residues of A and B: the kernel ended without an answer");
  }
}

bool RegularityMailbox::wait() {
  const bool regular = answer(words_.host) == Regularity::regular;
  answered_ = true;
  return words_.was_regular[by_sqrt_rule_] = regular;
}

bool RegularityMailbox::wait_for_verdict() {
  answered_ = false;
  const bool serves = answer(verdict()) == BoundTask::guess_serves;
  answered_ = true;
  return serves;
}

}  // namespace vernier::cuda
