// vernier explain: the plan of a product, without any matrix.
#include <fmt/format.h>

#include <memory>

#include "command.hpp"
#include "vernier/cuda.hpp"
#include "vernier/offload.hpp"

namespace vernier::cli {
namespace {

struct ExplainArguments {
  std::int64_t m = 0, n = 0, k = 0;
  std::string type = "double", device = "cpu";
  Transposes ops;
  ProductOptions product;
};

template <class T>
int explain_as(const ExplainArguments& arguments, const Console& console) {
  const Options options = arguments.product.options<T>();
  const auto& [opa, opb] = arguments.ops;
  const DeviceScope scope(arguments.device == "auto" ? Device::automatic : Device::cpu);
  if (arguments.device == "auto")  // estimates of a GPU that is awake
    if (const HostLink link = host_link(); link.devices == 0) console.warning("--device auto: " + link.missing);
  const Plan plan =
      arguments.device == "cuda"
          ? cuda::explain<T>(
                opa, opb, arguments.m, arguments.n, arguments.k,
                {.contract = options.contract, .engine = options.engine, .workspace_limit = options.workspace_limit})
          : vernier::explain<T>(opa, opb, arguments.m, arguments.n, arguments.k, options);
  const std::string text = console.json ? plan.json() : plan.text();
  fmt::print("{}{}", text, text.ends_with('\n') ? "" : "\n");
  return exit_ok;
}

}  // namespace

void add_explain(CLI::App& program, Console& console, Work& chosen) {
  CLI::App* command =
      program.add_subcommand("explain", "The plan for a product: scheme, engine, moduli, bound, blocks.");
  auto arguments = std::make_shared<ExplainArguments>();
  command->add_option("-m", arguments->m, "rows of op(A) and C")->required()->default_str("")->check(at_least(0));
  command->add_option("-n", arguments->n, "columns of op(B) and C")->required()->default_str("")->check(at_least(0));
  command->add_option("-k", arguments->k, "columns of op(A), rows of op(B)")
      ->required()
      ->default_str("")
      ->check(at_least(0));
  add_type(*command, arguments->type);
  command
      ->add_option("--device", arguments->device,
                   "cpu, cuda for matrices in the current GPU, or auto: matrices of the host on the faster")
      ->check(CLI::IsMember({"cpu", "cuda", "auto"}));
  arguments->ops.add_to(*command);
  arguments->product.add_to(*command);
  add_output_flags(*command, console);
  command->footer(
      "Examples:\n  vernier explain -m 1000 -n 1000 -k 1000\n"
      "  vernier explain -m 4096 -n 4096 -k 512 --type float --engine portable --json");
  command->callback([arguments, &console, &chosen] {
    chosen = [arguments, &console] {
      return with_type(arguments->type, [&](auto t) { return explain_as<decltype(t)>(*arguments, console); });
    };
  });
}

}  // namespace vernier::cli
