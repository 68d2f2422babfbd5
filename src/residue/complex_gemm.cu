#include "product/elements.cuh"
#include "residue/complex_gemm_cuda.hpp"
#include "residue/complex_root.hpp"
#include "residue/convert/convert.hpp"
#include "residue/recombine/recombine_cuda.hpp"
#include "residue/regularity.hpp"
#include "residue/residues.hpp"

namespace vernier::cuda {
namespace {

// One product on one workspace and one stream.
template <class R>
class ComplexRun {
 public:
  ComplexRun(const DeviceComplexPlan& plan, const DeviceInt8Engine& engine, const DeviceComplexProblem<R>& problem,
             cudaStream_t stream, Arena arena)
      : plan_(plan), engine_(engine), p_(problem), stream_(stream), w_(carve_device_complex<R>(arena, plan)) {}

  // Leaves C, or T where that is kept, unless regularity holds it.
  void run(const Regularity& regularity, const DeviceFactor<R>& alpha, const DeviceFactor<R>& beta, R* out,
           std::int64_t ld) {
    measure(regularity);
    pair(plan_.shape.m, p_.opa == Op::conjugate_transpose, w_.a_parts, w_.a_plus, w_.a_minus, regularity.is_irregular);
    pair(plan_.shape.n, p_.opb == Op::conjugate_transpose, w_.b_parts, w_.b_plus, w_.b_minus, regularity.is_irregular);
    multiply(w_.a_plus, w_.b_plus, w_.c_plus, regularity.is_irregular);
    multiply(w_.a_minus, w_.b_minus, w_.c_minus, regularity.is_irregular);
    part_on_device({plan_.moduli, plan_.shape.m, plan_.shape.n, w_.c_plus, w_.c_minus, w_.c, regularity.is_irregular},
                   stream_);
    double_on_device(plan_.shape.m, w_.vectors.a_scales, w_.row_scales, stream_);
    recombine_on_device<R>({.moduli = plan_.moduli,
                            .list = ModuliList::with_root,
                            .residues = w_.c,
                            .m = 2 * plan_.shape.m,
                            .n = plan_.shape.n,
                            .row_scales = w_.row_scales,
                            .column_scales = w_.vectors.b_scales,
                            .alpha = alpha,
                            .beta = beta,
                            .c = out,
                            .ldc = ld,
                            .gate = {regularity.is_irregular},
                            .a = {},
                            .b = {}},
                           stream_);
  }

  R* t() const { return w_.t; }

 private:
  // Rows of op(A) and columns of op(B) as vectors of 2k real numbers.
  void measure(const Regularity& regularity) {
    const ProductShape& s = plan_.shape;
    const R* a = reinterpret_cast<const R*>(p_.a);
    const R* b = reinterpret_cast<const R*>(p_.b);
    if (plan_.turn_a) turn_on_device(s.m, s.k, a, p_.lda, w_.a, stream_);
    if (plan_.turn_b) turn_on_device(s.n, s.k, b, p_.ldb, w_.b, stream_);
    const auto vectors = [&](const R* data, std::int64_t count, std::int64_t ld) {
      return Operand<R>{.data = data, .vectors = count, .k = 2 * s.k, .ld = 2 * ld, .k_contiguous = true};
    };
    measure_on_device<R>({vectors(plan_.turn_a ? w_.a : a, s.m, plan_.turn_a ? s.k : p_.lda), w_.vectors.a_statistics,
                          w_.vectors.a_scales, w_.a_parts},
                         {vectors(plan_.turn_b ? w_.b : b, s.n, plan_.turn_b ? s.k : p_.ldb), w_.vectors.b_statistics,
                          w_.vectors.b_scales, w_.b_parts},
                         plan_.rule,
                         {plan_.moduli, plan_.words, engine_.form(), ModuliList::with_root, engine_.takes_clusters()},
                         regularity, stream_);
  }

  void pair(std::int64_t vectors, bool conjugated, const std::uint8_t* parts, std::uint8_t* plus, std::uint8_t* minus,
            const int* irregular) {
    pair_on_device({plan_.moduli, vectors, plan_.shape.k, conjugated, parts, plus, minus, irregular}, stream_);
  }

  // c / 2 times the factor of the recombination, modulo each p.
  void multiply(const std::uint8_t* rows, const std::uint8_t* columns, std::int8_t* out, const int* irregular) {
    DeviceInt8Product product{.rows = rows,
                              .columns = columns,
                              .m = plan_.shape.m,
                              .n = plan_.shape.n,
                              .pitch = device_pitch(plan_.shape.k),
                              .moduli = plan_.moduli,
                              .list = ModuliList::with_root,
                              .out = out,
                              .gate = {irregular},
                              .steps = w_.steps};
    const ResidueSystem& system = residue_system(plan_.moduli, ModuliList::with_root);
    for (int q = 0; q < plan_.moduli; ++q) {
      const auto i = static_cast<std::size_t>(q);
      const int p = modulus_of(ModuliList::with_root, q);
      product.factor[i] = multiply_mod(system.row_factor[i], (p + 1) / 2, p);
    }
    engine_.multiply(product, stream_);
  }

  const DeviceComplexPlan& plan_;
  const DeviceInt8Engine& engine_;
  const DeviceComplexProblem<R>& p_;
  cudaStream_t stream_;
  DeviceComplexBuffers<R> w_;
};

}  // namespace

template <class R>
bool complex_residue_gemm(const DeviceComplexPlan& plan, const DeviceInt8Engine& engine,
                          const DeviceComplexProblem<R>& p, const Options& options, std::byte* workspace) {
  const auto stream = static_cast<cudaStream_t>(options.stream);
  ComplexRun<R> run(plan, engine, p, stream, Arena(workspace, plan.bytes));
  bool regular = false;
  {
    RegularityMailbox words(stream);
    if (plan.keep_t)
      run.run(words.regularity(), {.value = 1}, {.value = 0}, run.t(), 2 * p.m);
    else
      run.run(words.regularity(), {.value = p.alpha->real()}, {.value = p.beta->real()}, reinterpret_cast<R*>(p.c),
              2 * p.ldc);
    regular = words.wait();
  }
  if (regular && plan.keep_t)
    update_on_device(p.m, p.n, factor_of(p.alpha, options.pointer_mode),
                     reinterpret_cast<const std::complex<R>*>(run.t()), p.m, factor_of(p.beta, options.pointer_mode),
                     p.c, p.ldc, stream);
  return regular;
}

template bool complex_residue_gemm(const DeviceComplexPlan&, const DeviceInt8Engine&,
                                   const DeviceComplexProblem<double>&, const Options&, std::byte*);
template bool complex_residue_gemm(const DeviceComplexPlan&, const DeviceInt8Engine&,
                                   const DeviceComplexProblem<float>&, const Options&, std::byte*);

}  // namespace vernier::cuda
