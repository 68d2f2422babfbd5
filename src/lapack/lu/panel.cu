#include "lapack/lu/panel.cuh"

namespace vernier::cuda {
namespace {

template <int Columns, int Rows, int Threads>
using Double = PanelShape<double, Columns, Rows, Threads>;
template <int Columns, int Rows, int Threads>
using Float = PanelShape<float, Columns, Rows, Threads>;

template <class T>
struct ShapesOf {
  using type = PanelShapes<double, Double<16, 1, 64>, Double<16, 2, 128>, Double<16, 2, 256>, Double<16, 4, 256>,
                           Double<8, 8, 256>, Double<4, 16, 256>>;
};
// Fewer, fatter warps win: 1024 threads of one row each take 27 % more time than 256 of four.
template <>
struct ShapesOf<float> {
  using type = PanelShapes<float, Float<32, 1, 64>, Float<32, 2, 128>, Float<32, 2, 256>, Float<32, 4, 256>,
                           Float<16, 8, 256>, Float<8, 16, 256>, Float<4, 32, 256>>;
};

}  // namespace

template <class T>
int panel_width(std::int64_t rows) {
  return ShapesOf<T>::type::width(rows);
}

template <class T>
void factor_panel(const PanelTask<T>& task, cudaStream_t stream) {
  ShapesOf<T>::type::launch(task, stream);
}

template int panel_width<double>(std::int64_t rows);
template int panel_width<float>(std::int64_t rows);
template void factor_panel(const PanelTask<double>& task, cudaStream_t stream);
template void factor_panel(const PanelTask<float>& task, cudaStream_t stream);

}  // namespace vernier::cuda
