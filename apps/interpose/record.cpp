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
#include <string>
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

// A file system that knows no reservation gives memory as it is written to.
bool allocate(int file, std::size_t offset, std::size_t bytes) {
  return fallocate(file, 0, static_cast<off_t>(offset), static_cast<off_t>(bytes)) == 0 || errno == EOPNOTSUPP;
}

}  // namespace

const char* text_of(Reason reason) { return reason_text[static_cast<int>(reason)]; }

Board* open_board(const char* path, bool create) {
  const int file = open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) return nullptr;
  struct stat status;
  const bool fits = create ? ftruncate(file, sizeof(Board)) == 0 && allocate(file, 0, offsetof(Board, records))
                           : fstat(file, &status) == 0 && static_cast<std::size_t>(status.st_size) == sizeof(Board);
  void* memory = fits ? mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : MAP_FAILED;
  Board* board = memory != MAP_FAILED ? static_cast<Board*>(memory) : nullptr;
  const int why = board == nullptr && (fits || create) ? errno : EINVAL;
  if (const std::int32_t pid = getpid(); board == nullptr && fits && !create)
    static_cast<void>(pwrite(file, &pid, sizeof pid, offsetof(Board, unmapped)) == sizeof pid);
  if (board != nullptr && create) board->mark = board_mark;
  const bool opened = board != nullptr && board->mark == board_mark;
  close(file);
  if (opened) return board;
  if (board != nullptr) munmap(memory, sizeof(Board));
  errno = why;
  return nullptr;
}

bool reserve(const char* path, std::uint32_t place) {
  const int file = open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) return false;
  const bool allocated = allocate(file, offsetof(Board, records) + place * sizeof(Record), sizeof(Record));
  close(file);
  return allocated;
}

void add_records(const Board& from, const char* path_of_other) {
  Board* const other = open_board(path_of_other, false);
  if (other == nullptr) return;
  for (std::uint32_t i = 0; i < std::min(from.claimed.load(), most_records); ++i) {
    if (from.records[i].pid == 0) continue;
    const std::uint32_t place = other->claimed.fetch_add(1);
    if (place < most_records && reserve(path_of_other, place))
      std::memcpy(static_cast<void*>(&other->records[place]), &from.records[i], sizeof(Record));
  }
  munmap(other, sizeof(Board));
}

bool any_call(const Record& record) {
  const auto none = [](const SymbolCounts& s) {
    return s.taken == 0 && std::all_of(std::begin(s.passed), std::end(s.passed), [](const Count& n) { return n == 0; });
  };
  return record.unfinished > 0 || !std::all_of(record.symbols, record.symbols + symbols_of(record), none);
}

Json to_json(const Record& r) {
  std::uint64_t taken = 0, passed[reasons] = {};
  Json symbols = Json::object(), passed_on = Json::object();
  for (int i = 0; i < symbols_of(r); ++i) {
    const SymbolCounts& s = r.symbols[i];
    std::uint64_t all_passed = 0;
    for (int reason = 0; reason < reasons; ++reason) {
      passed[reason] += s.passed[reason];
      all_passed += s.passed[reason];
    }
    taken += s.taken;
    symbols[s.symbol] = {{"taken", s.taken.load()}, {"passed_on", all_passed}};
  }
  for (int reason = 0; reason < reasons; ++reason)
    if (passed[reason] > 0) passed_on[reason_text[reason]] = passed[reason];
  Json json = {{"library", r.library},
               {"program", r.program},
               {"pid", r.pid},
               {"contract", r.contract},
               {"min_size", r.min_size},
               {"taken", taken},
               {"seconds", r.seconds},
               {"elapsed", r.elapsed},
               {"threads", r.threads},
               {"seconds_passed_on", r.seconds_passed_on},
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
