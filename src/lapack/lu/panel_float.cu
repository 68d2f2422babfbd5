#include "lapack/lu/panel.cuh"

namespace vernier::cuda {
namespace {

template <int Columns, int Rows, int Threads>
using Shape = PanelShape<float, Columns, Rows, Threads>;

// Fewer, fatter warps win: 1024 threads of one row each take 27 % more time than 256 of four.
using Shapes = PanelShapes<float, Shape<32, 1, 64>, Shape<32, 2, 128>, Shape<32, 2, 256>, Shape<32, 4, 256>,
                           Shape<16, 8, 256>, Shape<8, 16, 256>, Shape<4, 32, 256>>;

}  // namespace

// No specialisation, which GCC would export from the library.
template <class T>
int panel_width(std::int64_t rows) {
  return Shapes::width(rows);
}
template int panel_width<float>(std::int64_t rows);

template <>
void factor_panel(const PanelTask<float>& task, cudaStream_t stream) {
  Shapes::launch(task, stream);
}

}  // namespace vernier::cuda
