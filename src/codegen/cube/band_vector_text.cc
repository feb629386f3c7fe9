// A convolution by bands on vector registers. Every element that a tile of pixels multiplies lies at a fixed distance
// from one address, so that broadcasts fold into the products: with few channels, tables of row positions took longer.
#include "codegen/cube/band.h"
#include "codegen/cube/band_copy.h"
#include "codegen/cube/task_grid.h"
#include "codegen/cube/text.h"

namespace attune::cube {
namespace {

class Writer {
 public:
  Writer(const std::string& name, const BandShape& shape, const BandVectorSchedule& schedule, const Epilogue& epilogue)
      : name_(name), shape_(shape), schedule_(schedule), epilogue_(epilogue) {
    panels_ = divide_up(shape.product.columns, schedule.panel_columns());
    const int64_t last_columns = shape.product.columns - (panels_ - 1) * schedule.panel_columns();
    edge_vectors_ = static_cast<int>(divide_up(last_columns, lanes()));
    edge_lanes_ = static_cast<int>(last_columns - (edge_vectors_ - 1) * lanes());
    edge_pixels_ = static_cast<int>(shape.across.out % schedule.tile_pixels);
  }

  std::string write() {
    text_.paste(vector_vocabulary(schedule_.isa));
    text_.paste(epilogue_text(epilogue_, schedule_.isa, shape_.product.dst));
    text_.open("struct Arguments");
    text_.line("const float* src;");
    text_.line("{}* dst;", element_name(shape_.product.dst));
    text_.line("Operands with;");
    text_.line("float* band;");
    text_.close(";");
    write_band_copy(text_, shape_, 0);
    const auto by_panel = [&](int pixels) {
      if (panels_ > 1 || !edge_panel()) write_tile(pixels, schedule_.tile_vectors, lanes());
      if (edge_panel()) write_tile(pixels, edge_vectors_, edge_lanes_);
    };
    if (shape_.across.out >= schedule_.tile_pixels) by_panel(schedule_.tile_pixels);
    if (edge_pixels_ > 0) by_panel(edge_pixels_);
    write_entry();
    return text_.take();
  }

 private:
  int lanes() const { return schedule_.isa.lanes; }
  bool edge_panel() const { return edge_vectors_ != schedule_.tile_vectors || edge_lanes_ != lanes(); }
  int64_t panel_size() const { return shape_.product.depth * shape_.product.taps * schedule_.panel_columns(); }
  int64_t pixel_step() const { return shape_.across.stride * shape_.band_channels; }

  void write_tile(int pixels, int vectors, int last_lanes) {
    text_.line("// {} pixels, {} columns from `column` on; `a` is where the window of the first pixel begins.", pixels,
               (vectors - 1) * lanes() + last_lanes);
    text_.open(
        "static void tile_{}_{}_{}(const Arguments& g, const float* a, long at, long column, const float* panel)",
        pixels, vectors, last_lanes);
    for (int p = 0; p < pixels; ++p) {
      std::string names;
      for (int v = 0; v < vectors; ++v) names += fmt::format("{}c{}_{} = {{}}", v ? ", " : "vf ", p, v);
      text_.line("{};", names);
    }
    text_.open("for (long y = 0; y < {}; ++y, a += {})", shape_.product.taps, band_row(shape_) * shape_.down.dilation);
    text_.open("for (long k = 0; k < {}; ++k)", shape_.product.depth);
    for (int v = 0; v < vectors; ++v) text_.line("const vf b{0} = ((const vf*)panel)[{0}];", v);
    text_.line("panel += {};", vectors * lanes());
    for (int p = 0; p < pixels; ++p) {
      text_.line("const vf x{} = a[k + {}] - (vf){{}};", p, p * pixel_step());
      for (int v = 0; v < vectors; ++v) text_.line("c{0}_{1} += x{0} * b{1};", p, v);
    }
    text_.close();
    text_.close();
    for (int p = 0; p < pixels; ++p) {
      for (int v = 0; v < vectors; ++v) {
        const int n = v + 1 == vectors ? last_lanes : lanes();
        text_.line("store<{0}>(g.dst + at + {1}, finish<{0}>(c{2}_{3}, g.with, at + {1}, column + {4}));", n,
                   p * shape_.product.dst_stride + v * lanes(), p, v, v * lanes());
      }
    }
    text_.close();
    text_.blank();
  }

