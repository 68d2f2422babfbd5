// The report: one HTML page that needs nothing else.
#include <fmt/format.h>

#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "reproduce/run.hpp"

namespace vernier::reproduce {
namespace {

namespace fs = std::filesystem;

// Powers are set as such: "2^-11", "n^3".
std::string escaped(const std::string& text) {
  std::string out;
  bool raised = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (raised && std::isalnum(static_cast<unsigned char>(c)) == 0 && !(c == '-' && text[i - 1] == '^')) {
      out += "</sup>";
      raised = false;
    }
    switch (c) {
      case '^':
        out += "<sup>";
        raised = true;
        break;
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return raised ? out + "</sup>" : out;
}

std::string text(const Json& record, const char* key) { return escaped(record.at(key).get<std::string>()); }

std::string base64(const std::string& bytes) {
  constexpr const char* digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t word = 0;
    for (std::size_t b = 0; b < 3; ++b)
      word = word << 8 | (i + b < bytes.size() ? static_cast<unsigned char>(bytes[i + b]) : 0U);
    for (std::size_t d = 0; d < 4; ++d)
      out += i + d <= bytes.size() ? digits[word >> (18 - 6 * static_cast<int>(d)) & 63] : '=';
  }
  return out;
}

std::string cell(const Json& value) {
  if (value.is_number_float()) return fmt::format("{:.4g}", value.get<double>());
  return value.is_string() ? escaped(value.get<std::string>()) : value.is_null() ? "" : value.dump();
}

std::string table(const Json& columns, const Json& rows) {
  std::string out = "<div class=\"scroll\"><table><thead><tr>";
  for (const Json& column : columns) out += fmt::format("<th>{}</th>", cell(column));
  out += "</tr></thead><tbody>\n";
  for (const Json& row : rows) {
    out += "<tr>";
    for (const Json& value : row)
      out += fmt::format("<td{}>{}</td>", value.is_number() ? " class=\"number\"" : "", cell(value));
    out += "</tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

// "agrees", "differs", "not run" or "failed", and the class that colours it. A sign goes with the colour.
std::string badge(const Json& record) {
  const std::string status = record.at("status");
  if (status != "done") return fmt::format("<span class=\"badge none\">&#9675; {}</span>", status);
  return record.at("agrees").get<bool>() ? "<span class=\"badge yes\">&#10003; agrees</span>"
                                         : "<span class=\"badge no\">&#10007; differs</span>";
}

std::string checks(const Json& list) {
  std::string out =
      "<div class=\"scroll\"><table class=\"checks\"><thead><tr><th></th><th>claim</th><th>paper, or its "
      "analysis</th><th>here</th>"
      "<th>counts as agreement</th></tr></thead><tbody>\n";
  for (const Json& c : list)
    out += fmt::format(
        "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
        c.at("agrees").get<bool>() ? "<span class=\"yes\">&#10003;</span>" : "<span class=\"no\">&#10007;</span>",
        text(c, "claim"), text(c, "paper"), text(c, "here"), text(c, "criterion"));
  return out + "</tbody></table></div>\n";
}

std::string figures(const Json& record, const std::string& folder) {
  std::string out;
  for (const std::string& name : figure_names(record)) {
    std::ifstream file(fs::path(folder) / "figures" / (name + ".svg"), std::ios::binary);
    if (!file) {
      out += fmt::format("<p class=\"none\">The figure {} was not drawn.</p>\n", name);
      continue;
    }
    const std::string svg((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    out += fmt::format("<img alt=\"{}\" src=\"data:image/svg+xml;base64,{}\">\n", text(record, "title"), base64(svg));
  }
  return out.empty() ? out : "<div class=\"figures\">\n" + out + "</div>\n";
}

// The first 12 digits, and "-dirty-..." where there is that.
std::string short_commit(const std::string& commit) {
  return escaped(commit.size() > 40 ? commit.substr(0, 12) + commit.substr(40) : commit.substr(0, 12));
}

// Where and when the data were computed: a page may put together those of several machines.
std::string origin(const Json& record) {
  const Json& machine = record.at("machine");
  std::string where = escaped(machine.at("cpu").get<std::string>());
  if (machine.at("gpu").is_string()) where += ", " + escaped(machine.at("gpu").get<std::string>());
  return fmt::format("{}{} on {}, {} threads; {:.3g} s; {}sizes, seed {}, commit {}",
                     record.at("reused").get<bool>() ? "data of an earlier run, " : "", text(record, "date"), where,
                     machine.at("threads").get<int>(), record.at("seconds").get<double>(),
                     record.at("quick").get<bool>() ? "quick " : "full ", record.at("seed").get<std::uint64_t>(),
                     short_commit(record.at("commit")));
}

std::string section(const Json& record, const std::string& folder) {
  std::string out = fmt::format(
      "<section id=\"{0}\">\n<h2>{1} {2}</h2>\n<p class=\"source\">{3}, {4} &middot; <code>vernier reproduce "
      "{0}</code></p>\n"
      "<p><b>The paper:</b> {5}</p>\n",
      text(record, "name"), text(record, "title"), badge(record), text(record, "paper"), text(record, "figure"),
      text(record, "found"));
  if (record.at("status") != "done")
    return out + fmt::format("<p class=\"none\">Not shown here: {}.</p>\n</section>\n", text(record, "reason"));
  const Json& result = record.at("result");
  out += fmt::format("<p><b>Here:</b> {}</p>\n", text(result, "here"));
  out += figures(record, folder);
  const std::string data = table(result.at("columns"), result.at("rows"));
  if (result.at("show_table").get<bool>()) out += data;
  out += checks(result.at("checks"));
  if (!result.at("show_table").get<bool>())
    out += fmt::format("<details><summary>Data, {} rows</summary>\n{}</details>\n", result.at("rows").size(), data);
  return out + fmt::format("<p class=\"source\">{}</p>\n</section>\n", origin(record));
}

std::string summary(const Json& records) {
  std::map<std::string, int> count;
  std::string rows;
  for (const Json& r : records) {
    const std::string status = r.at("status");
    ++count[status != "done" ? status : r.at("agrees").get<bool>() ? "agree" : "differ"];
    rows += fmt::format("<tr><td>{}</td><td><a href=\"#{}\">{}</a></td><td>{}, {}</td></tr>\n", badge(r),
                        text(r, "name"), text(r, "title"), text(r, "paper"), text(r, "figure"));
  }
  std::string line;
  for (const auto& [what, number] : count) line += fmt::format("{}{} {}", line.empty() ? "" : ", ", number, what);
  return fmt::format(
      "<p>{} experiments: {}. A verdict is computed from the data: every claim has a criterion that it could "
      "miss.</p>\n"
      "<div class=\"scroll\"><table class=\"summary\"><tbody>\n{}</tbody></table></div>\n",
      records.size(), line, rows);
}

// What the experiments come from, with what it appeared in.
constexpr const char* papers = R"(<section id="papers">
<h2>The papers</h2>
<ul>
<li>H. Ootomo, R. Yokota: TensorCore を用いた精度補正単精度行列積 (a single-precision matrix product on Tensor Cores with
corrected errors). IPSJ SIG Technical Reports, 2021. Its successor: Recovering single precision accuracy from Tensor Cores
while surpassing the FP32 theoretical peak performance. Int. J. High Perform. Comput. Appl. 36, 2022,
doi:10.1177/10943420221090256</li>
<li>D. Mukunoki, K. Ozaki, T. Ogita, T. Imamura: DGEMM using Tensor Cores, and its accurate and reproducible versions. ISC High
Performance 2020, doi:10.1007/978-3-030-50743-5_12</li>
<li>M. Fasi, N. J. Higham, M. Mikaitis, S. Pranesh: Numerical behavior of NVIDIA tensor cores. PeerJ Computer Science 7, 2021,
doi:10.7717/peerj-cs.330</li>
<li>T. Mary, P. Blanchard, N. J. Higham, F. Lopez, S. Pranesh: Performance and accuracy of mixed-precision matrix factorizations
with GPU Tensor Cores. SIAM PP 2020; in full: Mixed precision block fused multiply-add: error analysis and application to GPU
tensor cores. SIAM J. Sci. Comput. 42, 2020, doi:10.1137/19M1289546</li>
</ul>
</section>
)";

constexpr const char* style = R"(
:root { font-family: system-ui, "DejaVu Sans", sans-serif; line-height: 1.45; color: #1a1a1a; background: #fff; }
body { max-width: 62rem; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.7rem; margin-bottom: .3rem; } h2 { font-size: 1.25rem; margin: 0 0 .2rem; }
section { border-top: 1px solid #ccc; padding-top: 1.1rem; margin-top: 1.8rem; }
.source { color: #595959; font-size: .85rem; margin: .2rem 0 .7rem; overflow-wrap: anywhere; }
.badge { font-size: .8rem; font-weight: 600; padding: .1rem .45rem; border-radius: .6rem; white-space: nowrap; vertical-align: middle; }
.badge.yes { background: #d6efe6; color: #00513a; } .badge.no { background: #fbe0d1; color: #7a3000; }
.badge.none { background: #e8e8e8; color: #444; }
span.yes { color: #00704f; } span.no { color: #a84300; } p.none { color: #595959; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 27rem), 1fr)); gap: 1rem; }
.figures img { width: 100%; max-width: 36rem; height: auto; }
.scroll { overflow-x: auto; margin: .6rem 0; }
table { border-collapse: collapse; font-size: .85rem; }
th, td { text-align: left; padding: .2rem .6rem .2rem 0; border-bottom: 1px solid #e4e4e4; vertical-align: top; }
td.number { text-align: right; font-variant-numeric: tabular-nums; } th { font-weight: 600; }
details { margin: .5rem 0; } summary { cursor: pointer; color: #0a5a92; } a { color: #0a5a92; }
@media (max-width: 40rem) {
  .checks thead { display: none; } .checks tr { display: block; padding: .4rem 0; border-bottom: 1px solid #e4e4e4; }
  .checks td { display: inline; border: 0; padding: 0 .3rem 0 0; } .checks td:nth-child(3)::before { content: "Paper: "; color: #595959; }
  .checks td:nth-child(4)::before { content: "Here: "; color: #595959; } .checks td:nth-child(5)::before { content: "Counts: "; color: #595959; }
  .checks td:nth-child(n+3) { display: block; }
}
)";

}  // namespace

std::string html_report(const Json& records, const std::string& out) {
  std::string body;
  for (const Json& record : records) body += section(record, out);
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>Vernier: the papers, "
      "reproduced</title>\n"
      "<style>{}</style>\n</head>\n<body>\n<h1>The papers, reproduced</h1>\n"
      "<p>What four papers found out about matrix engines, computed again by <code>vernier reproduce</code>: on models "
      "of "
      "their engines that are right to the last bit, and on the hardware at hand.</p>\n{}{}{}</body>\n</html>\n",
      style, summary(records), body, papers);
}

}  // namespace vernier::reproduce
