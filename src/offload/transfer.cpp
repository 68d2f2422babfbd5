#include "offload/transfer.hpp"

#include <omp.h>

#include <chrono>
#include <deque>
#include <exception>
#include <functional>
#include <thread>

#include "base/duration.hpp"
#include "base/status.hpp"
#include "offload/lane_state.hpp"

namespace vernier::offload {
namespace {

constexpr auto pause = std::chrono::microseconds(10);

// False: the lane is finished, or there is nothing to do now.
bool step(LaneState& lane) {
  try {
    std::optional<Work> work;
    {
      const std::lock_guard lock(lane.mutex);
      work = lane.take();
    }
    if (!work) return false;
    lane.do_work(*work);
  } catch (const std::exception& error) {
    lane.fail(error.what());
  }
  return true;
}

struct State {
  bool finished;
  double done;
};

State state_of(LaneState& lane) {
  const std::lock_guard lock(lane.mutex);
  return {lane.finished(), lane.done()};
}

void work(std::deque<LaneState>& lanes, std::size_t first, Progress* progress) {
  for (;;) {
    bool any = false, all = true;
    double done = 0;
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      LaneState& lane = lanes[(first + i) % lanes.size()];
      any = step(lane) || any;
      const State state = state_of(lane);
      all = state.finished && all;
      done += state.done / static_cast<double>(lanes.size());
    }
    if (progress != nullptr) progress->at(done);
    if (all) return;
    if (!any) std::this_thread::sleep_for(pause);
  }
}

// Of panels and blocks that threads copy.
std::size_t staged_bytes(const Lane& lane) {
  std::size_t bytes = 0;
  const auto add = [&](bool direct, std::int64_t rows, std::int64_t columns) {
    if (!direct) bytes += static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns) * lane.schedule.element;
  };
  for (const Panel& p : lane.schedule.panels) add(lane.takes_directly(p.matrix), p.rows, p.columns);
  for (const Block& b : lane.schedule.blocks) add(lane.direct_c, b.rows.count, b.columns.count);
  return bytes;
}

}  // namespace

TransferSettings fitted(TransferSettings settings, std::size_t bytes) {
  constexpr std::size_t least_piece = std::size_t{256} << 10;
  const std::size_t share = aligned(bytes / static_cast<std::size_t>(2 * settings.threads));
  settings.piece_bytes = std::min(settings.piece_bytes, std::max(least_piece, share));
  settings.threads = std::min(settings.threads, static_cast<int>(bytes / settings.piece_bytes + 1));
  return settings;
}

TransferSettings fitted(const TransferSettings& settings, const std::vector<Lane>& lanes) {
  std::size_t bytes = 0;
  for (const Lane& lane : lanes) bytes += staged_bytes(lane);
  TransferSettings fit = fitted(settings, bytes);
  fit.threads = std::min(settings.threads, std::max(fit.threads, static_cast<int>(lanes.size())));
  return fit;
}

std::vector<LaneResult> run(std::vector<Lane>& lanes, const TransferSettings& asked, Progress& progress) {
  const TransferSettings settings = fitted(asked, lanes);
  std::deque<LaneState> states;
  for (Lane& lane : lanes) {
    states.emplace_back(lane, settings);
    try {
      states.back().open();
    } catch (const std::exception& error) {
      states.back().fail(error.what());
    }
  }
  std::vector<LaneResult> results;
  results.reserve(lanes.size());
  if (settings.threads == 1) {
    work(states, 0, &progress);
  } else {
// As many threads as ever: a team of another size ends threads, and the next product of the CPU makes them anew.
#pragma omp parallel num_threads(asked.threads)
    {
      const int thread = omp_get_thread_num();
      if (thread < settings.threads) work(states, static_cast<std::size_t>(thread), thread == 0 ? &progress : nullptr);
    }
  }
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    lanes[i].link->settle();
    results.push_back(states[i].result());
  }
  return results;
}

Copied copy_packed(Link& link, const ScheduleRequest& request, void* a, void* b, void* c, int threads) {
  const auto packed = [&](void* data, std::int64_t ld) {
    return HostMatrix{static_cast<std::byte*>(data), ld, request.element};
  };
  std::vector<Lane> lanes{{.link = &link, .schedule = make_schedule(request)}};
  lanes[0].a = packed(a, request.m), lanes[0].b = packed(b, request.k);
  lanes[0].c = lanes[0].out = packed(c, request.m);
  const std::function<void(double)> nobody;
  Progress progress(nobody);
  const Clock clock;
  const LaneResult result = run(lanes, {.threads = threads}, progress).front();
  const double seconds = clock.seconds();
  if (!result.error.empty()) fail(Status::device_error, "{}", result.error);
  return {seconds, lanes[0].schedule.bytes_up, lanes[0].schedule.bytes_down};
}

}  // namespace vernier::offload
