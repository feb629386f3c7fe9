// What a verb prints: data on stdout as a table for people, or as JSON or CSV for programs; talk on stderr.
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace attune::cli {

enum class OutputFormat { table, json, csv };

/// Adds `--format table|json|csv` to a verb.
CLI::Option* add_format(CLI::App& verb, OutputFormat& format);

enum class Align { left, right };

struct Column {
  std::string name;
  Align align = Align::left;
};

struct Table {
  std::string title;  // printed above the table form only; may be empty
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;  // as many cells as there are columns
};

/// The output of a verb. `json` is the complete data with numbers as numbers; the tables are what people read.
struct Report {
  std::vector<Table> tables;
  nlohmann::ordered_json json;
};

/// Aligned text, titles underlined. Bytes that would steer a terminal are escaped.
std::string to_text(const Report& report);
/// RFC 4180. One table prints as it is; several print in long form with the columns table, row, column, value.
std::string to_csv(const Report& report);
std::string to_json(const Report& report);

/// Prints the report to stdout in the given format.
void print(const Report& report, OutputFormat format);

/// The text with control bytes as \xNN, so that a name out of a file cannot write escape sequences.
enum class Newlines { keep, escape };
std::string printable(std::string_view text, Newlines newlines = Newlines::escape);

/// Thrown by write_stdout when the other end of the pipe was closed: ends the program quietly.
struct ReaderGone {};

/// Writes everything or throws: ReaderGone, or UserError when the stream cannot be written.
void write_stdout(std::string_view text);
/// Talk: progress, warnings, errors. Failure to write it is ignored.
void write_stderr(std::string_view text);

/// Makes a closed pipe an error of write() instead of a signal, and keeps files that are opened later away from the
/// numbers of standard streams that were closed by the caller.
void prepare_streams();

}  // namespace attune::cli