  void write_calls(int pixels) {
    const auto call = [&](int vectors, int last_lanes) {
      text_.line("tile_{}_{}_{}(g, a, at, column, weights + panel * {});", pixels, vectors, last_lanes, panel_size());
    };
    text_.line("const float* a = g.band + y * {} + pixel * {};", band_row(shape_) * shape_.down.stride, pixel_step());
    text_.line("const long column = panel * {0}, at = ((row_at + y) * {1} + pixel) * {2} + column;",
               schedule_.panel_columns(), shape_.across.out, shape_.product.dst_stride);
    if (edge_panel() && panels_ > 1) {
      text_.open("if (panel < {})", panels_ - 1);
      call(schedule_.tile_vectors, lanes());
      text_.close(" else");
      text_.open("");
      call(edge_vectors_, edge_lanes_);
      text_.close();
    } else if (edge_panel()) {
      call(edge_vectors_, edge_lanes_);
    } else {
      call(schedule_.tile_vectors, lanes());
    }
  }

  void write_entry() {
    const int64_t bands = divide_up(shape_.down.out, schedule_.band_rows),
                  panel_tasks = divide_up(panels_, schedule_.task_panels);
    text_.open("extern \"C\" void {}({})", name_, kEntryParameters);
    text_.line("(void)workspace;");
    text_.line("float band[{}] __attribute__((aligned(64)));", band_bytes(shape_, schedule_.band_rows) / 4);
    text_.line("const Arguments g = {{(const float*)inputs[0], ({}*)outputs[0], operands_of(inputs), band}};",
               element_name(shape_.product.dst));
    text_.line("const float* weights = (const float*)prepared[0];");
    text_.line("long held = -1;  // the band that was copied last");
    text_.open("for (long task = begin; task < end; ++task)");
    // Panels vary fastest within a band, so that a thread copies each band once.
    text_.line("const long panel_task = task % {0}, which = task / {0};", panel_tasks);
    text_.line("const long image = which / {0}, first_row = which % {0} * {1};", bands, schedule_.band_rows);
    text_.line("const long end_row = first_row + {0} < {1} ? first_row + {0} : {1};", schedule_.band_rows,
               shape_.down.out);
    text_.line("const long row_at = image * {} + first_row;", shape_.down.out);
    text_.line(
        "const long first_panel = panel_task * {0}, end_panel = first_panel + {0} < {1} ? first_panel + {0} : {1};",
        schedule_.task_panels, panels_);
    text_.line("if (held != which) copy(g, image, first_row, end_row);");
    text_.line("held = which;");
    const std::string row_loop = "for (long y = 0; y < end_row - first_row; ++y)";
    const std::string panel_loop = "for (long panel = first_panel; panel < end_panel; ++panel)";
    const bool rows_inside = schedule_.inner == Axis::rows;
    text_.open("{}", rows_inside ? panel_loop : row_loop);
    text_.open("{}", rows_inside ? row_loop : panel_loop);
    const int64_t whole = shape_.across.out - edge_pixels_;
    if (whole > 0) {
      text_.open("for (long pixel = 0; pixel < {}; pixel += {})", whole, schedule_.tile_pixels);
      write_calls(schedule_.tile_pixels);
      text_.close();
    }
    if (edge_pixels_ > 0) {
      text_.open("");
      text_.line("const long pixel = {};", whole);
      write_calls(edge_pixels_);
      text_.close();
    }
    text_.close();
    text_.close();
    text_.close();
    text_.close();
  }

  std::string name_;
  const BandShape& shape_;
  const BandVectorSchedule& schedule_;
  const Epilogue& epilogue_;
  Text text_;
  int64_t panels_ = 0;
  int edge_vectors_ = 0, edge_lanes_ = 0, edge_pixels_ = 0;
};

}  // namespace

std::string band_vector_text(const std::string& name, const BandShape& shape, const BandVectorSchedule& schedule,
                             const Epilogue& epilogue) {
  return Writer(name, shape, schedule, epilogue).write();
}

}  // namespace attune::cube
