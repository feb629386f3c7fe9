// Matrix products of bytes, of any rank and batch: QLinearMatMul and MatMulInteger, and QGemm, MatMulIntegerToFloat and
// DynamicQuantizeMatMul of com.microsoft.
#include "base/parallel.h"
#include "ops/quantize_linear.h"
#include "providers/onednn/family.h"
#include "providers/onednn/implementations.h"
#include "providers/onednn/memory.h"
#include "providers/onednn/product_dims.h"
#include "providers/onednn/quantization.h"

#include <cstring>

namespace attune::onednn {
namespace {

using PrimitiveDesc = dnnl::matmul::primitive_desc;
using Desc = dnnl::memory::desc;

constexpr size_t kNone = Requantization::kNone;

/// Positions among the inputs of an operator.
struct Operator {
  std::string_view domain, name;
  size_t a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero;
  size_t sum_bias, float_bias;  // added to the 32-bit sums, and to the product in real numbers
};
constexpr std::string_view kContrib = "com.microsoft";
constexpr Operator kOperators[] = {
    {"", "QLinearMatMul", 1, 2, 3, 4, 5, 6, 7, kNone, kNone},
    {"", "MatMulInteger", kNone, 2, 1, kNone, 3, kNone, kNone, kNone, kNone},
    {kContrib, "QGemm", 1, 2, 3, 4, 5, 7, 8, 6, kNone},
    {kContrib, "MatMulIntegerToFloat", 2, 4, 1, 3, 5, kNone, kNone, kNone, 6},
    {kContrib, "DynamicQuantizeMatMul", kNone, kNone, 1, 2, 3, kNone, kNone, kNone, 4},
};

const Operator* find_operator(const Workload& workload) {
  for (const Operator& one : kOperators)
    if (one.domain == workload.domain && one.name == workload.op) return &one;
  return nullptr;
}

/// The library multiplies by signed bytes; unsigned ones become those by taking 128 off, and off their zero point.
constexpr int kUnsignedShift = 128;

Desc transposed(const Desc& desc) {
  const Dims dims = desc.dims();
  return {dims, desc.data_type(), Dims{1, dims[0]}};
}

struct Problem {
  const Operator& at;
  bool quantizes;  // the left operand is f32 and quantised first
  int b_shift;     // taken off the elements of b
  int64_t columns = 1;
  bool through_floats = false;  // brgemm takes zero points off in f32, which does not hold every sum of this length
  Desc src, weights, plain_weights, bias, dst;
  Dims scale_dims;
  std::optional<Requantization> requantization;
  dnnl::primitive_attr attributes = base_attributes();

  explicit Problem(const Workload& workload)
      : at(*find_operator(workload)),
        quantizes(workload.op == "DynamicQuantizeMatMul"),
        b_shift(workload.input(at.b).dtype == DType::u8 ? kUnsignedShift : 0) {
    require_exact_products();
    for (const auto* specs : {&workload.inputs, &workload.outputs})
      for (const auto& spec : *specs)
        if (spec && spec->layout != Layout::plain)
          throw UnsupportedError("a matrix product takes plain operands, got {}", to_text(spec));
    describe_operands(workload);
    describe_zero_points(workload);
    if (at.b_scale != kNone) {
      describe_scales(workload);
      return;
    }
    const bool has_zero_points = has_zero_point(workload, at.a_zero) || has_b_zero(workload);
    through_floats = has_zero_points && src.dims().back() > kMostExactProducts;
  }

  std::vector<Implementation<PrimitiveDesc>> implementations() const {
    const dnnl::matmul::desc desc(src, weights, bias, dst);
    auto list = list_implementations<PrimitiveDesc>(desc, attributes);
    std::erase_if(list, [&](const auto& one) {
      return !multiplies_exactly(one.name) || (through_floats && one.name.starts_with("brg"));
    });
    return list;
  }

