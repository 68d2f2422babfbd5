// What became of the calls of one process, as memory that `vernier run` shares with it and its children: counts stand
// there as calls come, so that also a process that ends by _exit or a signal has told them.
#pragma once

#include <atomic>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>

namespace vernier::interpose {

// Why a call was passed on.
enum class Reason { small, native_faster, trivial, invalid, bound, memory, mode, factors, unsupported, other };
inline constexpr int reasons = 10;
const char* text_of(Reason reason);

using Count = std::atomic<std::uint64_t>;

struct SymbolCounts {
  char symbol[40];
  Count taken;
  Count passed[reasons];  // but for those that stand in lanes
};

// Calls of one shape, or the shape alone.
struct ShapeCounts {
  char routine[8];
  std::int64_t m, n, k;
  std::uint64_t calls;
  double seconds;
};

inline constexpr int most_symbols = 64, slowest_shown = 5, own_lanes = 16, most_lanes = 24;

// What calls that are passed on add to: small ones, those that the library underneath makes sooner, those with nothing
// to multiply, and the ticks (base/ticks.hpp) that the large ones take. The first lanes have one thread each as long as
// it lives, which alone writes there; further threads share the others.
inline constexpr int often_reasons = 3;  // the first ones
struct alignas(64) Lane {
  Count passed[most_symbols][often_reasons];
  Count ticks;
};
inline constexpr double no_bound = -1e9;  // of a call that is made of others, which are counted themselves

inline constexpr std::size_t page = 4096;

// All zero at first. But for counts, one thread of the process writes at a time.
struct alignas(page) Record {
  std::atomic<std::uint32_t> told;  // by the process itself, as it ended
  std::int32_t pid;
  char library[16], program[256], contract[64], engine[32];
  double min_size;
  double seconds;                        // of the calls taken, the sum over threads
  double elapsed;                        // while at least one of them ran
  std::atomic<double> seconds_per_tick;  // of the time of calls of size that were passed on, on a CPU
  std::int32_t threads;                  // that had calls taken
  std::int32_t unfinished;  // calls that Vernier makes just now; of a process that has ended, those cut off by it
  std::int32_t largest_span;
  double log2_bound;  // the weakest promise of a call taken, or no_bound
  std::uint64_t fallbacks, workspaces_used, workspaces_too_small;
  ShapeCounts slowest[slowest_shown];
  ShapeCounts largest_native;  // the largest product that was faster by the library underneath
  ShapeCounts largest_wide;    // ... and that fell back for its data
  char native_reason[384];     // the plan's, as it was made
  char normwise_reason[384];   // that of the plan which would serve the wide one
  char last_message[384];      // room for the longest sentence of an error
  char out_of_reach[256];      // of a process without any call: where its products may be made
  std::atomic<std::uint32_t> symbols_used;
  SymbolCounts symbols[most_symbols];  // the last one stands for all that found no room
  Lane lanes[most_lanes];
};

inline constexpr std::uint64_t board_mark = 0x5645524e31000000 + sizeof(Record);  // and which layout it is
inline constexpr std::uint32_t most_records = 4096;

// The file that VERNIER_COUNTERS names; without content at first, and so sparse.
struct Board {
  std::uint64_t mark;
  std::atomic<std::uint32_t> claimed;  // also by those that found no room
  std::atomic<std::int32_t> unmapped;  // the last process without addresses for this memory: `claimed` lacks it
  Record records[most_records];
};

// The file as memory, null where it is none such; `create` makes one of an empty file.
Board* open_board(const char* path, bool create);

// A record of that file for this process, the only one that it maps, or null: errno is ENOSPC where there is no room,
// which the board tells. The file system gives memory for it now: written to where the file has holes and the disk is
// full, it would end the process by a signal. A process without addresses for it (`ulimit -v`) says so there.
Record* claim_record(const char* path);

// Adds the records of one board to another, as far as there is room: of `vernier run` under `vernier run`.
void add_records(const Board& from, const char* path_of_other);

// Cuts to fit; always ends with a zero.
template <std::size_t size>
void put(char (&to)[size], const char* from) {
  std::size_t i = 0;
  for (; i + 1 < size && from[i] != '\0'; ++i) to[i] = from[i];
  to[i] = '\0';
}

std::uint64_t passed(const Record& record, int symbol, Reason reason);
double seconds_passed_on(const Record& record);
bool any_call(const Record& record);
nlohmann::ordered_json to_json(const Record& record);

}  // namespace vernier::interpose
