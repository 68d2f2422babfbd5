#include "base/instantiate.hpp"
#include "product/native/conventional.hpp"
#include "product/scale.hpp"
#include "residue/chain.hpp"
#include "residue/gemm_cuda.hpp"
#include "residue/regularity.hpp"
#include "residue/route_words.hpp"

namespace vernier::cuda {
namespace {

// One product on a workspace and a stream.
template <class R>
class ComplexRun {
 public:
  ComplexRun(const DeviceComplexPlan& plan, const DeviceInt8Engine& engine, const DeviceComplexProblem<R>& p,
             cudaStream_t stream, const DeviceComplexBuffers<R>& buffers)
      : plan_(plan),
        p_(p),
        w_(buffers),
        stream_(stream),
        conjugated_{p.opa == Op::conjugate_transpose, p.opb == Op::conjugate_transpose},
        problem_(problem()),
        chain_(engine, problem_, {.vectors = w_.vectors, .complex = &w_, .conjugated = conjugated_}, stream) {}

  // Residues and, if the product is regular, all that follows from them.
  void start(const Regularity& regularity) const {
    const Gate gate{regularity.is_irregular};
    const ProductShape& s = plan_.shape;
    const ChainPass pass{
        .pass = {.blocking = {.moduli = plan_.moduli, .m_block = s.m, .n_block = s.n, .k_block = 2 * s.k},
                 .words = plan_.words},
        .scales = {w_.vectors.a.scales, w_.vectors.b.scales},
        .products = gate,
        .recombination = gate,
        .converted = true};
    const Sides<DeviceOperand<R>> x = chain_.operands(w_.parts);
    ConversionForm form = chain_.form(pass.pass);
    form.meeting = {reinterpret_cast<std::byte*>(w_.c), w_.c_bytes};
    measure_on_device(x.a, x.b, plan_.rule, form, regularity, stream_);
    chain_.run(pass);
  }

  // The real product of doubled rows and k, behind a gate.
  void multiply_conventionally(const Gate& gate) const {
    const std::int64_t k = problem_.a.k;
    expand_rows_on_device<R>(
        {plan_.shape.m, plan_.shape.k, conjugated_, problem_.a.data, problem_.a.ld, w_.real_rows, gate}, stream_);
    cuda::multiply_conventionally<R>({.rows = {w_.real_rows, 2 * plan_.shape.m, k, 1},
                                      .columns = {problem_.b.data, plan_.shape.n, problem_.b.ld, 1},
                                      .k = k,
                                      .to = problem_.to,
                                      .gate = gate},
                                     stream_);
  }

  // Where the product was kept for factors that are not real or not known.
  void finish(PointerMode mode) const {
    if (!plan_.keep_t) return;
    update_on_device({p_.m, p_.n}, factor_of(p_.alpha, mode), reinterpret_cast<const std::complex<R>*>(w_.t), p_.m,
                     factor_of(p_.beta, mode), p_.c, p_.ldc, stream_);
  }

 private:
  // Rows of op(A) and columns of op(B) as vectors of 2k real numbers.
  Operand<R> vectors(Side side, const std::complex<R>* x, std::int64_t count, std::int64_t ld) const {
    const std::int64_t k = plan_.shape.k;
    const R* data = reinterpret_cast<const R*>(x);
    if (plan_.turn[side]) turn_on_device(count, k, data, ld, w_.turned[side], stream_);
    return {.data = plan_.turn[side] ? w_.turned[side] : data,
            .vectors = count,
            .k = 2 * k,
            .ld = 2 * (plan_.turn[side] ? k : ld),
            .k_contiguous = true};
  }

  DeviceResidueProblem<R> problem() const {
    return {vectors(Side::left, p_.a, plan_.shape.m, p_.lda),
            vectors(Side::right, p_.b, plan_.shape.n, p_.ldb),
            {{plan_.keep_t ? R{1} : p_.alpha->real()},
             {plan_.keep_t ? R{0} : p_.beta->real()},
             plan_.keep_t ? w_.t : reinterpret_cast<R*>(p_.c),
             2 * (plan_.keep_t ? p_.m : p_.ldc)}};
  }

  const DeviceComplexPlan& plan_;
  const DeviceComplexProblem<R>& p_;
  const DeviceComplexBuffers<R>& w_;
  cudaStream_t stream_;
  Sides<bool> conjugated_;
  DeviceResidueProblem<R> problem_;
  ResidueChain<R> chain_;
};

// The device alone decides: data that are not regular go conventionally.
template <class R>
void run_without_host(const ComplexRun<R>& run, const DeviceVectorBuffers& words, const Options& options) {
  const auto stream = static_cast<cudaStream_t>(options.stream);
  clear_route_words(words, stream);
  int* irregular = &words.route->irregular;
  run.start({.state = words.regularity, .is_irregular = irregular});
  run.multiply_conventionally({irregular, 1});
  run.finish(options.pointer_mode);
  leave_route(words, options.outcome, stream);
}

}  // namespace

template <class R>
bool complex_residue_gemm(const DeviceComplexPlan& plan, const DeviceInt8Engine& engine,
                          const DeviceComplexProblem<R>& problem, const Options& options, std::byte* workspace) {
  const auto stream = static_cast<cudaStream_t>(options.stream);
  Arena arena(workspace, plan.bytes);
  const DeviceComplexBuffers<R> buffers = carve_device_complex<R>(arena, plan);
  const ComplexRun<R> run(plan, engine, problem, stream, buffers);
  if (without_host(options)) {
    run_without_host(run, buffers.vectors, options);
    return true;
  }
  bool regular = false;
  {
    RegularityQuestion words(stream);
    run.start(words.regularity());
    regular = words.wait();
  }
  if (regular) run.finish(options.pointer_mode);
  return regular;
}

VERNIER_REAL_INSTANCES(complex_residue_gemm)

}  // namespace vernier::cuda
