// Which of two methods one call takes, and what it took: estimates give way to what calls like it took before.
#pragma once

#include <exception>
#include <optional>

#include "base/duration.hpp"
#include "product/plan/observed_times.hpp"

namespace vernier {

class ObservedChoice {
 public:
  ObservedChoice() = default;  // residues are asked for
  ObservedChoice(const ProductClass& product, Rival first, Rival second) : product_(product) {
    rivals_.add(first.method, first.estimate);
    rivals_.add(second.method, second.estimate);
    method_ = choose_method(*product_, rivals_.span());
  }

  Method method() const { return method_; }
  bool residues() const { return method_ == Method::residues; }
  double estimate() const { return rivals_.all[rivals_.all[0].method == method_ ? 0 : 1].estimate; }
  bool is_open() const { return product_.has_value(); }

  // The output is written by now: nothing may fail any more.
  void done() const noexcept try {
    if (!product_ || !observes()) return;
    observe(*product_, rivals_.span(), method_, clock_.seconds());
  } catch (const std::exception&) {
  }

 private:
  std::optional<ProductClass> product_;
  Rivals rivals_;
  Method method_ = Method::residues;
  Clock clock_;
};

}  // namespace vernier
