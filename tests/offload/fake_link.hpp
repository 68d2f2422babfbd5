// A device in memory of the host. Its queues do what they are given late and in any order that their waits allow, so
// that work which nothing waits for is found out; and it fails when it is told to.
#pragma once

#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/status.hpp"
#include "offload/cuda_link.hpp"
#include "offload/link.hpp"
#include "support/random.hpp"

namespace vernier::test {

struct Fault {
  int at_call = -1;       // the call of a link that fails; -1: none
  bool lost = true;       // so do all that follow, and what is under way leaves garbage behind
  mutable int calls = 0;  // so far, to know how many there are
};

class FakeLink final : public offload::Link {
 public:
  FakeLink(offload::BlockProduct product, std::uint64_t seed, const Fault* fault = nullptr)
      : product_(std::move(product)), random_(seed), fault_(fault) {}

  void open(std::size_t device_bytes, std::size_t staging_bytes, int marks) override {
    call();
    device_.assign(device_bytes + 1, std::byte{0xff});
    staging_.assign(staging_bytes + 1, std::byte{0xff});
    recorded_.assign(static_cast<std::size_t>(marks), 0);
    reached_ = recorded_;
  }
  std::byte* staging() override { return staging_.data(); }

  void send(const std::byte* staged, std::size_t offset, std::size_t bytes) override {
    queue(offload::Queue::up, [=, this] { std::memcpy(device_.data() + offset, staged, bytes); });
  }
  void fetch(std::size_t offset, std::byte* staged, std::size_t bytes) override {
    queue(offload::Queue::down, [=, this] { std::memcpy(staged, device_.data() + offset, bytes); });
  }
  void send(const offload::HostMatrix& part, std::int64_t rows, std::int64_t columns, std::size_t offset) override {
    queue(offload::Queue::up, [=, this] { offload::gather(part, rows, columns, device_.data() + offset); });
  }
  void fetch(std::size_t offset, const offload::HostMatrix& part, std::int64_t rows, std::int64_t columns) override {
    const auto came = std::make_shared<bool>(false);
    queue(offload::Queue::down, [=, this] {
      offload::scatter(device_.data() + offset, part, rows, columns);
      *came = true;
    });
    const std::lock_guard lock(mutex_);
    spoil_.push_back([=] {
      if (*came) return;
      const std::vector<std::byte> garbage(static_cast<std::size_t>(rows) * part.element, std::byte{0xee});
      for (std::int64_t j = 0; j < columns; ++j) std::memcpy(part.at(0, j), garbage.data(), garbage.size());
    });
  }
  void multiply(const offload::Block& block, std::size_t a, std::size_t b) override {
    queue(offload::Queue::product, [=, this] {
      product_({&block, device_.data() + a, device_.data() + b, device_.data() + block.offset, nullptr});
    });
  }

  void record(offload::Queue which, int mark) override {
    int count = 0;
    {
      const std::lock_guard lock(mutex_);
      count = ++recorded_.at(static_cast<std::size_t>(mark));
    }
    queue(which, [=, this] { reached_[static_cast<std::size_t>(mark)] = count; });
  }
  void wait(offload::Queue which, int mark) override {
    call();
    const std::lock_guard lock(mutex_);
    const int count = recorded_.at(static_cast<std::size_t>(mark));
    if (count == 0) throw std::logic_error("a queue is to wait for a mark that was not recorded");
    queues_[static_cast<int>(which)].push_back({.mark = mark, .count = count, .work = {}});
  }
  bool reached(int mark) override {
    call();
    const std::lock_guard lock(mutex_);
    for (std::int64_t steps = random_.integer(0, 4); steps > 0; --steps) step();
    return reached_.at(static_cast<std::size_t>(mark)) == recorded_[static_cast<std::size_t>(mark)];
  }
  void settle() noexcept override {
    const std::lock_guard lock(mutex_);
    if (failed_ && fault_->lost)
      for (const auto& spoil : spoil_) spoil();
    else
      while (settled()) {
      }
    for (auto& q : queues_) q.clear();
  }

 private:
  struct Entry {
    int mark = -1, count = 0;  // to wait for
    std::function<void()> work;
  };

  // Of the link's user: here it may fail.
  void call() {
    if (fault_ == nullptr) return;
    const std::lock_guard lock(mutex_);
    const int number = fault_->calls++;
    const bool fails =
        fault_->at_call >= 0 && (number == fault_->at_call || (fault_->lost && number > fault_->at_call));
    if (!fails) return;
    failed_ = true;
    fail(Status::device_error, "the fake device fails at call {}", number);
  }

  void queue(offload::Queue which, std::function<void()> work) {
    call();
    const std::lock_guard lock(mutex_);
    queues_[static_cast<int>(which)].push_back({.work = std::move(work)});
  }

  // Something that may be done next; false: there is nothing.
  bool step() {
    const auto first = static_cast<std::size_t>(random_.integer(0, 2));
    for (std::size_t i = 0; i < 3; ++i) {
      auto& q = queues_[(first + i) % 3];
      if (q.empty()) continue;
      const Entry& head = q.front();
      if (head.mark >= 0 && reached_[static_cast<std::size_t>(head.mark)] < head.count) continue;
      const Entry entry = std::move(q.front());
      q.pop_front();
      if (entry.work) entry.work();
      return true;
    }
    return false;
  }

  // What fails leaves the rest to be done.
  bool settled() noexcept {
    try {
      return step();
    } catch (const std::exception&) {
      return true;
    }
  }

  offload::BlockProduct product_;
  Random random_;
  const Fault* fault_;
  std::mutex mutex_;
  bool failed_ = false;
  std::vector<std::byte> device_, staging_;
  std::vector<int> recorded_, reached_;
  std::deque<Entry> queues_[3];
  std::vector<std::function<void()>> spoil_;
};

}  // namespace vernier::test
