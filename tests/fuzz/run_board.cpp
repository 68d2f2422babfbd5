// The counters of `vernier run`, which any program that it runs can write to: the summary and the lines of the report
// are made of whatever stands there.
#include <cstring>
#include <memory>

#include "fuzz/target.hpp"
#include "record.hpp"
#include "run_summary.hpp"

namespace vernier::fuzz {
namespace {

using interpose::Board;
using interpose::Record;

std::string bytes_of(const Record& record) { return {reinterpret_cast<const char*>(&record), sizeof record}; }

std::unique_ptr<Record> record_of_a_program() {
  auto r = std::make_unique<Record>();
  r->pid = 1 << 30;  // nobody's
  interpose::put(r->library, "vernier_blas");
  interpose::put(r->program, "simulation");
  interpose::put(r->contract, "fp64");
  interpose::put(r->engine, "avx2");
  r->seconds = 1.5;
  r->threads = 2;
  r->log2_bound = -52;
  r->largest_native = {"dgemm", 100, 100, 100, 1, 0.1};
  interpose::put(r->native_reason, "a small product");
  r->slowest[0] = {"dgemm", 512, 512, 512, 3, 0.5};
  r->symbols_used = 2;
  interpose::put(r->symbols[0].symbol, "dgemm_");
  r->symbols[0].taken = 3;
  interpose::put(r->symbols[1].symbol, "cblas_zgemm");
  r->symbols[1].passed[2] = 4;
  r->lanes[3].passed[0][0] = 5;
  return r;
}

// Its memory is given back and read as zeros: a board is 130 MB, of which two records are touched.
Board& empty_board() {
  static void* const memory =
      mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  promise(memory != MAP_FAILED && madvise(memory, sizeof(Board), MADV_DONTNEED) == 0, "the harness has a board");
  return *static_cast<Board*>(memory);
}

}  // namespace

std::vector<std::string> seeds() {
  const auto record = record_of_a_program();
  std::vector<std::string> all = {bytes_of(*record)};
  record->fallbacks = 2;
  record->symbols[0].passed[4] = 1;
  interpose::put(record->last_message, "data too wide");
  all.push_back(bytes_of(*record));
  const auto silent = std::make_unique<Record>();
  silent->pid = 1 << 30;
  interpose::put(silent->out_of_reach, "it is linked statically");
  all.push_back(bytes_of(*silent));
  return all;
}

void try_input(std::string_view bytes) {
  Board& board = empty_board();
  board.claimed = 2;
  const std::size_t first = std::min(bytes.size(), sizeof(Record));
  std::memcpy(static_cast<void*>(&board.records[0]), bytes.data(), first);
  std::memcpy(static_cast<void*>(&board.records[1]), bytes.data() + first / 2, first - first / 2);
  cli::Console console;
  const MemoryFile report("{}\nno JSON\n");
  cli::complete_report(board, report.path(), console);
  console.quiet = true;
  cli::show_summary(board, "a program that is not there", console);
}

}  // namespace vernier::fuzz
