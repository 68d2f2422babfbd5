#include "offload/cuda_link.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/asked_device.hpp"
#include "cuda/device.hpp"
#include "product/device_memory.hpp"
#include "product/staging_memory.hpp"

namespace vernier::offload {
namespace {

using cuda::check;

class Mark {
 public:
  Mark() { check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "cudaEventCreate"); }
  ~Mark() {
    if (event_ != nullptr) (void)cudaEventDestroy(event_);
  }
  Mark(Mark&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
  Mark(const Mark&) = delete;
  Mark& operator=(const Mark&) = delete;
  operator cudaEvent_t() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

// What outlives a product.
struct Kept {
  cuda::Stream streams[3];
  std::vector<Mark> marks;
  cuda::PinnedMemory witness{sizeof(double)};  // of the context: gone with it where the program resets the device
};

struct Spare {
  std::mutex mutex;
  std::multimap<int, std::unique_ptr<Kept>> links;  // by device
};

// Never destroyed: the driver may be gone by then.
Spare& spare() {
  static auto& all = *new Spare;
  return all;
}

class CudaLink final : public Link {
 public:
  CudaLink(int device, BlockProduct product) : device_(device), product_(std::move(product)) {}

  ~CudaLink() override {
    memory_.reset();
    if (kept_ == nullptr || broken_) return;
    const std::lock_guard lock(spare().mutex);
    spare().links.emplace(device_, std::move(kept_));
  }

  void open(std::size_t device_bytes, std::size_t staging_bytes, int marks) override {
    const CurrentDevice current(device_);
    {
      const std::lock_guard lock(spare().mutex);
      const auto found = spare().links.find(device_);
      if (found != spare().links.end()) {
        kept_ = std::move(found->second);
        spare().links.erase(found);
      }
    }
    if (kept_ != nullptr && !kept_->witness.lives())
      (void)kept_.release();  // handles without a context: not to be used
    if (kept_ == nullptr) kept_ = std::make_unique<Kept>();
    kept_->marks.reserve(static_cast<std::size_t>(marks));
    while (kept_->marks.size() < static_cast<std::size_t>(marks)) kept_->marks.emplace_back();
    if (staging_bytes > 0) staging_.emplace(staging_bytes);
    memory_.emplace(device_bytes, stream(Queue::up));
  }

  std::byte* staging() override { return staging_->data(); }

  void send(const std::byte* staged, std::size_t offset, std::size_t bytes) override {
    copy(memory_->data() + offset, staged, bytes, cudaMemcpyHostToDevice, Queue::up);
  }
  void fetch(std::size_t offset, std::byte* staged, std::size_t bytes) override {
    copy(staged, memory_->data() + offset, bytes, cudaMemcpyDeviceToHost, Queue::down);
  }

  void send(const HostMatrix& part, std::int64_t rows, std::int64_t columns, std::size_t offset) override {
    const CurrentDevice current(device_);
    const std::size_t width = static_cast<std::size_t>(rows) * part.element;
    check(
        cudaMemcpy2DAsync(memory_->data() + offset, width, part.data, static_cast<std::size_t>(part.ld) * part.element,
                          width, static_cast<std::size_t>(columns), cudaMemcpyHostToDevice, stream(Queue::up)),
        "copy to the device");
  }
  void fetch(std::size_t offset, const HostMatrix& part, std::int64_t rows, std::int64_t columns) override {
    const CurrentDevice current(device_);
    const std::size_t width = static_cast<std::size_t>(rows) * part.element;
    check(
        cudaMemcpy2DAsync(part.data, static_cast<std::size_t>(part.ld) * part.element, memory_->data() + offset, width,
                          width, static_cast<std::size_t>(columns), cudaMemcpyDeviceToHost, stream(Queue::down)),
        "copy from the device");
  }

  void multiply(const Block& block, std::size_t a, std::size_t b) override {
    const CurrentDevice current(device_);
    std::byte* data = memory_->data();
    product_({&block, data + a, data + b, data + block.offset, stream(Queue::product)});
  }

  void record(Queue queue, int mark) override { check(cudaEventRecord(at(mark), stream(queue)), "cudaEventRecord"); }
  void wait(Queue queue, int mark) override {
    check(cudaStreamWaitEvent(stream(queue), at(mark), 0), "cudaStreamWaitEvent");
  }
  bool reached(int mark) override {
    const cudaError_t code = cudaEventQuery(at(mark));
    if (code == cudaErrorNotReady) return false;
    check(code, "a product on the device");
    return true;
  }

  void settle() noexcept override {
    if (kept_ == nullptr) return;
    for (const cuda::Stream& s : kept_->streams)
      if (cudaStreamSynchronize(s) != cudaSuccess) broken_ = true;
    (void)cudaGetLastError();
  }

 private:
  cudaStream_t stream(Queue queue) const { return kept_->streams[static_cast<int>(queue)]; }
  cudaEvent_t at(int mark) const { return kept_->marks[static_cast<std::size_t>(mark)]; }

  void copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, Queue queue) {
    const CurrentDevice current(device_);  // no other one may know memory out of this one's pool
    check(cudaMemcpyAsync(to, from, bytes, kind, stream(queue)),
          kind == cudaMemcpyHostToDevice ? "copy to the device" : "copy from the device");
  }

  int device_;
  BlockProduct product_;
  std::unique_ptr<Kept> kept_;
  std::optional<cuda::StagingMemory> staging_;
  std::optional<cuda::DeviceWorkspace> memory_;
  bool broken_ = false;
};

Memory memory_at(const void* pointer) {
  cudaPointerAttributes attributes{};
  if (cudaPointerGetAttributes(&attributes, pointer) != cudaSuccess) {
    (void)cudaGetLastError();
    return Memory::pageable;
  }
  switch (attributes.type) {
    case cudaMemoryTypeHost:
      return Memory::pinned;
    case cudaMemoryTypeDevice:
      return Memory::device;
    case cudaMemoryTypeManaged:
      return Memory::managed;
    default:
      return Memory::pageable;
  }
}

}  // namespace

std::unique_ptr<Link> cuda_link(int device, BlockProduct product) {
  return std::make_unique<CudaLink>(device, std::move(product));
}

Memory memory_of(const void* first, const void* last) {
  const Memory at_first = memory_at(first), at_last = memory_at(last);
  return at_first == at_last ? at_first : Memory::pageable;
}

std::string missing_device() { return cuda::missing_device(); }

int device_count() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) {
    (void)cudaGetLastError();
    return 0;
  }
  return count;
}

std::string device_name(int device) {
  const CurrentDevice current(device);
  return cuda::current_device().name;
}

std::size_t free_memory(int device) {
  const CurrentDevice current(device);
  return std::min(cuda::available_device_memory(), most_gpu_memory());
}

void synchronize() { check(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize"); }

void release_links() {
  const std::lock_guard lock(spare().mutex);
  spare().links.clear();
}

CurrentDevice::CurrentDevice(int device) {
  check(cudaGetDevice(&before_), "cudaGetDevice");
  if (device != before_) check(cudaSetDevice(device), "cudaSetDevice");
}

CurrentDevice::~CurrentDevice() { (void)cudaSetDevice(before_); }

}  // namespace vernier::offload
