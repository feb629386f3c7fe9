#include "codegen/cube/separable.h"
#include "codegen/cube/task_grid.h"
#include "codegen/cube/text.h"

namespace attune::cube {
namespace {

/// A kernel as a function that only this text calls, with its vocabulary in a namespace of its own.
void paste_part(Text& text, const char* where, std::string part) {
  constexpr std::string_view kExported = "extern \"C\" void ";
  part.replace(part.rfind(kExported), kExported.size(), "static void ");
  text.line("namespace {} {{", where);
  text.paste(part);
  text.line("}}  // namespace {}", where);
  text.blank();
}

class Writer {
 public:
  Writer(const std::string& name, const SeparableShape& shape, const SeparableSchedule& schedule)
      : name_(name), shape_(shape), schedule_(schedule) {}

  std::string write(const Epilogue& first, const Epilogue& second) {
    paste_part(text_, "depthwise", depthwise_text("rows", shape_.depthwise, schedule_.depthwise, first));
    paste_part(text_, "pointwise", vector_product_text("band", shape_.band, schedule_.pointwise, second));
    if (has_last())
      paste_part(text_, "last", vector_product_text("band", shape_.last_band, schedule_.pointwise, second));
    write_entry();
    return text_.take();
  }

 private:
  int64_t rows() const { return shape_.depthwise.down.out; }
  int64_t band_rows() const { return schedule_.depthwise.task_rows; }
  int64_t bands() const { return divide_up(rows(), band_rows()); }
  bool has_last() const { return shape_.last_band.rows != shape_.band.rows; }

  void write_entry() {
    const DepthwiseShape& first = shape_.depthwise;
    const std::string_view middle = element_name(first.dst) == "float" ? "float" : "unsigned short";
    const std::string_view result = element_name(shape_.band.dst) == "float" ? "float" : "unsigned short";
    text_.open("extern \"C\" void {}({})", name_, kEntryParameters);
    text_.line("{} between[{}] __attribute__((aligned(64)));", middle, band_rows() * first.dst_strides.row);
    text_.open("for (long task = begin; task < end; ++task)");
    text_.line("const long image = task / {0}, band = task % {0};", bands());
    text_.line(
        "// The first convolution writes as if all rows were there; those of the band are. As a number, for no "
        "pointer");
    text_.line("// may leave its array.");
    text_.line("const unsigned long first = (unsigned long)between - sizeof *between * (image * {} + band * {});",
               first.dst_strides.image, band_rows() * first.dst_strides.row);
    text_.line("void* const rows[] = {{(void*)first}};");
    text_.line("const void* const map[] = {{inputs[0], nullptr{}}};",
               shape_.depthwise_bias < 0 ? "" : fmt::format(", inputs[{}]", shape_.depthwise_bias));
    text_.line("depthwise::rows(map, rows, prepared, workspace, task, task + 1);");
    text_.line("const long at = (image * {} + band * {}) * {};", rows() * first.across.out,
               band_rows() * first.across.out, shape_.band.dst_stride);
    text_.line("const void* const operands[] = {{between, nullptr{}}};", operands_text());
    text_.line("void* const results[] = {{({}*)outputs[0] + at}};", result);
    if (has_last())
      text_.line("if (band == {}) last::band(operands, results, prepared + 1, workspace, 0, 1);", bands() - 1);
    text_.line("{}pointwise::band(operands, results, prepared + 1, workspace, 0, 1);", has_last() ? "else " : "");
    text_.close();
    text_.close();
  }

  std::string operands_text() const {
    std::string text;
    for (const BandOperand& operand : shape_.operands) {
      if (operand.input < 0)
        text += ", nullptr";
      else if (!operand.full)
        text += fmt::format(", inputs[{}]", operand.input);
      else
        text += fmt::format(", (const {}*)inputs[{}] + at", operand.dtype == DType::f32 ? "float" : "unsigned short",
                            operand.input);
    }
    return text;
  }

  std::string name_;
  const SeparableShape& shape_;
  const SeparableSchedule& schedule_;
  Text text_;
};

}  // namespace

std::string separable_text(const std::string& name, const SeparableShape& shape, const SeparableSchedule& schedule,
                           const Epilogue& first, const Epilogue& second) {
  return Writer(name, shape, schedule).write(first, second);
}

int64_t separable_band_bytes(const DepthwiseShape& shape, int64_t band_rows) {
  return band_rows * shape.dst_strides.row * (bit_width(shape.dst) / 8);
}

}  // namespace attune::cube
