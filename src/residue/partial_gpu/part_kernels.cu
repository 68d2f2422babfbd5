// The kernels behind part_kernels.hpp: a thread an entry, or a vector's piece of k. Their work grows with the matrices,
// that of the products with k times as much.
#include <limits>

#include "cuda/launch.hpp"
#include "product/update.hpp"
#include "residue/convert/digits.hpp"
#include "residue/partial_gpu/part_kernels.hpp"
#include "residue/scale/block_spans.hpp"

#include "base/instantiate.hpp"

namespace vernier::cuda {

inline constexpr int part_threads = 256;
inline constexpr std::int64_t scanned_k = 64;  // by a thread

__device__ inline std::int64_t part_item() { return std::int64_t{blockIdx.x} * part_threads + threadIdx.x; }

inline LaunchShape part_launch(std::int64_t items) {
  return {.grid = dim3(static_cast<unsigned>(divide_up(items, part_threads))), .block = dim3(part_threads)};
}

template <class T>
__device__ RealType<T> real_part(const T& x, int part) {
  if constexpr (is_complex<T>)
    return part == 0 ? x.real() : x.imag();
  else
    return x;
}

__device__ inline void raise_word(std::int64_t* word, std::int64_t value) {
  if (value != 0) atomicMax(reinterpret_cast<unsigned long long*>(word), static_cast<unsigned long long>(value));
}
__device__ inline void add_word(std::int64_t* word, std::int64_t value) {
  if (value != 0) atomicAdd(reinterpret_cast<unsigned long long*>(word), static_cast<unsigned long long>(value));
}

// A thread: one vector, so many of k.
template <class T>
__global__ void __launch_bounds__(part_threads) scan_pieces(const __grid_constant__ DeviceScan<T> s) {
  const std::int64_t item = part_item(), i = item % s.count, begin = item / s.count * scanned_k;
  if (begin >= s.part.ks) return;
  const T* x = s.part.x + s.vectors[i] * s.part.vector_step;
  const int exponent = s.round == ScanRound::extremes ? 0 : s.exponents[i];
  const TwoFactors scale = quantum_scale(exponent);
  constexpr int parts = parts_of_type<T>;
  std::int64_t words[depth_words] = {};
  std::int64_t* const out = s.out + i * s.words;
  for (std::int64_t l = begin; l < begin + scanned_k && l < s.part.ks; ++l)
    for (int p = 0; p < parts; ++p) {
      const RealType<T> e = real_part(x[l * s.part.k_step], p);
      if (s.round == ScanRound::extremes) {
        add_extremes(e, words);
      } else if (s.round == ScanRound::sums) {
        add_sums(e, scale, words);
      } else if (s.round == ScanRound::depths) {
        add_depths(e, exponent, words);
      } else {
        const std::int64_t at = parts * s.k_indices[l] + p;
        add_word(out + at / packed_deficits, static_cast<std::int64_t>(deficit_of(e, exponent))
                                                 << (8 * (at % packed_deficits)));
      }
    }
  if (s.round == ScanRound::spans) return;
  for (std::int64_t w = 0; w < s.words; ++w)
    s.round == ScanRound::extremes ? raise_word(out + w, words[w]) : add_word(out + w, words[w]);
}

// ---- entries to elements
// ---------------------------------------------------------------------------------------------

template <int Words>
struct ElementReductions {
  ElementReductions(int count, bool left) {
    const ResidueSystem& system = residue_system(count);
    for (int q = 0; q < count; ++q) {
      const auto i = static_cast<std::size_t>(q);
      of[q] = digit_reduction<Words>(moduli[i], ByteForm::symmetric);
      factor[q] = static_cast<std::int16_t>(left ? system.row_factor[i] : 1);
      modulus[q] = static_cast<std::int16_t>(moduli[i]);
    }
  }

  ByteReduction<Words> of[max_moduli] = {};
  std::int16_t factor[max_moduli] = {}, modulus[max_moduli] = {};
};

// Bytes of an element, eight at a time.
struct ElementBytes {
  std::uint64_t* to;
  std::uint64_t word = 0;
  int count = 0;

