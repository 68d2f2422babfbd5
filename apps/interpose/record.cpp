#include "record.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <nlohmann/json.hpp>
#include <type_traits>

namespace vernier::interpose {
namespace {

using Json = nlohmann::ordered_json;

static_assert(std::is_standard_layout_v<Board> && Count::is_always_lock_free);

constexpr const char* reason_text[reasons] = {
    "small",         "native is faster",         "nothing to multiply",      "invalid argument", "data too wide",
    "out of memory", "other type, mode or form", "factors in device memory", "unsupported here", "other error"};

int symbols_of(const Record& r) {
  return static_cast<int>(std::min<std::uint32_t>(r.symbols_used, most_symbols));  // a file may hold any number
}

Json shape_json(const ShapeCounts& s) { return {{"routine", s.routine}, {"m", s.m}, {"n", s.n}, {"k", s.k}}; }

Json slowest(const Record& r) {
  Json list = Json::array();
  for (const ShapeCounts& s : r.slowest) {
    if (s.calls == 0) continue;
    list.push_back(shape_json(s));
    list.back().update({{"calls", s.calls}, {"seconds", s.seconds}});
  }
  return list;
}

void add_rare(Json& json, const Record& r) {
  if (r.workspaces_used + r.workspaces_too_small > 0)
    json["workspaces"] = {{"used", r.workspaces_used}, {"too_small", r.workspaces_too_small}};
  const auto add_shape = [&json](const char* key, const ShapeCounts& shape, const char* reason) {
    if (shape.m <= 0) return;
    json[key] = shape_json(shape);
    if (reason[0] != '\0') json[key]["reason"] = reason;
  };
  add_shape("largest_native", r.largest_native, r.native_reason);
  add_shape("largest_wide", r.largest_wide, r.normwise_reason);
  if (r.unfinished > 0) json["unfinished"] = r.unfinished;
  if (r.last_message[0] != '\0') json["last_message"] = r.last_message;
  if (r.out_of_reach[0] != '\0') json["out_of_reach"] = r.out_of_reach;
}

class File {
 public:
  explicit File(const char* path) : number(open(path, O_RDWR | O_CLOEXEC)) {}
  ~File() {
    const int why = errno;
    if (number >= 0) close(number);
    errno = why;
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  bool opened() const { return number >= 0; }
  bool is_board() const {
    struct stat status;
    const bool fits = fstat(number, &status) == 0 && static_cast<std::size_t>(status.st_size) == sizeof(Board);
    if (!fits) errno = EINVAL;
    return fits;
  }

  const int number;
};

// A file system that knows no reservation gives memory as it is written to.
bool allocate(const File& file, std::size_t offset, std::size_t bytes) {
  return fallocate(file.number, 0, static_cast<off_t>(offset), static_cast<off_t>(bytes)) == 0 || errno == EOPNOTSUPP;
}

void* map(const File& file, std::size_t offset, std::size_t bytes, void* place = nullptr) {
  void* const memory = mmap(place, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | (place != nullptr ? MAP_FIXED : 0),
                            file.number, static_cast<off_t>(offset));
  return memory != MAP_FAILED ? memory : nullptr;
}

}  // namespace

const char* text_of(Reason reason) { return reason_text[static_cast<int>(reason)]; }

Board* open_board(const char* path, bool create) {
  const File file(path);
  const bool fits = file.opened() &&
                    (create ? ftruncate(file.number, sizeof(Board)) == 0 && allocate(file, 0, offsetof(Board, records))
                            : file.is_board());
  Board* const board = fits ? static_cast<Board*>(map(file, 0, sizeof(Board))) : nullptr;
  if (board != nullptr && create) board->mark = board_mark;
  if (board == nullptr || board->mark == board_mark) return board;
  munmap(static_cast<void*>(board), sizeof(Board));
  errno = EINVAL;
  return nullptr;
}

Record* claim_record(const char* path) {
  const File file(path);
  if (!file.opened() || !file.is_board()) return nullptr;
  // Addresses first: a record that is claimed is one that this process counts in.
  void* const room = mmap(nullptr, sizeof(Record), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  void* const head = room != MAP_FAILED ? map(file, 0, offsetof(Board, records)) : nullptr;
  if (head == nullptr) {
    const std::int32_t pid = getpid();
    static_cast<void>(pwrite(file.number, &pid, sizeof pid, offsetof(Board, unmapped)) == sizeof pid);
    errno = ENOMEM;
    return nullptr;
  }
  Board& board = *static_cast<Board*>(head);
  const bool known = board.mark == board_mark;
  const std::uint32_t place = known ? board.claimed.fetch_add(1) : most_records;
  munmap(head, offsetof(Board, records));
  const std::size_t offset = offsetof(Board, records) + place * sizeof(Record);
  if (place < most_records && allocate(file, offset, sizeof(Record)) && map(file, offset, sizeof(Record), room) == room)
    return static_cast<Record*>(room);
  munmap(room, sizeof(Record));
  errno = known ? ENOSPC : EINVAL;
  return nullptr;
}

void add_records(const Board& from, const char* path_of_other) {
  for (std::uint32_t i = 0; i < std::min(from.claimed.load(), most_records); ++i) {
    if (from.records[i].pid == 0) continue;
    Record* const to = claim_record(path_of_other);
    if (to == nullptr) continue;
    std::memcpy(static_cast<void*>(to), &from.records[i], sizeof(Record));
    munmap(static_cast<void*>(to), sizeof(Record));
  }
}

std::uint64_t passed(const Record& r, int symbol, Reason reason) {
  std::uint64_t sum = r.symbols[symbol].passed[static_cast<int>(reason)];
  if (static_cast<int>(reason) < often_reasons)
    for (const Lane& lane : r.lanes) sum += lane.passed[symbol][static_cast<int>(reason)];
  return sum;
}

double seconds_passed_on(const Record& r) {
  std::uint64_t ticks = 0;
  for (const Lane& lane : r.lanes) ticks += lane.ticks;
  return static_cast<double>(ticks) * r.seconds_per_tick;
}

bool any_call(const Record& record) {
  if (record.unfinished > 0) return true;
  for (int i = 0; i < symbols_of(record); ++i) {
    if (record.symbols[i].taken > 0) return true;
    for (int reason = 0; reason < reasons; ++reason)
      if (passed(record, i, static_cast<Reason>(reason)) > 0) return true;
  }
  return false;
}

Json to_json(const Record& r) {
  std::uint64_t taken = 0, for_reason[reasons] = {};
  Json symbols = Json::object(), passed_on = Json::object();
  for (int i = 0; i < symbols_of(r); ++i) {
    const SymbolCounts& s = r.symbols[i];
    std::uint64_t all_passed = 0;
    for (int reason = 0; reason < reasons; ++reason) {
      const std::uint64_t count = passed(r, i, static_cast<Reason>(reason));
      for_reason[reason] += count;
      all_passed += count;
    }
    taken += s.taken;
    symbols[s.symbol] = {{"taken", s.taken.load()}, {"passed_on", all_passed}};
  }
  for (int reason = 0; reason < reasons; ++reason)
    if (for_reason[reason] > 0) passed_on[reason_text[reason]] = for_reason[reason];
  Json json = {{"library", r.library},
               {"program", r.program},
               {"pid", r.pid},
               {"contract", r.contract},
               {"min_size", r.min_size},
               {"taken", taken},
               {"seconds", r.seconds},
               {"elapsed", r.elapsed},
               {"threads", r.threads},
               {"seconds_passed_on", seconds_passed_on(r)},
               {"engine", r.engine},
               {"log2_bound", r.log2_bound == no_bound ? Json(nullptr) : Json(r.log2_bound)},
               {"fallbacks", r.fallbacks},
               {"largest_span", r.largest_span},
               {"passed_on", passed_on}};
  add_rare(json, r);
  json["symbols"] = symbols;
  json["slowest"] = slowest(r);
  return json;
}

}  // namespace vernier::interpose
