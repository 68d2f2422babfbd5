// LU by block columns that threads take as they become ready: while one factors a panel others update what is left.
#include "lapack/lu/ahead.hpp"

#include <algorithm>
#include <mutex>
#include <thread>
#include <vector>

#include "base/environment.hpp"
#include "engine/panel.hpp"
#include "lapack/lu/getrf.hpp"
#include "product/native/native.hpp"

namespace vernier {
namespace {

// What is to be done next: a panel's columns are factored once all panels before have updated them.
class PanelQueue {
 public:
  struct Task {
    std::size_t column, panel;  // the same: to be factored
  };

  explicit PanelQueue(std::size_t count) : updates_(count), taken_(count) {}

  // False: there is none left. Waits while others work on what the next ones need.
  bool take(Task& task) {
    for (;; std::this_thread::yield()) {
      const std::lock_guard lock(mutex_);
      if (factored_ == updates_.size()) return false;
      for (std::size_t j = factored_; j < updates_.size(); ++j) {  // the next panel's columns first
        if (taken_[j] || (updates_[j] == factored_ && j != factored_)) continue;
        taken_[j] = true;
        task = {j, updates_[j]};
        return true;
      }
    }
  }
  void done(const Task& task) {
    const std::lock_guard lock(mutex_);
    taken_[task.column] = false;
    ++(task.panel == task.column ? factored_ : updates_[task.column]);
  }

 private:
  std::mutex mutex_;
  std::vector<std::size_t> updates_;
  std::vector<bool> taken_;
  std::size_t factored_ = 0;
};

}  // namespace

std::int64_t factor_lu_ahead(const Options& options, std::int64_t n, double* a, std::int64_t lda,
                             std::int64_t* pivots) {
  const auto level3 = Level3<double>::of_one_thread(options);
  constexpr Triangle unit_lower = {Side::left, Uplo::lower, Op::none, Diag::unit};
  // All wait for the first panel; wide ones let products run faster, and more columns be ready at once.
  constexpr std::int64_t of_first = 32, fewest = 96, most = 192, shares = 10;
  const std::int64_t width = std::clamp(round_up(n / shares, std::int64_t{32}), fewest, most);
  std::vector<std::int64_t> edges = {0};
  while (edges.back() < n) edges.push_back(std::min(n, edges.back() + (edges.size() == 1 ? of_first : width)));
  PanelQueue queue(edges.size() - 1);
  std::int64_t info = 0;
  const NativeThreads one(1);
  const int threads = std::min(usable_threads(options.threads), static_cast<int>(edges.size()) - 1);
#pragma omp parallel num_threads(threads)
  {
    const FloatingEnvironment environment;
    for (PanelQueue::Task task; queue.take(task); queue.done(task)) {
      const std::int64_t begin = edges[task.panel], end = edges[task.panel + 1], left = edges[task.column],
                         count = edges[task.column + 1] - left;
      double* const column = a + left * lda;
      if (task.panel == task.column) {
        const std::int64_t zero = factor_lu(level3, n - begin, count, column + begin, lda, pivots + begin);
        if (zero != 0 && info == 0) info = zero + begin;
        for (std::int64_t i = begin; i < end; ++i) pivots[i] += begin;
        continue;
      }
      const double* const panel = a + begin * lda;
      swap_rows(1, count, column, lda, begin, end, pivots, SwapOrder::forward);
      level3.solve(unit_lower, end - begin, count, panel + begin, lda, column + begin, lda);
      level3.subtract_product({Op::none, Op::none, n - end, count, end - begin, -1, panel + end, lda, column + begin,
                               lda, 1, column + end, lda});
    }
#pragma omp barrier
#pragma omp for schedule(dynamic, 1)
    for (std::size_t j = 0; j < edges.size() - 1; ++j)
      swap_rows(1, edges[j + 1] - edges[j], a + edges[j] * lda, lda, edges[j + 1], n, pivots, SwapOrder::forward);
  }
  return info;
}

}  // namespace vernier
