// What a product by slices on a GPU works with: its memory, an operand and its slices, and the time of its stages.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "cuda/device.hpp"
#include "product/device_memory.hpp"
#include "slice/slices_cuda.hpp"

namespace vernier::cuda {

// Memory of one product, with a count of it.
class Memory {
 public:
  explicit Memory(cudaStream_t stream) : stream_(stream) {}

  template <class X>
  X* take(std::int64_t count) {
    const std::size_t bytes = std::max<std::size_t>(static_cast<std::size_t>(count) * sizeof(X), 256);
    pieces_.push_back(std::make_unique<DeviceWorkspace>(bytes, stream_));
    bytes_ += bytes;
    return reinterpret_cast<X*>(pieces_.back()->data());
  }
  std::size_t bytes() const { return bytes_; }

 private:
  cudaStream_t stream_;
  std::vector<std::unique_ptr<DeviceWorkspace>> pieces_;
  std::size_t bytes_ = 0;
};

// One operand and its slices, made slices_at_once at a time.
template <class T>
class SlicedOperand {
 public:
  static constexpr std::int64_t pitch_unit = 16;  // elements: 16-byte rows for every format

  SlicedOperand(const Operand<T>& x, SliceFormat format, Memory& memory, cudaStream_t stream)
      : x_(x), format_(format), memory_(memory), stream_(stream), pitch_(round_up(x.k, pitch_unit)) {
    source_.vectors = x.vectors;
    source_.k = x.k;
    source_.left = memory.take<double>(x.vectors * x.k);
    source_.statistics = memory.take<VectorStatistics>(x.vectors);
    source_.weights = memory.take<double>(x.k);
    source_.weight_blocks = memory.take<double>(divide_up(x.vectors, std::int64_t{slice_sum_vectors}) * x.k);
    source_.exponent = memory.take<int>(1);
    source_.units = memory.take<int>(x.vectors);
    source_.whole = memory.take<double>(x.vectors);
    states_ = memory.take<SliceState>(slices_at_once);
  }

  void gather() {
    gather_slices_source(x_, source_, stream_);
    zero_ = on_host(source_.exponent, 1, stream_)[0] == SliceSource::most_negative;
  }

  // Makes slice `index` and its neighbours, if they are not there.
  void need(int index, const SlicedOperand& other, int bits) {
    while (index >= static_cast<int>(known_.size())) {
      chunks_.push_back({memory_.template take<std::byte>(slices_at_once * x_.vectors * pitch_ * bytes_of(format_)),
                         memory_.template take<int>(slices_at_once * x_.vectors)});
      check(cudaMemsetAsync(states_, 0, slices_at_once * sizeof(SliceState), stream_), "slices");
      split_on_device({.source = source_,
                       .weights = other.source_.weights,
                       .bits = bits,
                       .first = known_.empty(),
                       .format = format_,
                       .pitch = pitch_,
                       .digits = chunks_.back().digits,
                       .exponents = chunks_.back().exponents,
                       .states = states_},
                      stream_);
      const std::vector<SliceState> states = on_host(states_, slices_at_once, stream_);
      known_.insert(known_.end(), states.begin(), states.end());
    }
  }

  bool empty_after(int slices) const {
    return slices == 0 ? zero_ : known_[static_cast<std::size_t>(slices - 1)].some_left == 0;
  }
  double left_after(int slices) const {
    return empty_after(slices) ? 0 : known_[static_cast<std::size_t>(slices - 1)].ratio;
  }

  // Digits of one vector of a slice, from index l on.
  const std::byte* digits(int slice, std::int64_t vector, std::int64_t l) const {
    return chunks_[static_cast<std::size_t>(slice / slices_at_once)].digits +
           ((slice % slices_at_once * x_.vectors + vector) * pitch_ + l) * bytes_of(format_);
  }
  std::int64_t pitch() const { return pitch_; }
  std::int64_t slice_step() const { return x_.vectors * pitch_; }

  // Exponents of all slices, one after another.
  const int* exponents(int slices) {
    int* all = memory_.template take<int>(std::max(slices, 1) * x_.vectors);
    for (int s = 0; s < slices; s += slices_at_once) {
      const auto count = static_cast<std::size_t>(std::min(slices_at_once, slices - s) * x_.vectors);
      check(cudaMemcpyAsync(all + s * x_.vectors, chunks_[static_cast<std::size_t>(s / slices_at_once)].exponents,
                            count * sizeof(int), cudaMemcpyDeviceToDevice, stream_),
            "slices");
    }
    return all;
  }
  const VectorStatistics* statistics() const { return source_.statistics; }

 private:
  struct Chunk {
    std::byte* digits;
    int* exponents;
  };

  Operand<T> x_;
  SliceFormat format_;
  Memory& memory_;
  cudaStream_t stream_;
  std::int64_t pitch_;
  SliceSource source_;
  SliceState* states_;
  std::vector<Chunk> chunks_;
  std::vector<SliceState> known_;
  bool zero_ = true;
};

// Seconds between marks on the stream.
class StageClock {
 public:
  explicit StageClock(cudaStream_t stream) : stream_(stream) {}

  template <class Body>
  void run(double& seconds, Body body) {
    spans_.push_back({std::make_unique<Event>(), std::make_unique<Event>(), &seconds});
    spans_.back().begin->record(stream_);
    body();
    spans_.back().end->record(stream_);
  }
  void finish() {
    check(cudaStreamSynchronize(stream_), "gemm_by_slices");
    for (const Span& s : spans_) *s.seconds += 1e-3 * static_cast<double>(s.end->milliseconds_since(*s.begin));
    spans_.clear();
  }

 private:
  struct Span {
    std::unique_ptr<Event> begin, end;
    double* seconds;
  };
  cudaStream_t stream_;
  std::vector<Span> spans_;
};

}  // namespace vernier::cuda
