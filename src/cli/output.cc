#include "cli/output.h"

#include "base/error.h"

#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

namespace attune::cli {
namespace {

/// Columns on a terminal, counting each UTF-8 character as one.
size_t width(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

void append_cell(std::string& out, const std::string& text, size_t cell_width, Align align) {
  const std::string padding(cell_width - std::min(cell_width, width(text)), ' ');
  out += align == Align::right ? padding + text : text + padding;
}

void append_line(std::string& out, const std::vector<std::string>& cells, const std::vector<size_t>& widths,
                 const std::vector<Column>& columns) {
  std::string line;
  for (size_t i = 0; i < columns.size(); ++i) {
    if (i > 0) line += "  ";
    append_cell(line, cells[i], widths[i], columns[i].align);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  out += line + "\n";
}

void append_table(std::string& out, const Table& table) {
  if (!table.title.empty()) {
    const std::string title = printable(table.title);
    out += title + "\n" + std::string(width(title), '-') + "\n";
  }
  std::vector<std::vector<std::string>> lines(1);
  for (const Column& column : table.columns) lines[0].push_back(printable(column.name));
  for (const auto& row : table.rows) {
    if (row.size() != table.columns.size())
      throw InternalError("table '{}' has a row of {} cells for {} columns", table.title, row.size(),
                          table.columns.size());
    auto& cells = lines.emplace_back();
    for (const std::string& cell : row) cells.push_back(printable(cell));
  }
  std::vector<size_t> widths(table.columns.size(), 0);
  for (const auto& cells : lines)
    for (size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], width(cells[i]));
  for (const auto& cells : lines) append_line(out, cells, widths, table.columns);
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

void append_csv(std::string& out, const std::vector<std::string>& fields) {
  for (size_t i = 0; i < fields.size(); ++i) out += (i > 0 ? "," : "") + csv_field(fields[i]);
  out += "\r\n";
}

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    text.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

constexpr std::pair<std::string_view, OutputFormat> kFormats[] = {
    {"table", OutputFormat::table}, {"json", OutputFormat::json}, {"csv", OutputFormat::csv}};

}  // namespace

CLI::Option* add_format(CLI::App& verb, OutputFormat& format) {
  const auto parse = [&format](const CLI::results_t& words) {
    for (const auto& [name, value] : kFormats)
      if (words.back() == name) format = value;
    return true;
  };
  const auto check = [](const std::string& word) -> std::string {
    for (const auto& [name, value] : kFormats)
      if (word == name) return "";
    return "unknown format '" + word + "'; choose table, json or csv";
  };
  return verb.add_option("--format", parse, "How to print the result: table, json or csv")
      ->check(check)
      ->type_name("FORMAT")
      ->default_str("table")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

std::string to_text(const Report& report) {
  std::string out;
  for (const Table& table : report.tables) {
    if (!out.empty()) out += "\n";
    append_table(out, table);
  }
  return out;
}

std::string to_csv(const Report& report) {
  std::string out;
  if (report.tables.size() == 1) {
    const Table& table = report.tables.front();
    std::vector<std::string> header;
    for (const Column& column : table.columns) header.push_back(column.name);
    append_csv(out, header);
    for (const auto& row : table.rows) append_csv(out, row);
    return out;
  }
  append_csv(out, {"table", "row", "column", "value"});
  for (const Table& table : report.tables)
    for (size_t row = 0; row < table.rows.size(); ++row)
      for (size_t i = 0; i < table.columns.size(); ++i)
        append_csv(out, {table.title, std::to_string(row + 1), table.columns[i].name, table.rows[row][i]});
  return out;
}

std::string to_json(const Report& report) {
  // Names out of a model need not be UTF-8; a replacement character is better than no output.
  return report.json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

void print(const Report& report, OutputFormat format) {
  switch (format) {
    case OutputFormat::table: return write_stdout(to_text(report));
    case OutputFormat::json: return write_stdout(to_json(report));
    case OutputFormat::csv: return write_stdout(to_csv(report));
  }
}

std::string printable(std::string_view text, Newlines newlines) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool control = byte < 0x20 || byte == 0x7F;
    if (control && !(c == '\n' && newlines == Newlines::keep))
      out += fmt::format("\\x{:02x}", byte);
    else
      out += c;
  }
  return out;
}

void write_stdout(std::string_view text) {
  if (write_all(STDOUT_FILENO, text)) return;
  if (errno == EPIPE) throw ReaderGone{};
  throw UserError("cannot write to standard output: {}", std::strerror(errno));
}

void write_stderr(std::string_view text) { static_cast<void>(write_all(STDERR_FILENO, text)); }

void prepare_streams() {
  std::signal(SIGPIPE, SIG_IGN);
  // Read-only, so that writing to a stream that the caller closed still fails and is reported.
  for (int fd = open("/dev/null", O_RDONLY); fd >= 0; fd = open("/dev/null", O_RDONLY)) {
    if (fd <= STDERR_FILENO) continue;
    close(fd);
    break;
  }
}

}  // namespace attune::cli