 private:
  void describe_operands(const Workload& workload) {
    const Node node = workload.node();
    const OpContext context(node);
    const bool gemm = workload.op == "QGemm";
    const bool swaps_a = gemm && context.attr_int("transA", 0) != 0, swaps_b = gemm && context.attr_int("transB", 0);
    ProductDims dims{workload.input(0).dims, workload.input(at.b).dims, workload.output(0).dims};
    if (swaps_a) std::swap(dims.a[0], dims.a[1]);
    if (swaps_b) std::swap(dims.b[0], dims.b[1]);
    dims = product_dims(dims, dims.b.size() == 2 && dims.a.size() > 2);
    columns = dims.c.back();
    src = describe_plain(quantizes ? DType::u8 : workload.input(0).dtype, dims.a);
    if (swaps_a) src = transposed(src);
    plain_weights = describe_plain(DType::i8, dims.b);
    if (swaps_b) plain_weights = transposed(plain_weights);
    weights = workload.input(at.b).constant ? describe_any(DType::i8, dims.b) : plain_weights;
    dst = describe_plain(workload.output(0).dtype, dims.c);
    scale_dims.assign(dims.c.size(), 1);
    scale_dims.back() = columns;
    if (at.sum_bias == kNone || !workload.has_input(at.sum_bias)) return;
    const Dims& added = workload.input(at.sum_bias).dims;
    if (added != Dims{columns} && added != Dims{1, columns})
      throw UnsupportedError("what is added must be a row of {}, got {}", columns,
                             to_text(workload.inputs[at.sum_bias]));
    bias = describe_plain(DType::i32, scale_dims);
  }

  void describe_zero_points(const Workload& workload) {
    if (quantizes || has_zero_point(workload, at.a_zero)) {
      if (!quantizes) require_one(workload, at.a_zero, "the zero point of the left operand");
      attributes.set_zero_points(DNNL_ARG_SRC, 0, {DNNL_RUNTIME_S32_VAL});
    }
    if (!has_b_zero(workload)) return;
    if (has_zero_point(workload, at.b_zero)) require_one(workload, at.b_zero, "the zero point of the right operand");
    attributes.set_zero_points(DNNL_ARG_WEIGHTS, 0, {DNNL_RUNTIME_S32_VAL});
  }

  void describe_scales(const Workload& workload) {
    const TensorSpec& scale = workload.input(at.b_scale);
    if (element_count(scale.dims) != 1 && (scale.dims.back() != columns || element_count(scale.dims) != columns))
      throw UnsupportedError("the scale of the right operand must be one number or one for each column, got {}",
                             to_text(workload.inputs[at.b_scale]));
    const bool to_bytes = at.y_scale != kNone && workload.has_input(at.y_scale);
    if (at.a_scale != kNone) require_one(workload, at.a_scale, "the scale of the left operand");
    if (to_bytes) require_one(workload, at.y_scale, "the scale of the result");
    if (to_bytes) require_one(workload, at.y_zero, "the zero point of the result");
    for (const size_t i : {at.a_scale, at.b_scale, at.y_scale, at.float_bias})
      if (i != kNone && workload.has_input(i) && workload.input(i).dtype != DType::f32)
        throw UnsupportedError("scales and biases must be f32, got {}", to_text(workload.inputs[i]));
    if (to_bytes && !workload.has_input(at.y_zero)) throw UnsupportedError("a scale of the result without zero point");
    const Node node = workload.node();
    requantization = Requantization{.left = at.a_scale,
                                    .right = at.b_scale,
                                    .result = to_bytes ? at.y_scale : kNone,
                                    .zero = to_bytes ? at.y_zero : kNone,
                                    .bias = at.float_bias,
                                    .factor = OpContext(node).attr_float("alpha", 1.0F),
                                    .rounds = to_bytes};
    dnnl::post_ops ops;
    requantization->append(ops, workload, scale_dims);
    attributes.set_post_ops(ops);
  }

 public:
  bool has_b_zero(const Workload& workload) const { return b_shift != 0 || has_zero_point(workload, at.b_zero); }
};

void take_shift_off(const std::byte* src, int64_t count, std::byte* dst) {
  constexpr int64_t kGrain = 1 << 16;
  parallel_for(count, kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) dst[i] = src[i] ^ std::byte{kUnsignedShift};
  });
}