  __device__ void put(std::uint8_t byte) {
    word |= static_cast<std::uint64_t>(byte) << (8 * (count % 8));
    if (++count % 8 != 0) return;
    *to++ = word;
    word = 0;
  }
};

template <class R>
__device__ std::uint8_t entry_class(R x) {
  if (x != x) return class_nan;
  if (magnitude_bits(x) == infinity_bits<R>) return x > 0 ? class_plus : class_minus;
  return x == 0 ? class_zero : x > 0 ? class_positive : class_negative;
}

// A thread: one entry.
template <class T, int Words>
__global__ void __launch_bounds__(part_threads)
    convert_each(const __grid_constant__ DeviceConversion<T> c,
                 const __grid_constant__ ElementReductions<Words> reductions) {
  using R = RealType<T>;
  const std::int64_t item = part_item();
  if (item >= c.rows * c.columns) return;
  const std::int64_t i = item % c.rows, j = item / c.rows;
  const T x = c.x[i + j * c.ldx];
  const TwoFactors scale = scale_factors<Words>(c.scales[c.vectors_are_rows ? i : j]);
  ElementBytes bytes{reinterpret_cast<std::uint64_t*>(c.elements + (i + j * c.ld) * c.bytes)};
  R e[parts_of_type<T>];
  for (int p = 0; p < parts_of_type<T>; ++p) {
    e[p] = p == 1 && c.conjugated ? -real_part(x, p) : real_part(x, p);
    std::uint32_t words[Words];
    scaled_words(magnitude_bits(e[p]) < infinity_bits<R> ? static_cast<double>(e[p]) : 0.0, scale, words);
    for (int q = 0; q < c.moduli; ++q) {
      const auto r = static_cast<std::int8_t>(residue_byte(words, reductions.of[q]));
      bytes.put(static_cast<std::uint8_t>(multiply_mod(r, reductions.factor[q], reductions.modulus[q])));
    }
  }
  for (int p = 0; p < parts_of_type<T>; ++p) bytes.put(c.specials ? entry_class(e[p]) : std::uint8_t{0});
  while (bytes.count < c.bytes) bytes.put(0);
}

// ---- elements
// --------------------------------------------------------------------------------------------------------

// A thread: one vector. Are there NaN or infinities in it?
__global__ void __launch_bounds__(part_threads)
    mark_special(DeviceElements x, std::int64_t vectors, std::int64_t k, ElementLayout layout, std::uint8_t* marks) {
  const std::int64_t v = part_item();
  if (v >= vectors) return;
  const auto* classes =
      reinterpret_cast<const std::uint8_t*>(x.data) + v * x.vector_step + static_cast<int>(layout.class_offset());
  std::uint8_t any = 0;
  for (std::int64_t l = 0; l < k; ++l, classes += x.k_step)
    for (int part = 0; part < layout.parts; ++part) any |= classes[part];
  marks[v] = any & class_special;
}

// A thread: one entry of the product.
__global__ void __launch_bounds__(part_threads) add_class_terms(const __grid_constant__ DeviceClasses p) {
  const std::int64_t item = part_item();
  if (item >= p.m * p.n) return;
  const std::int64_t i = item % p.m, j = item / p.m, offset = static_cast<std::int64_t>(p.layout.class_offset());
  if ((p.special_rows[i] | p.special_columns[j]) == 0) return;
  const auto bytes = static_cast<std::int64_t>(p.layout.bytes());
  const auto* a = reinterpret_cast<const std::uint8_t*>(p.a.data) + i * p.a.vector_step + offset;
  const auto* b = reinterpret_cast<const std::uint8_t*>(p.b.data) + j * p.b.vector_step + offset;
  std::uint8_t sum[2] = {};
  for (std::int64_t l = 0; l < p.k; ++l, a += p.a.k_step, b += p.b.k_step)
    add_class_products(p.layout.parts, a, b, sum);
  auto* c = reinterpret_cast<std::uint8_t*>(p.c) + (i + j * p.ld) * bytes + offset;
  for (int part = 0; part < p.layout.parts; ++part) c[part] |= sum[part];
}

// A thread: one byte.
__global__ void __launch_bounds__(part_threads)
    add_bytes(ElementLayout layout, std::int64_t count, const std::int8_t* from, std::int8_t* to,
              const __grid_constant__ LimbResidues moduli) {
  const std::int64_t item = part_item();
  const auto bytes = static_cast<std::int64_t>(layout.bytes());
  if (item >= count * bytes) return;
  const std::int64_t b = item % bytes;
  if (b >= static_cast<std::int64_t>(layout.class_offset()))
    to[item] = static_cast<std::int8_t>(to[item] | from[item]);
  else
    to[item] = static_cast<std::int8_t>(reduced<2>(to[item] + from[item], moduli.modulus[b % layout.moduli]));
}

// A thread: one element.
__global__ void __launch_bounds__(part_threads)
    write_words(WordFormat f, std::int64_t count, const std::byte* elements, std::int64_t* words,
                const __grid_constant__ EntryTables tables) {
  const std::int64_t item = part_item();
  if (item >= count) return;
  const auto* element =
      reinterpret_cast<const std::int8_t*>(elements) + item * static_cast<std::int64_t>(f.layout.bytes());
  words += item * f.words();
  for (int p = 0; p < f.layout.parts; ++p) {
    to_limbs(entry_integer(tables, element + p * f.layout.moduli), f.limbs, words + p * f.limbs);
    if (f.counted)
      words[f.layout.parts * f.limbs + p] =
          class_counts(static_cast<std::uint8_t>(element[static_cast<int>(f.layout.class_offset()) + p]));
  }
}

__global__ void __launch_bounds__(part_threads)
    take_words(WordFormat f, std::int64_t count, const std::int64_t* words, std::byte* elements,
               const __grid_constant__ LimbResidues residues) {
  const std::int64_t item = part_item();
  if (item >= count) return;
  const auto bytes = static_cast<std::int64_t>(f.layout.bytes());
  ElementBytes out{reinterpret_cast<std::uint64_t*>(elements + item * bytes)};
  words += item * f.words();
  for (int p = 0; p < f.layout.parts; ++p)
    for (int q = 0; q < f.layout.moduli; ++q)
      out.put(static_cast<std::uint8_t>(residues.residue(words + p * f.limbs, f.limbs, q)));
  for (int p = 0; p < f.layout.parts; ++p)
    out.put(f.counted ? class_of_counts(words[f.layout.parts * f.limbs + p]) : std::uint8_t{0});
  while (out.count < bytes) out.put(0);
}

// ---- sums to entries
// -------------------------------------------------------------------------------------------------

template <class R>
__device__ R special_entry(std::uint8_t sum) {
  constexpr R infinity = std::numeric_limits<R>::infinity();
  if (class_is_nan(sum)) return std::numeric_limits<R>::quiet_NaN();
  return (sum & class_plus) != 0 ? infinity : -infinity;
}

// A thread: one entry.
template <class T>
__global__ void __launch_bounds__(part_threads)
    finish_each(const __grid_constant__ DeviceFinish<T> f, const __grid_constant__ EntryTables tables) {
  using R = RealType<T>;
  const std::int64_t item = part_item();
  if (item >= f.rows * f.columns) return;
  const std::int64_t i = item % f.rows, j = item / f.rows;
  if (f.row_proofs != nullptr && entry_is_ordinary(f.row_proofs[i], f.column_proofs[j]) != f.ordinary) return;
  const auto* element =
      reinterpret_cast<const std::int8_t*>(f.elements) + (i + j * f.ld) * static_cast<std::int64_t>(f.layout.bytes());
  const int exponent = -(f.row_scales[i] + f.column_scales[j]);
  R t[parts_of_type<T>];
  for (int p = 0; p < parts_of_type<T>; ++p) {
    const auto sum = static_cast<std::uint8_t>(element[static_cast<int>(f.layout.class_offset()) + p]);
    t[p] = sum != 0 ? special_entry<R>(sum)
                    : rounded_entry<R>(entry_integer(tables, element + p * f.layout.moduli), exponent);
  }
  T& c = *f.out.entry(i, j);
  if constexpr (is_complex<T>)
    c = vernier::updated(f.out.alpha, T(t[0], t[1]), f.out.beta, c);
  else
    c = vernier::updated(f.out.alpha, t[0], f.out.beta, c);
}

// ---- host side
// -------------------------------------------------------------------------------------------------------

template <class T>
void launch_scan(const DeviceScan<T>& s, cudaStream_t stream) {
  launch("scan_pieces", scan_pieces<T>, part_launch(s.count * divide_up(s.part.ks, scanned_k)), stream, s);
}

template <class T>
void launch_conversion(const DeviceConversion<T>& c, cudaStream_t stream) {
  const auto by = [&]<int Words>(std::integral_constant<int, Words>) {
    launch("convert_each", convert_each<T, Words>, part_launch(c.rows * c.columns), stream, c,
           ElementReductions<Words>(c.moduli, c.left));
  };
  switch (words_of(c.narrow, c.limbs)) {
    case 1:
      return by(std::integral_constant<int, 1>());
    case 2:
      return by(std::integral_constant<int, 2>());
    case 4:
      return by(std::integral_constant<int, 4>());
    default:
      return by(std::integral_constant<int, 6>());
  }
}

inline void launch_classes(const DeviceClasses& product, cudaStream_t stream) {
  const auto mark = [&](const DeviceElements& x, std::int64_t vectors, std::uint8_t* marks) {
    launch("mark_special", mark_special, part_launch(vectors), stream, x, vectors, product.k, product.layout, marks);
  };
  mark(product.a, product.m, product.special_rows);
  mark(product.b, product.n, product.special_columns);
  launch("add_class_terms", add_class_terms, part_launch(product.m * product.n), stream, product);
}

inline void launch_sum(const ElementLayout& layout, std::int64_t count, const std::byte* from, std::byte* to,
                       cudaStream_t stream) {
  launch("add_bytes", add_bytes, part_launch(count * static_cast<std::int64_t>(layout.bytes())), stream, layout, count,
         reinterpret_cast<const std::int8_t*>(from), reinterpret_cast<std::int8_t*>(to),
         LimbResidues(residue_system(layout.moduli)));
}

inline void launch_to_words(const WordFormat& format, std::int64_t count, const std::byte* elements,
                            std::int64_t* words, cudaStream_t stream) {
  launch("write_words", write_words, part_launch(count), stream, format, count, elements, words,
         EntryTables(residue_system(format.layout.moduli)));
}

inline void launch_from_words(const WordFormat& format, std::int64_t count, const std::int64_t* words,
                              std::byte* elements, cudaStream_t stream) {
  launch("take_words", take_words, part_launch(count), stream, format, count, words, elements,
         LimbResidues(residue_system(format.layout.moduli)));
}

template <class T>
void launch_finish(const DeviceFinish<T>& f, cudaStream_t stream) {
  launch("finish_each", finish_each<T>, part_launch(f.rows * f.columns), stream, f,
         EntryTables(residue_system(f.layout.moduli)));
}

template <class T>
void scan_vectors(const DeviceScan<T>& scan, cudaStream_t stream) {
  launch_scan(scan, stream);
}
template <class T>
void convert_entries(const DeviceConversion<T>& conversion, cudaStream_t stream) {
  launch_conversion(conversion, stream);
}
template <class T>
void finish_entries(const DeviceFinish<T>& finish, cudaStream_t stream) {
  launch_finish(finish, stream);
}

void add_classes(const DeviceClasses& product, cudaStream_t stream) { launch_classes(product, stream); }
void add_residues(const ElementLayout& layout, std::int64_t count, const std::byte* from, std::byte* to,
                  cudaStream_t stream) {
  launch_sum(layout, count, from, to, stream);
}
void make_words(const WordFormat& format, std::int64_t count, const std::byte* elements, std::int64_t* words,
                cudaStream_t stream) {
  launch_to_words(format, count, elements, words, stream);
}
void read_words(const WordFormat& format, std::int64_t count, const std::int64_t* words, std::byte* elements,
                cudaStream_t stream) {
  launch_from_words(format, count, words, elements, stream);
}

VERNIER_TYPE_INSTANCES(scan_vectors, convert_entries, finish_entries)

}  // namespace vernier::cuda
