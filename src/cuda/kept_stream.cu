#include "cuda/kept_stream.hpp"

#include <map>
#include <mutex>
#include <new>
#include <utility>

namespace vernier::cuda {
namespace {

struct Spare {
  std::mutex mutex;
  std::multimap<int, std::unique_ptr<Stream>> streams;  // by device
};

// Never destroyed: the driver may be gone by then.
Spare& spare() {
  static auto& all = *new Spare;
  return all;
}

}  // namespace

KeptStream::KeptStream() : device_(current_device().number) {
  {
    const std::lock_guard lock(spare().mutex);
    const auto found = spare().streams.find(device_);
    if (found != spare().streams.end()) {
      stream_ = std::move(found->second);
      spare().streams.erase(found);
    }
  }
  if (stream_ == nullptr) stream_ = std::make_unique<Stream>();
}

KeptStream::~KeptStream() {
  const cudaError_t code = cudaStreamQuery(*stream_);
  if (code != cudaSuccess) (void)cudaGetLastError();
  if (code != cudaSuccess && code != cudaErrorNotReady) return;
  try {
    const std::lock_guard lock(spare().mutex);
    spare().streams.emplace(device_, std::move(stream_));
  } catch (const std::bad_alloc&) {  // it is not kept
  }
}

}  // namespace vernier::cuda
