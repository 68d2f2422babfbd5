#include "residue/regularity.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <new>
#include <tuple>
#include <utility>

#include "base/status.hpp"
#include "cuda/device.hpp"
#include "product/backoff.hpp"

namespace vernier::cuda {
namespace {

// Of all shapes on all streams.
struct Memories {
  using Key = std::tuple<int, unsigned long long, std::int64_t, std::int64_t, std::int64_t, bool, bool, Contract::Kind,
                         int, int>;
  static constexpr std::size_t most = 4096;  // then all are forgotten
  struct Memory {
    Backoff pause;
    ProductMemory product;
    bool wants_quarters = false, quarters_served = false;
    bool all_of_c_lost = false;  // where quarters had served
    int vain_quarters = 0, quarters_in_a_row = 0;
    double share_by_quarters = 0;
    int moduli_of_quarters = 0, quarters_alike = 0;  // how often as the time before
    Backoff quarters_pause, k_pause;
    Range enough_k{};
  };

  std::mutex mutex;
  std::map<Key, Memory> of;

  static constexpr unsigned long long any_stream = ~0ull;

  static Key key_of(unsigned long long stream, const DeviceProductPlan& plan) {
    const ProductShape& s = plan.shape;
    const Contract& contract = plan.printable.contract;
    return {current_device().number, stream,   s.m, s.n, s.k, plan.single_precision, plan.by_sqrt_rule, contract.kind,
            contract.bits_asked,     plan.part};
  }

  template <class Body>
  auto with(unsigned long long stream, const DeviceProductPlan& plan, Body body) {
    const Key key = key_of(stream, plan);
    const std::lock_guard lock(mutex);
    if (of.size() >= most) of.clear();
    return body(of[key]);
  }

  template <class Body>
  auto with(const Past& past, const DeviceProductPlan& plan, Body body) {
    return with(stream_of(past, plan), plan, body);
  }