/// The right operand as signed bytes in the order that the primitive wants.
Argument right_operand(PrimitiveProgram& program, const Workload& workload, const Problem& problem, const Desc& to) {
  const size_t b = problem.at.b;
  if (problem.b_shift == 0) return program.packed_input(DNNL_ARG_WEIGHTS, workload, b, problem.plain_weights, to);
  const Desc from = problem.plain_weights;
  const int64_t count = element_count(workload.input(b).dims);
  if (workload.input(b).constant) {
    program.preparations.push_back({{static_cast<int>(b)}, [=](std::span<const Tensor* const> constants) {
                                      Tensor centred = Tensor::allocate(DType::i8, constants[b]->dims());
                                      take_shift_off(constants[b]->bytes(), count, centred.mutable_bytes());
                                      return reordered(centred, from, to);
                                    }});
    return {DNNL_ARG_WEIGHTS, to, Source::prepared, program.preparations.size() - 1};
  }
  program.temporaries.push_back(from);
  const Argument centred{DNNL_ARG_WEIGHTS, from, Source::temporary, program.temporaries.size() - 1};
  program.steps.push_back({{}, {{0, {}, Source::input, b}, centred}, [count](std::span<std::byte* const> memory) {
                             take_shift_off(memory[0], count, memory[1]);
                           }});
  return centred;
}

/// The left operand of DynamicQuantizeMatMul, its zero point and the scale of the product.
struct Quantized {
  Argument bytes, zero, scale;
};
Quantized quantize_left(PrimitiveProgram& program, const Workload& workload, const Problem& problem) {
  const auto temporary = [&](int id, const Desc& desc) {
    program.temporaries.push_back(desc);
    return Argument{id, desc, Source::temporary, program.temporaries.size() - 1};
  };
  const Quantized made{
      temporary(DNNL_ARG_SRC, problem.src),
      temporary(DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_SRC, describe_plain(DType::i32, {1})),
      temporary(0, describe_plain(DType::f32, problem.scale_dims)),
  };
  const auto count = static_cast<size_t>(element_count(workload.input(0).dims));
  const int64_t columns = problem.columns;
  const bool for_each_column = element_count(workload.input(problem.at.b_scale).dims) != 1;
  program.steps.push_back(
      {{},
       {{0, {}, Source::input, 0}, {0, {}, Source::input, problem.at.b_scale}, made.bytes, made.zero, made.scale},
       [=](std::span<std::byte* const> memory) {
         const std::span<const float> values(reinterpret_cast<const float*>(memory[0]), count);
         const auto* b_scale = reinterpret_cast<const float*>(memory[1]);
         const DynamicRange range = dynamic_range(values);
         quantize_to_u8(values, range, reinterpret_cast<uint8_t*>(memory[2]));
         const int32_t zero = range.zero_point;
         std::memcpy(memory[3], &zero, sizeof(zero));
         auto* scale = reinterpret_cast<float*>(memory[4]);
         for (int64_t c = 0; c < columns; ++c) scale[c] = range.scale * b_scale[for_each_column ? c : 0];
       }});
  return made;
}

bool serves(const Workload& workload) { return find_operator(workload) != nullptr; }

std::variant<Offer, Refusal> offer(const Workload& workload) {
  return Offer{implementation_configs(Problem(workload).implementations())};
}

std::unique_ptr<Kernel> build(const Workload& workload, const Config& config) {
  const Problem problem(workload);
  const PrimitiveDesc pd = choose_implementation(problem.implementations(), config);
  const Operator& at = problem.at;
  PrimitiveProgram program;
  std::vector<Argument> arguments = {{DNNL_ARG_DST, problem.dst, Source::output, 0}};
  arguments.push_back(right_operand(program, workload, problem, pd.weights_desc()));
  if (at.sum_bias != kNone && workload.has_input(at.sum_bias))
    arguments.push_back({DNNL_ARG_BIAS, problem.bias, Source::input, at.sum_bias});
  if (problem.has_b_zero(workload))
    arguments.push_back(zero_point_argument(program, workload, at.b_zero, DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_WEIGHTS,
                                            problem.b_shift));
  std::optional<Argument> scale;
  if (problem.quantizes) {
    const Quantized left = quantize_left(program, workload, problem);
    arguments.push_back(left.bytes);
    arguments.push_back(left.zero);
    scale = left.scale;
  } else {
    arguments.push_back({DNNL_ARG_SRC, problem.src, Source::input, 0});
    if (has_zero_point(workload, at.a_zero))
      arguments.push_back(zero_point_argument(program, workload, at.a_zero, DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_SRC));
  }
  if (problem.requantization) problem.requantization->bind(program, workload, problem.scale_dims, arguments, scale);
  program.steps.push_back({dnnl::matmul(pd), std::move(arguments)});
  return std::make_unique<PrimitiveKernel>(std::move(program));
}

}  // namespace

const Family kMatMulInt8{serves, offer, build};

}  // namespace attune::onednn
