#include "whole_panels.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "depth.hpp"
#include "local_copy.hpp"
#include "panels.hpp"
#include "preload.hpp"
#include "settings.hpp"

namespace vernier::interpose {
namespace {

using Broadcast = void (*)(int context, const char* scope, const char* top, int m, int n, char* a, int lda);
using Receive = void (*)(int context, const char* scope, const char* top, int m, int n, char* a, int lda, int row,
                         int column);
using Gemm = void (*)(const char* opa, const char* opb, const int* m, const int* n, const int* k, const void* alpha,
                      const void* a, const int* lda, const void* b, const int* ldb, const void* beta, void* c,
                      const int* ldc);

// Below that PBLAS's own blocks are as good.
constexpr int least_k = 256;
constexpr int least_block = 8;  // of k: smaller ones are too many messages

// Panels of this thread's last product. New pages take as long to clear as panels to come; PBLAS keeps its buffer too.
constexpr std::size_t most_kept = std::size_t{1} << 28;
struct Kept {
  std::unique_ptr<void, FreeMemory> memory;
  std::size_t bytes = 0;
};
thread_local std::array<Kept, 2> kept;

bool fits(const Kept& k, std::size_t bytes) { return k.memory && k.bytes >= bytes && k.bytes / 2 <= bytes; }

void* take_kept(std::size_t bytes, std::size_t& has) {
  const auto found = std::find_if(kept.begin(), kept.end(), [&](const Kept& k) { return fits(k, bytes); });
  if (found == kept.end()) return nullptr;
  has = found->bytes;
  return found->memory.release();
}

char* bytes_of(const vernier_part& part) { return static_cast<char*>(const_cast<void*>(part.X)); }

}  // namespace

bool WholePanels::serves(const DistributedCall& call) {
  if (call.a->column_block() < least_block || call.b->row_block() < least_block) return false;
  return call.opa == 'N' && call.opb == 'N' && call.a->rows_cut().same_as(call.c->rows_cut()) &&
         call.b->columns_cut().same_as(call.c->columns_cut());
}

void KeepPanel::operator()(void* memory) const {
  if (bytes > most_kept) return std::free(memory);
  std::swap(kept[0], kept[1]);
  kept[0].memory.reset(memory);
  kept[0].bytes = bytes;
}

bool WholePanels::allocate(Memory& memory, std::int64_t vectors) const {
  std::size_t bytes = std::max<std::size_t>(
      1, element_size(c_.type) * static_cast<std::size_t>(c_.k) * static_cast<std::size_t>(vectors));
  void* panel = take_kept(bytes, bytes);
  if (panel == nullptr) {
    kept = {};  // what no longer fits
    panel = allocate_panel(bytes);
  }
  memory = Memory(static_cast<std::byte*>(panel), KeepPanel{bytes});
  return memory != nullptr;
}

bool WholePanels::allocate() {
  if (grid_.columns > 1 && !allocate(a_, c_.a->ld())) return false;
  return grid_.rows == 1 || allocate(b_, c_.b->column_count());
}

void WholePanels::gather() {
  const std::size_t size = element_size(c_.type);
  if (a_ && c_.a->row_count() > 0) gather_rows(size);
  if (b_ && c_.b->column_count() > 0) gather_columns(size);
}

// Own blocks are copied before any is sent: all processes copy at once then, and wait for no other's copy.
void WholePanels::gather_rows(std::size_t size) {
  const PblasType& type = *pblas().table(c_.type)();
  const int rows = static_cast<int>(c_.a->row_count()), ld = static_cast<int>(lda());
  const std::size_t height = size * static_cast<std::size_t>(rows), step = size * static_cast<std::size_t>(ld),
                    own_step = size * static_cast<std::size_t>(c_.a_part.ldx);
  char *to = reinterpret_cast<char*>(a_.get()), *own = bytes_of(c_.a_part);
  c_.a->columns_cut().for_each_block([&](int count, int owner) {
    for (int j = 0; j < count; ++j, to += step) {
      if (owner != grid_.column) continue;
      std::memcpy(to, own, height);
      own += own_step;
    }
  });
  to = reinterpret_cast<char*>(a_.get());
  c_.a->columns_cut().for_each_block([&](int count, int owner) {
    if (owner == grid_.column)
      reinterpret_cast<Broadcast>(type.Cgebs2d)(grid_.context, "Row", " ", rows, count, to, ld);
    else
      reinterpret_cast<Receive>(type.Cgebr2d)(grid_.context, "Row", " ", rows, count, to, ld, grid_.row, owner);
    to += step * static_cast<std::size_t>(count);
  });
}

void WholePanels::gather_columns(std::size_t size) {
  const PblasType& type = *pblas().table(c_.type)();
  const int columns = static_cast<int>(c_.b->column_count());
  const std::size_t step = size * static_cast<std::size_t>(c_.k),
                    own_step = size * static_cast<std::size_t>(c_.b_part.ldx);
  char* to = reinterpret_cast<char*>(b_.get());
  const char* own = bytes_of(c_.b_part);
  c_.b->rows_cut().for_each_block([&](int count, int owner) {
    const std::size_t height = size * static_cast<std::size_t>(count);
    for (std::size_t j = 0; owner == grid_.row && j < static_cast<std::size_t>(columns); ++j)
      std::memcpy(to + step * j, own + own_step * j, height);
    if (owner == grid_.row) own += height;
    to += height;
  });
  to = reinterpret_cast<char*>(b_.get());
  c_.b->rows_cut().for_each_block([&](int count, int owner) {
    if (owner == grid_.row)
      reinterpret_cast<Broadcast>(type.Cgebs2d)(grid_.context, "Column", " ", count, columns, to, c_.k);
    else
      reinterpret_cast<Receive>(type.Cgebr2d)(grid_.context, "Column", " ", count, columns, to, c_.k, owner,
                                              grid_.column);
    to += size * static_cast<std::size_t>(count);
  });
}

bool multiply_by_blas(const Grid& grid, const DistributedCall& call) {
  if (call.k < least_k || !pblas().missing.empty() || !WholePanels::serves(call) ||
      !pieces_of(grid, call, most_shares_of_blas).any())
    return false;
  WholePanels panels(grid, call);
  double failed = call.sound && panels.allocate() ? 0 : 1;
  int row = 0, column = 0;
  pblas().maximum(grid.context, "All", " ", 1, 1, &failed, 1, &row, &column, -1, -1, -1);
  if (failed != 0) return false;
  const double start = now();
  panels.gather();
  const double gathered = now();
  const int m = static_cast<int>(call.c->row_count()), n = static_cast<int>(call.c->column_count());
  const int lda = static_cast<int>(panels.lda()), ldb = static_cast<int>(panels.ldb()),
            ldc = static_cast<int>(call.c_part.ldx);
  if (m > 0 && n > 0)
    reinterpret_cast<Gemm>(pblas().table(call.type)()->Fgemm)("N", "N", &m, &n, &call.k, call.alpha, panels.a(), &lda,
                                                              panels.b(), &ldb, call.beta, bytes_of(call.c_part), &ldc);
  if (settings().verbose > 1)
    std::fprintf(stderr, "%s: %d x %d here: sent for and waited %.4f s, multiplied in %.4f s\n", preload.name, m, n,
                 gathered - start, now() - gathered);
  return true;
}

}  // namespace vernier::interpose
