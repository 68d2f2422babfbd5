#include <omp.h>

#include <algorithm>
#include <array>

#include "base/environment.hpp"
#include "base/instantiate.hpp"
#include "base/workspace.hpp"
#include "residue/gemm.hpp"
#include "residue/partial/pass_data.hpp"

namespace vernier {
namespace {

// The byte of a k within its step: the inverse of k_of_byte().
constexpr auto byte_of_k = [] {
  std::array<int, step_size> list{};
  for (int b = 0; b < step_size; ++b) list[static_cast<std::size_t>(k_of_byte(b))] = b;
  return list;
}();

// Planes of one strip, and elements made of them.
template <class T>
class StripElements {
 public:
  using R = RealType<T>;

  StripElements(const PassData& pass, Side side, std::byte* planes)
      : pass_(pass),
        rows_(side == Side::left),
        digits_(residue_system(pass.layout.moduli), rows_ ? PanelSide::rows : PanelSide::columns, pass.narrow,
                pass.limbs),
        planes_(reinterpret_cast<std::int8_t*>(planes)) {}

  static constexpr std::size_t plane_bytes = static_cast<std::size_t>(gathered_k * strip_size);

  void convert(const Strip<T>& strip, const int* scales, const ElementView<std::byte>& out) const {
    const PanelLayout layout = panel_layout(strip_size, strip.ks);
    for (int p = 0; p < Strip<T>::parts; ++p) {
      const Operand<R> operand{strip.part(p), strip.vectors, strip.ks, strip_size, false};
      backend_of<R>(*pass_.engine)
          .decompose(operand, digits_,
                     {.scales = scales,
                      .planes = planes_,
                      .plane_bytes = plane_bytes,
                      .layout = layout,
                      .has_nonfinite = pass_.specials,
                      .cached = true});
      spread(strip, layout, p, out);
    }
  }

 private:
  void spread(const Strip<T>& strip, const PanelLayout& layout, int p, const ElementView<std::byte>& out) const {
    const auto moduli = static_cast<std::size_t>(pass_.layout.moduli);
    for (std::int64_t l = 0; l < strip.ks; ++l) {
      const std::int8_t* step = planes_ + layout.offset(0, l / step_size);
      const int b = byte_of_k[static_cast<std::size_t>(l % step_size)];
      for (std::int64_t v = 0; v < strip.vectors; ++v) {
        const int vector = static_cast<int>(v);
        const std::int8_t* from = step + (rows_ ? row_byte(vector, b) : column_byte(vector, b));
        std::byte* to = out.at(strip.begin + v, strip.k_begin + l);
        if (p == 0) std::fill(to + pass_.layout.class_offset(), to + out.bytes, std::byte{0});
        for (std::size_t q = 0; q < moduli; ++q)
          to[static_cast<std::size_t>(p) * moduli + q] = static_cast<std::byte>(from[q * plane_bytes]);
        if (pass_.specials)
          to[pass_.layout.class_offset() + static_cast<std::size_t>(p)] =
              static_cast<std::byte>(class_of(strip.part(p)[l * strip_size + v]));
      }
    }
  }

  const PassData& pass_;
  bool rows_;
  DigitTables digits_;
  std::int8_t* planes_;
};

}  // namespace

template <class T>
void convert_residues(const PassData& pass, Side side, const PartView<T>& view, bool conjugated, std::byte* out,
                      std::int64_t ld) {
  const std::size_t planes_bytes = static_cast<std::size_t>(pass.layout.moduli) * StripElements<T>::plane_bytes;
  const std::size_t bytes = planes_bytes + Strip<T>::bytes();
  const Workspace memory(bytes * static_cast<std::size_t>(pass.threads) + Arena::alignment);
  std::byte* first_thread = Arena::first_page(memory.data());
  const ElementView<std::byte> elements{out, ld, !view.vectors_are_rows, pass.layout.bytes()};
#pragma omp parallel num_threads(pass.threads)
  {
    const FloatingEnvironment environment;
    std::byte* own = first_thread + bytes * static_cast<std::size_t>(omp_get_thread_num());
    Strip<T> strip(own + planes_bytes);
    const StripElements<T> made(pass, side, own);
#pragma omp for schedule(dynamic, 1)
    for (std::int64_t first = 0; first < view.vectors(); first += strip_size) {
      int scales[strip_size] = {};
      for (std::int64_t v = first; v < std::min(first + strip_size, view.vectors()); ++v)
        scales[v - first] = pass.scales_of(side)[static_cast<std::size_t>(view.vector(v))];
      for (std::int64_t l = 0; l < view.ks(); l += gathered_k) {
        strip.gather(view, first, l, conjugated);
        made.convert(strip, scales, elements);
      }
    }
  }
}

VERNIER_TYPE_INSTANCES(convert_residues)

}  // namespace vernier
