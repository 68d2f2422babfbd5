#include "program.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>

namespace vernier::bench {
namespace {

void add(CLI::App& app, const ProgramOption& option, bool& value) { app.add_flag(option.name, value); }

void add(CLI::App& app, const ProgramOption& option, int& value) {
  app.add_option(option.name, value)->check(CLI::PositiveNumber);
}

template <class T>
void add(CLI::App& app, const ProgramOption& option, T& value) {
  app.add_option(option.name, value);
}

void add(CLI::App& app, const ProgramOption& option, std::vector<std::string>& value) {
  if (option.name[0] != '-')
    app.add_option(option.name, value);
  else  // in one word: CLI11 would take the words behind it too
    app.add_option_function<std::string>(option.name,
                                         [&](const std::string& list) { value = CLI::detail::split(list, ','); });
}

void add(CLI::App& app, const ProgramOption& option, std::vector<std::int64_t>& value) {
  app.add_option(option.name, value)->delimiter(',')->check(CLI::PositiveNumber);
}

}  // namespace

int program(const std::string& name, int argc, char** argv, const std::vector<ProgramOption>& options,
            const std::function<void()>& run) try {
  CLI::App app("", name);
  for (const ProgramOption& option : options) std::visit([&](auto* value) { add(app, option, *value); }, option.value);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  run();
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s: %s\n", name.c_str(), error.what());
  return 1;
}

}  // namespace vernier::bench