 private:
  unsigned long long stream_of(const Past& past, const DeviceProductPlan& plan) {
    if (past.waits) return id_of(past.stream);
    if (capturing(past.stream)) return any_stream;
    const unsigned long long stream = id_of(past.stream);
    const Key key = key_of(stream, plan);
    const std::lock_guard lock(mutex);
    return of.contains(key) ? stream : any_stream;
  }
};

Memories& memories() {
  static auto& all = *new Memories;  // as the words of streams
  return all;
}

// What is told of a stream is told of any. The product may be queued: nothing may fail any more, and what there is no
// memory for is forgotten.
template <class Body>
void tell(cudaStream_t stream, const DeviceProductPlan& plan, Body body) {
  try {
    for (const auto key : {id_of(stream), Memories::any_stream}) memories().with(key, plan, body);
  } catch (const std::bad_alloc&) {
  }
}

}  // namespace

void fail_words(const char* kernel, int words) {
  fail(Status::internal_error, "{}: {} words an element: expected 1 to 6, counting 2 or 3", kernel, words);
}

bool should_try(cudaStream_t stream, const DeviceProductPlan& plan) {
  return memories().with(id_of(stream), plan, [](Memories::Memory& m) { return m.pause.should_try(); });
}

void tried(cudaStream_t stream, const DeviceProductPlan& plan, bool in_vain) {
  tell(stream, plan, [&](auto& m) {
    m.pause.tried(in_vain);
    if (!in_vain) m.quarters_served = false;  // all of C does, or may
  });
}

bool pauses_without_host(cudaStream_t stream, const DeviceProductPlan& plan) {
  return memories().with(Past{stream, false}, plan, [](const Memories::Memory& m) { return m.pause.failed(); });
}

void want_quarters(cudaStream_t stream, const DeviceProductPlan& plan) {
  tell(stream, plan, [](auto& m) { m.wants_quarters = true, m.all_of_c_lost = m.quarters_served; });
}

bool takes_quarters(cudaStream_t stream, const DeviceProductPlan& plan) {
  return memories().with(id_of(stream), plan,
                         [](auto& m) { return m.wants_quarters && m.quarters_pause.should_try(); });
}

bool takes_quarters_without_host(cudaStream_t stream, const DeviceProductPlan& plan) {
  return memories().with(Past{stream, false}, plan, [](auto& m) { return m.wants_quarters && m.quarters_served; });
}

bool quarters_went_alike(cudaStream_t stream, const DeviceProductPlan& plan) {
  constexpr int least = 3, looks = 16;  // one of so many
  return memories().with(id_of(stream), plan, [](const Memories::Memory& m) {
    return m.wants_quarters && m.quarters_served && m.quarters_alike >= least && m.quarters_alike % looks != 0;
  });
}

bool tries_something(cudaStream_t stream, const DeviceProductPlan& plan) {
  return memories().with(id_of(stream), plan, [](const Memories::Memory& m) {
    const bool tries_quarters = m.wants_quarters && !m.quarters_served && !m.quarters_pause.pauses();
    return tries_quarters || (!m.pause.pauses() && m.product.guess > 0 && !m.product.served);
  });
}

void took_quarters(cudaStream_t stream, const DeviceProductPlan& plan, double share, int moduli, bool in_vain) {
  constexpr int most_in_a_row = 64, first_calls = 4;  // whose quarters may still learn
  tell(stream, plan, [&](auto& m) {
    const bool alike = !in_vain && moduli > 0 && share == m.share_by_quarters && moduli == m.moduli_of_quarters;
    m.quarters_alike = alike ? m.quarters_alike + 1 : 0;
    m.share_by_quarters = share, m.moduli_of_quarters = moduli;
    m.quarters_served = share >= 0.5;
    m.vain_quarters = m.quarters_served ? 0 : m.vain_quarters + 1;
    if (m.vain_quarters == 0 || m.vain_quarters >= first_calls) m.quarters_pause.tried(m.vain_quarters > 0);
    if ((share < 1 || m.all_of_c_lost) && ++m.quarters_in_a_row < most_in_a_row) return;
    m.wants_quarters = false, m.quarters_in_a_row = 0;
    m.pause = {};
    if (share == 1) m.product = {};
  });
}

Range known_k(const DeviceProductPlan& plan, const Past& past) {
  return memories().with(past, plan, [](const Memories::Memory& m) { return m.enough_k; });
}

bool may_guess_k(cudaStream_t stream, const DeviceProductPlan& plan) {
  return memories().with(id_of(stream), plan, [](Memories::Memory& m) { return m.k_pause.should_try(); });
}

void remember_k(cudaStream_t stream, const DeviceProductPlan& plan, Range kept) {
  tell(stream, plan, [&](auto& m) { m.enough_k = kept, m.k_pause.tried(kept.count == 0); });
}

ProductMemory remembered(const DeviceProductPlan& plan, const Past& past) {
  return memories().with(past, plan, [](const Memories::Memory& m) { return m.product; });
}

void remember(cudaStream_t stream, const DeviceProductPlan& plan, const ProductMemory& memory) {
  tell(stream, plan, [&](auto& m) { m.product = memory; });
}

struct RegularityQuestion::Words {
  std::mutex mutex;
  DeviceBuffer<RegularityState> state{1};
  DeviceBuffer<int> irregular{1};
  std::uint32_t* host = nullptr;       // two, pinned, and seen by the device under the same address
  bool was_regular[2] = {true, true};  // [square-root]

  Words() {
    check(cudaMemset(state.data(), 0, sizeof(RegularityState)), "cudaMemset");
    check(cudaStreamSynchronize(nullptr), "cudaMemset");  // streams that do not wait for the default one follow
    check(cudaHostAlloc(reinterpret_cast<void**>(&host), 2 * sizeof *host, cudaHostAllocDefault), "cudaHostAlloc");
    host[0] = host[1] = 0;
  }
};

RegularityQuestion::Words& RegularityQuestion::of_stream(cudaStream_t stream) {
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

RegularityQuestion::RegularityQuestion(cudaStream_t stream, bool by_sqrt_rule)
    : stream_(stream),
      words_(of_stream(stream)),
      by_sqrt_rule_(by_sqrt_rule),
      lock_(words_.mutex),
      regular_(words_.host),
      guess_(words_.host + 1) {}

Regularity RegularityQuestion::regularity() const {
  return {words_.state.data(), words_.irregular.data(), regular_.answer()};
}

bool RegularityQuestion::was_regular() const { return words_.was_regular[by_sqrt_rule_]; }

bool RegularityQuestion::wait() {
  return words_.was_regular[by_sqrt_rule_] = regular_.wait(stream_, "residues of A and B");
}

}  // namespace vernier::cuda
