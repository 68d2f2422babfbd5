// A copy of what lies here of a distributed matrix.
#pragma once

#include <cstdlib>
#include <cstring>
#include <memory>

#include "product.hpp"

namespace vernier::interpose {

struct FreeMemory {
  void operator()(void* memory) const { std::free(memory); }
};

class LocalCopy {
 public:
  // source: where it lies; nothing is copied yet
  LocalCopy(vernier_type type, const SubMatrix& x, const vernier_part& source) : type_(type), x_(x), source_(source) {}

  std::size_t size() const { return element_size(type_); }
  void* data() const { return memory_.get(); }
  vernier_part part() const { return x_.copied(data()); }

  bool allocate() {
    memory_.reset(std::calloc(static_cast<std::size_t>(x_.ld() * (x_.column_count() + 1)), size()));
    return memory_ != nullptr;
  }
  // Entries of which keep(row - column) is true; all others are zero.
  template <class Keep>
  void take(Keep keep) {
    x_.for_each([&](std::int64_t i, std::int64_t j, std::int64_t below) {
      if (keep(below)) std::memcpy(at(i, j), source(i, j), size());
    });
  }
  template <class Keep>
  void give(Keep keep) const {
    x_.for_each([&](std::int64_t i, std::int64_t j, std::int64_t below) {
      if (keep(below)) std::memcpy(source(i, j), at(i, j), size());
    });
  }
  void take_all() {
    for_each_column([&](char* own, char* given, std::size_t bytes) { std::memcpy(own, given, bytes); });
  }
  void give_all() const {
    for_each_column([&](char* own, char* given, std::size_t bytes) { std::memcpy(given, own, bytes); });
  }
  void set_diagonal(const void* value) {
    x_.for_each([&](std::int64_t i, std::int64_t j, std::int64_t below) {
      if (below == 0) std::memcpy(at(i, j), value, size());
    });
  }
  void make_diagonal_real() {
    x_.for_each([&](std::int64_t i, std::int64_t j, std::int64_t below) {
      if (below == 0) std::memset(at(i, j) + size() / 2, 0, size() / 2);
    });
  }

 private:
  template <class Body>
  void for_each_column(Body body) const {
    if (x_.row_count() == 0) return;
    for (std::int64_t j = 0; j < x_.column_count(); ++j)
      body(at(0, j), source(0, j), size() * static_cast<std::size_t>(x_.row_count()));
  }
  char* at(std::int64_t i, std::int64_t j) const {
    return static_cast<char*>(memory_.get()) + size() * static_cast<std::size_t>(i + j * x_.ld());
  }
  char* source(std::int64_t i, std::int64_t j) const {
    return static_cast<char*>(const_cast<void*>(source_.X)) + size() * static_cast<std::size_t>(i + j * source_.ldx);
  }

  vernier_type type_;
  const SubMatrix& x_;
  vernier_part source_;
  std::unique_ptr<void, FreeMemory> memory_;
};

}  // namespace vernier::interpose
