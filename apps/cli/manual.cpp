// vernier manual, vernier completion: what the build installs. Both read the parser, so that neither grows old.
#include "manual.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>

namespace vernier::cli {

std::string checked_type(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  return type.substr(type.find(':') + 1);
}

namespace {

using OptionList = std::vector<const CLI::Option*>;

// "vernier bench gemm"
std::string full_name(const CLI::App& app) {
  return app.get_parent() == nullptr ? app.get_name() : full_name(*app.get_parent()) + " " + app.get_name();
}

std::string page_name(const CLI::App& app) {
  std::string name = full_name(app);
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

// Those that are documented; named as they are typed, positional ones apart.
OptionList options_of(const CLI::App& app, bool positional) {
  OptionList options;
  for (const CLI::Option* option : app.get_options({}))
    if (!option->get_group().empty() && option->get_positional() == positional) options.push_back(option);
  return options;
}

std::vector<std::string> spellings(const CLI::Option& option) {
  std::vector<std::string> all;
  for (const std::string& name : option.get_snames()) all.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) all.push_back("--" + name);
  return all;
}

bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

// ---- roff ----------------------------------------------------------------------------------------------------------

std::string roff(const std::string& text) {
  std::string out;
  bool line_begins = true;
  for (const char c : text) {
    if (line_begins && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
    line_begins = c == '\n';
  }
  return out;
}

std::string roff_option(const CLI::Option& option, bool positional) {
  std::string head;
  for (const std::string& name : positional ? std::vector<std::string>{option.get_name(true)} : spellings(option))
    head += (head.empty() ? "" : ", ") + fmt::format("\\fB{}\\fR", roff(name));
  if (!positional && takes_value(option)) head += fmt::format(" \\fI{}\\fR", roff(checked_type(option)));
  const std::string usual = option.get_default_str();
  return fmt::format(".TP\n{}\n{}{}\n", head, roff(option.get_description()),
                     usual.empty() ? "" : roff(fmt::format(" (default: {})", usual)));
}

std::string roff_options(const CLI::App& app, const char* title, bool positional) {
  std::string text;
  for (const CLI::Option* option : options_of(app, positional)) text += roff_option(*option, positional);
  return text.empty() ? text : fmt::format(".SH {}\n{}", title, text);
}

std::string manual_page(const CLI::App& app) {
  const auto parts = app.get_subcommands({});
  std::string text = fmt::format(".TH {} 1 \"\" \"vernier {}\" \"Vernier\"\n.SH NAME\n{} \\- {}\n", page_name(app),
                                 version(), roff(page_name(app)), roff(app.get_description()));
  text += fmt::format(".SH SYNOPSIS\n.B {}\n", roff(full_name(app)));
  if (!options_of(app, false).empty()) text += "[\\fIOPTIONS\\fR]\n";
  for (const CLI::Option* option : options_of(app, true))
    text += fmt::format("\\fI{}\\fR\n", roff(option->get_name(true)));
  if (!parts.empty()) text += "\\fICOMMAND\\fR ...\n";
  text += roff_options(app, "ARGUMENTS", true) + roff_options(app, "OPTIONS", false);
  if (!parts.empty()) {
    text += ".SH COMMANDS\n";
    for (const CLI::App* part : parts)
      if (!part->get_group().empty())
        text += fmt::format(".TP\n\\fB{}\\fR(1)\n{}\n", roff(page_name(*part)), roff(part->get_description()));
  }
  if (!app.get_footer().empty()) text += fmt::format(".SH NOTES\n.nf\n{}\n.fi\n", roff(app.get_footer()));
  return text;
}

// ---- completion ----------------------------------------------------------------------------------------------------

struct Command {
  std::string path;  // "bench gemm"
  std::vector<std::string> words;
};

void collect(const CLI::App& app, const std::string& path, std::vector<Command>& all) {
  Command command{path, {}};
  for (const CLI::App* part : app.get_subcommands({})) {
    if (part->get_group().empty()) continue;
    command.words.push_back(part->get_name());
    collect(*part, path.empty() ? part->get_name() : path + " " + part->get_name(), all);
  }
  for (const CLI::Option* option : options_of(app, false))
    for (const std::string& name : spellings(*option)) command.words.push_back(name);
  all.push_back(std::move(command));
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

// Words are the commands so far, as far as they are commands; what follows is a word of the last one, or a file.
std::string bash_completion(const std::vector<Command>& commands) {
  std::string cases, paths;
  for (const Command& c : commands) {
    cases += fmt::format("    \"{}\") words=\"{}\" ;;\n", c.path, joined(c.words));
    if (!c.path.empty()) paths += fmt::format("{}\"{}\"", paths.empty() ? "" : " | ", c.path);
  }
  return fmt::format(R"(# bash completion of vernier
_vernier() {{
  local word path="" next words current="${{COMP_WORDS[COMP_CWORD]}}"
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    next="${{path:+$path }}$word"
    case "$next" in {}) path="$next" ;; esac
  done
  case "$path" in
{}  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  [[ ${{#COMPREPLY[@]}} -gt 0 || $current == -* ]] || compopt -o default
}}
complete -F _vernier vernier
)",
                     paths, cases);
}

// By bash's own, which zsh reads.
std::string zsh_completion(const std::vector<Command>& commands) {
  std::string text = bash_completion(commands);
  text = text.substr(text.find('\n') + 1);
  return "#compdef vernier\nautoload -U +X bashcompinit && bashcompinit\n" + text;
}

std::string quoted(std::string text) {
  for (std::size_t at = 0; (at = text.find_first_of("\\'", at)) != std::string::npos; at += 2) text.insert(at, "\\");
  return "'" + text + "'";
}

void add_fish_lines(const CLI::App& app, std::string& text) {
  const bool top = app.get_parent() == nullptr;
  const std::string when = top ? "__fish_use_subcommand" : "__fish_seen_subcommand_from " + app.get_name();
  for (const CLI::App* part : app.get_subcommands({})) {
    if (part->get_group().empty()) continue;
    text += fmt::format("complete -c vernier -n {} -a {} -d {}\n", quoted(when), part->get_name(),
                        quoted(part->get_description()));
    add_fish_lines(*part, text);
  }
  for (const CLI::Option* option : options_of(app, false)) {
    text += fmt::format("complete -c vernier -n {}", quoted(when));
    for (const std::string& name : option->get_snames()) text += " -s " + name;
    for (const std::string& name : option->get_lnames()) text += " -l " + name;
    text += fmt::format("{} -d {}\n", takes_value(*option) ? " -r" : "", quoted(option->get_description()));
  }
}

std::string completion(const CLI::App& program, const std::string& shell) {
  if (shell == "fish") {
    std::string text = "# fish completion of vernier\n";
    add_fish_lines(program, text);
    return text;
  }
  std::vector<Command> commands;
  collect(program, "", commands);
  return shell == "zsh" ? zsh_completion(commands) : bash_completion(commands);
}

// "bench gemm" or "bench-gemm" among the commands below app; null where there is none.
const CLI::App* find_command(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* found = &app;
  for (const std::string& word : words) {
    const CLI::App* next = nullptr;
    for (const CLI::App* part : found->get_subcommands({}))
      if (part->get_name() == word) next = part;
    if (next == nullptr) return nullptr;
    found = next;
  }
  return found;
}

}  // namespace

void add_manual(CLI::App& program, Work& chosen) {
  CLI::App* command = program.add_subcommand("manual", "The manual page of the program, or of a command, for man(1).");
  auto words = std::make_shared<std::vector<std::string>>();
  command->add_option("COMMAND", *words, "as in: bench gemm; the program itself if none is given")->default_str("");
  command->footer("Example:\n  vernier manual gemm | man -l -");
  command->callback([&program, &chosen, words] {
    chosen = [&program, words] {
      const CLI::App* app = find_command(program, *words);
      if (app == nullptr) throw UsageError(fmt::format("manual: '{}' is no command", fmt::join(*words, " ")));
      fmt::print("{}", manual_page(*app));
      return exit_ok;
    };
  });
}

void add_completion(CLI::App& program, Work& chosen) {
  CLI::App* command = program.add_subcommand("completion", "What completes commands and options in a shell.");
  auto shell = std::make_shared<std::string>();
  command->add_option("SHELL", *shell, "bash, zsh or fish")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->footer("Example:\n  source <(vernier completion bash)");
  command->callback([&program, &chosen, shell] {
    chosen = [&program, shell] {
      fmt::print("{}", completion(program, *shell));
      return exit_ok;
    };
  });
}

}  // namespace vernier::cli
