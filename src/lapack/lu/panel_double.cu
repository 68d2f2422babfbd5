#include "lapack/lu/panel.cuh"

namespace vernier::cuda {
namespace {

template <int Columns, int Rows, int Threads>
using Shape = PanelShape<double, Columns, Rows, Threads>;

using Shapes = PanelShapes<double, Shape<16, 1, 64>, Shape<16, 2, 128>, Shape<16, 2, 256>, Shape<16, 4, 256>,
                           Shape<8, 8, 256>, Shape<4, 16, 256>>;

}  // namespace

// No specialisation, which GCC would export from the library.
template <class T>
int panel_width(std::int64_t rows) {
  return Shapes::width(rows);
}
template int panel_width<double>(std::int64_t rows);

template <>
void factor_panel(const PanelTask<double>& task, cudaStream_t stream) {
  Shapes::launch(task, stream);
}

}  // namespace vernier::cuda
