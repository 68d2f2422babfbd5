// A party with its data in device memory: what DistributedProduct asks of it, on a stream.
#pragma once

#include <memory>

#include "residue/partial/finish.hpp"
#include "residue/partial/pass_data.hpp"
#include "residue/partial/scan_message.hpp"

namespace vernier {

// Entries, elements and words are in the memory of the GPU; indices, messages and scales in that of the host. All but
// scan() is queued. Long sums of digits, and the last rounding of contract exact, take the way through the host.
template <class T>
class DeviceParts {
 public:
  virtual ~DeviceParts() = default;

  virtual void scan(const PartView<T>& view, const RoundMessage& message) const = 0;
  virtual void convert(const PassData& pass, Side side, const PartView<T>& view, bool conjugated, std::byte* elements,
                       std::int64_t ld) const = 0;
  virtual void multiply(const PassData& pass, const ElementProduct& product) const = 0;
  virtual void add(const PassData& pass, std::int64_t count, const std::byte* from, std::byte* to) const = 0;
  virtual void to_words(const PassData& pass, std::int64_t count, const std::byte* elements,
                        std::int64_t* words) const = 0;
  virtual void from_words(const PassData& pass, std::int64_t count, const std::int64_t* words,
                          std::byte* elements) const = 0;
  virtual void finish(const Finish<T>& finish) const = 0;
  virtual void scale(T beta, const MatrixPart<T>& c, Rounding rounding) const = 0;
  virtual std::shared_ptr<std::byte> memory(std::size_t bytes) const = 0;
  virtual void sum_over_ranks(void* communicator, int most, std::int64_t* words, std::size_t count) const = 0;
};

// On a cudaStream_t of the current GPU; throws Error(Status::unsupported) where there is none.
template <class T>
std::unique_ptr<DeviceParts<T>> device_parts(void* stream);

}  // namespace vernier
