// Carries out schedules: threads copy between the caller's matrices and staging memory, links move and multiply.
//
// A thread takes what can be done next: the next product, a piece that has come down, one that is to go up. All that a
// queue waits for has been queued before, so that any number of threads comes to the end.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "offload/link.hpp"
#include "product/progress.hpp"

namespace vernier::offload {

// One device's part of a product.
struct Lane {
  Link* link = nullptr;
  Schedule schedule;
  HostMatrix a, b, c;                                         // where its part begins
  HostMatrix out;                                             // where C is written
  bool direct_a = false, direct_b = false, direct_c = false;  // the device reaches that memory

  bool takes_directly(Matrix x) const { return x == Matrix::a ? direct_a : x == Matrix::b ? direct_b : direct_c; }
};

// A rectangle of a lane's C.
struct Rectangle {
  std::int64_t row = 0, column = 0, rows = 0, columns = 0;
};

struct LaneResult {
  std::string error;               // "" or why the device stopped
  std::vector<Rectangle> missing;  // what was not written of C; all else is done
  bool untouched = true;           // nothing of C was written
};

struct TransferSettings {
  int threads = 1;
  std::size_t piece_bytes = std::size_t{2} << 20;      // half of it took a fifth longer on an H200
  std::size_t direct_bytes = std::size_t{32} << 20;    // of a piece that needs no staging
  std::size_t staging_bytes = std::size_t{128} << 20;  // at most, both ways: what the library keeps

  // Pieces of staging memory, each way: two a thread.
  int slots() const {
    const std::size_t fit = staging_bytes / 2 / piece_bytes;
    return static_cast<int>(std::clamp<std::size_t>(fit, 1, 2 * static_cast<std::size_t>(threads)));
  }
};

// The same for so few bytes: pieces so small that every thread has some, and no more threads than there are pieces.
TransferSettings fitted(TransferSettings settings, std::size_t bytes);
// For what these copy, and one for each: of products of 2048 from pinned memory 16 threads take 8.7 ms, one 1.8 (a busy
// host of an H100), since who has nothing to copy is in the way.
TransferSettings fitted(const TransferSettings& settings, const std::vector<Lane>& lanes);

// Throws nothing for what a link does: what is missing is told, and nothing of it was written.
std::vector<LaneResult> run(std::vector<Lane>& lanes, const TransferSettings& asked, Progress& progress);

// The copies of a product of matrices by columns without gaps; the link's products may be nothing. Throws Error.
struct Copied {
  double seconds = 0;
  std::size_t up = 0, down = 0;  // bytes
};
Copied copy_packed(Link& link, const ScheduleRequest& request, void* a, void* b, void* c, int threads);

}  // namespace vernier::offload
