// The brief products that a thread made last: a call like one of them, of whatever scalars and matrices, is in order
// and goes natively, as long as what decided about it stays the same. Planning it anew takes longer than 5 % of some.
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/asked_device.hpp"
#include "base/environment.hpp"
#include "base/variable.hpp"
#include "blas/plan.hpp"
#include "engine/int8_engine.hpp"
#include "product/call.hpp"
#include "product/native/native.hpp"
#include "product/plan/measured_rates.hpp"
#include "product/plan/method.hpp"
#include "product/plan/observed_times.hpp"
#include "residue/plan/cost.hpp"

namespace vernier {

template <class T>
class BriefCall {
 public:
  // Where calls of such a shape are kept, one at a time. (Inline, its address in each thread is asked for many times.)
  [[gnu::hot, gnu::noinline]] static BriefCall& place(const ProductShape& s) {
    constinit static thread_local std::array<BriefCall, 16> places{};
    const std::array sizes{s.m, s.n, s.k};
    std::uint64_t hash = 0;
    for (const std::int64_t size : sizes) hash = (hash ^ static_cast<std::uint64_t>(size)) * 0x9e3779b97f4a7c15U;
    return places[hash >> 60];
  }

  // What is not asked here is the same in every such call, or native_gemm() asks.
  bool serves(const GemmCall<T>& p, const Options& o) const {
    return left_ != 0 && p.alpha != T{0} && p.a != nullptr && p.b != nullptr && p.c != nullptr && usual(o) &&
           is_like(p, o) && rates_ == known_rates.load(std::memory_order_acquire) &&
           (environment_.hold() || engine_in_environment() == nullptr) &&
           (anywhere_ || device_changes_ == device_changes.load(std::memory_order_relaxed)) &&
           ((o.threads > 0 && !in_forked_child) || usable_threads(o.threads) == threads_);
  }
  // Into a new plan.
  void describe(const ProductShape& s, const Contract& contract, Plan& p) {
    p.m = s.m, p.n = s.n, p.k = s.k;
    p.contract = contract;
    p.threads = threads_;
    p.log2_bound = log2_bound_;
    begin(p.type, type);
    begin(p.scheme, "native");
    if (name_->size() > 15)
      begin(p.engine, *name_);
    else  // fifteen characters are copied as two words
      begin(p.engine, std::string_view(begin_of_name_.data(), 15)), p.engine.erase(name_->size());
    if (left_ == all) return begin(p.reason, small_product_reason);
    begin(p.reason, as_before_reason);
    --left_, ++spared_;
  }
  // A call that is planned.
  void begin_planning(const GemmCall<T>& p, const Options& o) {
    const std::uint32_t spared = std::exchange(spared_, 0);
    calls_to_spare = 0, calls_spared = is_like(p, o) ? spared : 0;
  }
  // What a call came to: brief by its estimate, or because it was; no other method ends so soon. Others spare some that
  // are like them a plan, which takes 7000 instructions.
  void keep(const GemmCall<T>& p, const Options& o, const Report& report) {
    constexpr double brief = least_residue_seconds / 2, worth_it = 0.002;
    const Plan& plan = report.plan;
    const bool estimated = plan.scheme == "native" && plan.engine == native_name() && !report.fallback &&
                           plan.reason.starts_with(by_estimates) && report.seconds < worth_it;
    const bool any = plan.reason == small_product_reason || (estimated && report.seconds < brief);
    if (!usual(o) || !(any || (estimated && calls_to_spare > 0))) return;
    left_ = any ? all : calls_to_spare;
    like_ = {.opa = p.opa, .opb = p.opb, .m = p.m, .n = p.n, .k = p.k, .lda = p.lda, .ldb = p.ldb, .ldc = p.ldc};
    contract_ = o.contract;
    asked_threads_ = o.threads;
    anywhere_ = is_small_product(p.shape());
    device_changes_ = device_changes;
    environment_ = NoNewStrings::since_now();
    rates_ = known_rates;
    threads_ = plan.threads, log2_bound_ = plan.log2_bound;
    name_ = &native_name();
    name_->copy(begin_of_name_.data(), begin_of_name_.size());
  }

 private:
  bool is_like(const GemmCall<T>& p, const Options& o) const {
    const auto differ = [](auto x, auto y) { return static_cast<std::uint64_t>(x ^ y); };  // without branches
    return (differ(p.m, like_.m) | differ(p.n, like_.n) | differ(p.k, like_.k) | differ(p.lda, like_.lda) |
            differ(p.ldb, like_.ldb) | differ(p.ldc, like_.ldc) | differ(o.threads, asked_threads_)) == 0 &&
           p.opa == like_.opa && p.opb == like_.opb && o.contract == contract_;
  }
  // An empty string, which holds no memory: a fifth of the instructions of an assignment.
  static void begin(std::string& empty, const auto& text) { std::construct_at(&empty, text); }
  static bool usual(const Options& o) {
    return o.engine.empty() && o.workspace == nullptr && o.workspace_bytes == 0 && !o.progress && !o.device;
  }
  static constexpr bool single = std::is_same_v<RealType<T>, float>;
  static constexpr const char* type =
      is_complex<T> ? (single ? "complex float" : "complex double") : (single ? "float" : "double");

  GemmCall<T> like_;
  Contract contract_;
  int asked_threads_ = 0, threads_ = 0;
  bool anywhere_ = false;
  NoNewStrings environment_;
  std::uint64_t device_changes_ = 0;
  const MeasuredRates* rates_ = nullptr;
  double log2_bound_ = 0;
  const std::string* name_ = nullptr;
  std::array<char, 15> begin_of_name_{};
  static constexpr std::uint32_t all = UINT32_MAX;
  std::uint32_t left_ = 0, spared_ = 0;  // calls that are not planned: more, and so far
};

}  // namespace vernier
