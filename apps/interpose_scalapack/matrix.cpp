#include "matrix.hpp"

#include <algorithm>

namespace vernier::interpose {

Grid grid_of(int context) {
  Grid g;
  g.context = context;
  pblas().grid(context, &g.rows, &g.columns, &g.row, &g.column);
  return g;
}

int Cut::first_block() const { return count == 0 ? 0 : std::min(count, begin_of(block_of(first) + 1) - first); }

int Cut::first_process() const { return (source + block_of(first)) % processes; }

int Cut::most_local() const {
  if (count == 0) return 0;
  const std::int64_t blocks = block_of(first + count - 1) - block_of(first) + 1;
  return static_cast<int>(
      std::min<std::int64_t>(count, (blocks + processes - 1) / processes * std::max(block, matrix_block)));
}

Local local_of(const Cut& cut, int process) {
  Local local;
  const int end = cut.first + cut.count;
  // From the process' first block of the matrix on.
  for (int b = cut.first_of(process); cut.begin_of(b) < end; b += cut.processes) {
    const int block_begin = cut.begin_of(b), block_end = cut.begin_of(b + 1);
    local.begin += std::max(0, std::min(block_end, cut.first) - block_begin);
    for (int i = std::max(block_begin, cut.first); i < std::min(block_end, end); ++i)
      local.indices.push_back(i - cut.first);
  }
  return local;
}

SubMatrix::SubMatrix(const Grid& grid, const int* d, int i, int j, int m, int n) : context_(d[1]) {
  const bool inner = d[0] == inner_block_cyclic;
  const int at = inner ? 6 : 4;  // of mb
  rows_ = {i - 1, m, d[4], d[at], d[at + 2], grid.rows};
  all_rows_ = {0, d[2], d[4], d[at], d[at + 2], grid.rows};
  columns_ = {j - 1, n, d[5], d[at + 1], d[at + 3], grid.columns};
  all_columns_ = {0, d[3], d[5], d[at + 1], d[at + 3], grid.columns};
  lld_ = d[at + 4];
  const auto sound = [](const Cut& c, int size) {
    return c.matrix_block > 0 && c.block > 0 && c.source >= 0 && c.source < c.processes && c.count >= 0 &&
           c.first >= 0 && c.first <= size - c.count;
  };
  valid_ = (inner || d[0] == block_cyclic) && context_ == grid.context && sound(rows_, d[2]) && sound(columns_, d[3]);
}

namespace {

std::int64_t local_count(const Cut& cut, int process) {
  std::int64_t count = 0;
  for (int b = cut.first_of(process); cut.begin_of(b) < cut.count; b += cut.processes)
    count += std::min(cut.begin_of(b + 1), cut.count) - cut.begin_of(b);
  return count;
}

}  // namespace

bool SubMatrix::find_local(const Grid& grid) {
  local_rows_ = local_of(rows_, grid.row);
  local_columns_ = local_of(columns_, grid.column);
  if (local_count(all_columns_, grid.column) == 0) return lld_ >= 1;  // PBLAS asks for no more there
  return lld_ >= std::max<std::int64_t>(1, local_count(all_rows_, grid.row));
}

vernier_part SubMatrix::part(const void* a, std::size_t element) const {
  const auto offset = static_cast<std::size_t>(local_rows_.begin + local_columns_.begin * lld_);
  return {static_cast<const char*>(a) + element * offset,
          std::max(1, lld_),
          rows().data(),
          row_count(),
          columns().data(),
          column_count()};
}

vernier_part SubMatrix::copied(const void* copy) const {
  return {copy, ld(), rows().data(), row_count(), columns().data(), column_count()};
}

InnerDescriptor SubMatrix::inner() const {
  return {inner_block_cyclic,     context_,    rows_.count,    columns_.count,        rows_.first_block(),
          columns_.first_block(), rows_.block, columns_.block, rows_.first_process(), columns_.first_process(),
          static_cast<int>(ld())};
}

}  // namespace vernier::interpose
