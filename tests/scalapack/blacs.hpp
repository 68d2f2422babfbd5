// What the tests call of BLACS and PBLAS, and matrices dealt out in blocks by code of their own.
#pragma once

#include <complex>
#include <cstdint>
#include <cstring>
#include <vector>

extern "C" {
void Cblacs_pinfo(int*, int*);
void Cblacs_get(int, int, int*);
void Cblacs_gridinit(int*, const char*, int, int);
void Cblacs_gridinfo(int, int*, int*, int*, int*);
void Cblacs_gridexit(int);
void Cblacs_barrier(int, const char*);
void Cblacs_exit(int);
void Cigsum2d(int, const char*, const char*, int, int, int*, int, int, int);
}

namespace vernier::test {

// All of a matrix, as one process has it.
template <class T>
struct Whole {
  int rows, columns;
  std::vector<T> data;

  Whole(int r, int c) : rows(r), columns(c), data(static_cast<std::size_t>(r) * static_cast<std::size_t>(c)) {}
  T& at(int i, int j) {
    return data[static_cast<std::size_t>(i) + static_cast<std::size_t>(j) * static_cast<std::size_t>(rows)];
  }
  const T& at(int i, int j) const { return const_cast<Whole*>(this)->at(i, j); }
};

struct Grid {
  int context = -1, rows = 0, columns = 0, row = -1, column = -1;
};

// How a matrix is dealt out.
struct Blocks {
  int mb, nb, row_source, column_source;
  int first_mb = 0, first_nb = 0;  // of the first blocks, if they are of another size: a descriptor of type 2
};

// What of a whole matrix lies on this process.
template <class T>
struct Dealt {
  int descriptor[11];
  int lld;
  std::vector<T> local;
  Grid grid;
  Blocks blocks;

  Dealt(const Whole<T>& x, const Grid& g, Blocks b) : grid(g), blocks(b) {
    blocks.row_source %= g.rows;
    blocks.column_source %= g.columns;
    if (blocks.first_mb == 0) blocks.first_mb = b.mb, blocks.first_nb = b.nb;
    lld = count(x.rows, blocks.first_mb, b.mb, g.row, blocks.row_source, g.rows) + 3;
    const int columns = count(x.columns, blocks.first_nb, b.nb, g.column, blocks.column_source, g.columns);
    const int usual[11] = {1, g.context, x.rows, x.columns, b.mb, b.nb, blocks.row_source, blocks.column_source, lld};
    const int inner[11] = {2,          g.context, x.rows, x.columns,         b.first_mb,
                           b.first_nb, b.mb,      b.nb,   blocks.row_source, blocks.column_source,
                           lld};
    std::memcpy(descriptor, b.first_mb == 0 ? usual : inner, sizeof descriptor);
    local.resize(static_cast<std::size_t>(lld) * static_cast<std::size_t>(columns + 1));
    for_each(x.rows, x.columns, [&](int i, int j, T& entry) { entry = x.at(i, j); });
  }

  // The whole matrix on the process (0, 0) of the grid; zeros elsewhere.
  Whole<T> gathered(int rows, int columns) {
    Whole<T> x(rows, columns);
    std::memset(static_cast<void*>(x.data.data()), 0, x.data.size() * sizeof(T));
    for_each(rows, columns, [&](int i, int j, T& entry) { x.at(i, j) = entry; });
    const int words = static_cast<int>(x.data.size() * sizeof(T) / sizeof(int));
    Cigsum2d(grid.context, "All", " ", words, 1, reinterpret_cast<int*>(x.data.data()), words, 0, 0);
    return x;
  }

 private:
  static int process_of(int i, int first, int block, int source, int processes) {
    return ((i < first ? 0 : 1 + (i - first) / block) + source) % processes;
  }
  static int count(int size, int first, int block, int process, int source, int processes) {
    int n = 0;
    for (int i = 0; i < size; ++i) n += process_of(i, first, block, source, processes) == process;
    return n;
  }
  template <class Body>
  void for_each(int rows, int columns, Body body) {
    int c = 0;
    for (int j = 0; j < columns; ++j) {
      if (process_of(j, blocks.first_nb, blocks.nb, blocks.column_source, grid.columns) != grid.column) continue;
      int r = 0;
      for (int i = 0; i < rows; ++i)
        if (process_of(i, blocks.first_mb, blocks.mb, blocks.row_source, grid.rows) == grid.row)
          body(i, j,
               local[static_cast<std::size_t>(r++) + static_cast<std::size_t>(c) * static_cast<std::size_t>(lld)]);
      ++c;
    }
  }
};

}  // namespace vernier::test
