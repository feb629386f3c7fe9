#include "io/npy.h"

#include "io/temp_folder.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

namespace attune {
namespace {

std::string file_with(const std::string& dict, const std::string& data, char major = 1) {
  std::string bytes("\x93NUMPY", 6);
  bytes += major;
  bytes += '\0';
  for (int i = 0; i < (major == 1 ? 2 : 4); ++i) bytes += static_cast<char>(dict.size() >> (8 * i) & 0xFF);
  return bytes + dict + data;
}

std::string array_of(const std::string& descr, const std::string& shape, const std::string& data,
                     const std::string& fortran = "False") {
  return file_with("{'descr': '" + descr + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }\n", data);
}

Tensor parse(const std::string& bytes, NpyOptions options = {}) {
  return parse_npy(std::as_bytes(std::span(bytes)), "x.npy", options);
}

std::string refusal(const std::string& bytes, NpyOptions options = {}) {
  try {
    parse(bytes, options);
  } catch (const UserError& error) {
    return error.what();
  }
  return "accepted";
}

template <class T> std::vector<T> values(const Tensor& tensor) {
  return std::vector<T>(tensor.data<T>(), tensor.data<T>() + tensor.count());
}

std::string text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(Npy, writes_the_bytes_that_numpy_writes) {
  const std::vector<float> numbers{1, 2, 3, 4, 5, 6};
  const std::string bytes = text_of(to_npy(Tensor::from<float>({2, 3}, numbers)));
  std::string dict = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
  dict.resize(117, ' ');
  std::string data(24, '\0');
  std::memcpy(data.data(), numbers.data(), 24);
  EXPECT_EQ(bytes, file_with(dict + "\n", data));
  EXPECT_TRUE(contains(text_of(to_npy(Tensor::scalar<int64_t>(1))), "'shape': (), }"));
  EXPECT_TRUE(contains(text_of(to_npy(Tensor::vector(std::vector<int64_t>{1}))), "'shape': (1,), }"));
}

TEST(Npy, keeps_every_numpy_dtype_and_shape) {
  for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::i64, DType::i32, DType::i16, DType::i8,
                            DType::u64, DType::u32, DType::u16, DType::u8, DType::boolean}) {
    for (const Dims& dims : {Dims{}, Dims{0}, Dims{3}, Dims{2, 3}, Dims{2, 0, 4}, Dims{1, 2, 1, 5}}) {
      Tensor tensor = Tensor::zeros(dtype, dims);
      for (int64_t i = 0; i < tensor.size_bytes(); ++i)
        tensor.mutable_bytes()[i] = std::byte{static_cast<unsigned char>(dtype == DType::boolean ? i % 2 : i + 1)};
      const Tensor copy = parse_npy(to_npy(tensor), "x.npy");
      EXPECT_EQ(copy.dtype(), dtype);
      EXPECT_EQ(copy.dims(), dims);
      EXPECT_EQ(std::memcmp(copy.bytes(), tensor.bytes(), static_cast<size_t>(tensor.size_bytes())), 0);
    }
  }
}

TEST(Npy, converts_big_endian_and_column_major_arrays) {
  const Tensor swapped = parse(array_of(">i4", "(2,)", std::string("\0\0\0\1\0\0\2\0", 8)));
  EXPECT_EQ(values<int32_t>(swapped), (std::vector<int32_t>{1, 512}));
  // [[1, 2, 3], [4, 5, 6]] by columns
  const Tensor turned = parse(array_of("|i1", "(2, 3)", "\1\4\2\5\3\6", "True"));
  EXPECT_EQ(values<int8_t>(turned), (std::vector<int8_t>{1, 2, 3, 4, 5, 6}));
  const Tensor both = parse(array_of(">u2", "(2, 1, 2)", std::string("\0\1\0\3\0\2\0\4", 8), "True"));
  EXPECT_EQ(values<uint16_t>(both), (std::vector<uint16_t>{1, 2, 3, 4}));
}

TEST(Npy, reads_versions_two_and_three_and_python_2_integers) {
  const std::string dict = "{\"descr\": '<i2', 'shape': (2L,), 'fortran_order': False}";
  for (const char version : {'\2', '\3'})
    EXPECT_EQ(values<int16_t>(parse(file_with(dict, std::string("\1\0\2\0", 4), version))),
              (std::vector<int16_t>{1, 2}));
}

TEST(Npy, makes_every_true_byte_one) {
  EXPECT_EQ(values<bool>(parse(array_of("|b1", "(3,)", std::string("\0\xFF\2", 3)))),
            (std::vector<bool>{false, true, true}));
}

TEST(Npy, saves_untyped_floats_and_reads_them_back_when_told_what_they_are) {
  const Tensor tensor = Tensor::from<BFloat16>({2}, std::vector{BFloat16(1.5f), BFloat16(-2.0f)});
  const std::string bytes = text_of(to_npy(tensor));
  EXPECT_TRUE(contains(bytes, "'<V2'"));
  EXPECT_TRUE(contains(refusal(bytes), "astype('float32')"));
  const Tensor copy = parse(bytes, {.void_as = DType::bf16});
  EXPECT_EQ(static_cast<float>(copy.data<BFloat16>()[1]), -2.0f);
  EXPECT_NE(refusal(bytes, {.void_as = DType::f8e4m3fn}), "accepted");
  EXPECT_TRUE(contains(text_of(to_npy(Tensor::zeros(DType::f8e5m2, {1}))), "'<V1'"));
}

TEST(Npy, widens_packed_integers) {
  Tensor packed = Tensor::zeros(DType::i4, {3});
  packed.mutable_bytes()[0] = std::byte{0xF7};  // 7, -1
  packed.mutable_bytes()[1] = std::byte{0x08};  // -8
  EXPECT_EQ(values<int8_t>(parse_npy(to_npy(packed), "x.npy")), (std::vector<int8_t>{7, -1, -8}));
  Tensor pairs = Tensor::zeros(DType::u2, {4});
  pairs.mutable_bytes()[0] = std::byte{0b11'10'01'00};
  EXPECT_EQ(values<uint8_t>(parse_npy(to_npy(pairs), "x.npy")), (std::vector<uint8_t>{0, 1, 2, 3}));
  EXPECT_TRUE(contains(text_of(to_npy(Tensor::zeros(DType::f4e2m1, {3}))), "'<V1'"));
}

TEST(Npy, refuses_what_is_no_array_of_numbers_and_says_why) {
  EXPECT_TRUE(contains(refusal(""), "too short"));
  EXPECT_TRUE(contains(refusal("PK\3\4 not an array"), "first bytes"));
  EXPECT_TRUE(contains(refusal(file_with("{}", "", 9)), "version 9"));
  EXPECT_TRUE(contains(refusal(array_of("|O", "(1,)", "\x80\4K\1.")), "never unpickled"));
  EXPECT_TRUE(contains(refusal(array_of("<c8", "(1,)", "12345678")), "'<c8'"));
  EXPECT_TRUE(contains(refusal(array_of("<U4", "(1,)", "1234567812345678")), "'<U4'"));
  EXPECT_TRUE(contains(refusal(array_of("", "(1,)", "1")), "dtype ''"));
  EXPECT_TRUE(contains(refusal(file_with("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", "1234")),
                       "structured"));
}

TEST(Npy, refuses_sizes_that_the_file_does_not_hold) {
  EXPECT_TRUE(contains(refusal(array_of("<f4", "(3,)", "12345678")), "truncated"));
  EXPECT_TRUE(contains(refusal(array_of("<f4", "(1,)", "12345678")), "more than one array"));
  EXPECT_TRUE(contains(refusal(array_of("<f4", "(-1,)", "1234")), "negative"));
  EXPECT_TRUE(contains(refusal(array_of("<f4", "(9223372036854775807, 9223372036854775807)", "")), "overflows"));
  EXPECT_TRUE(contains(refusal(array_of("<f8", "(2305843009213693952,)", "")), "overflows"));
  EXPECT_TRUE(contains(refusal(array_of("<f4", "(99999999999999999999,)", "")), "64 bits"));
  EXPECT_TRUE(contains(refusal(array_of("<f4", "(1099511627776,)", "")), "truncated"));
}

TEST(Npy, refuses_damaged_headers) {
  const std::string tail = ", 'fortran_order': False, 'shape': (1,)}";
  for (const std::string& dict :
       {std::string(""), std::string("__import__('os').system('true')"), std::string("{'descr': '<f4'}"),
        "{'descr': '<f4" + tail, "{'descr': 4" + tail, "{'descr': '<f4', 'evil': 1" + tail, "{'descr' '<f4'" + tail,
        "{'descr': '<f4'" + tail + " more", "{'descr': '<f4'" + tail.substr(0, tail.size() - 1),
        std::string("{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}"),
        std::string("{'descr': '<f4', 'fortran_order': False, 'shape': [1]}"),
        std::string("{'descr': '<f4', 'fortran_order': False, 'shape': (1.5,)}"),
        std::string("{'descr': '<f4', 'fortran_order': False, 'shape': (,)}"), std::string(200, '{'),
        std::string("{\0}", 3)})
    EXPECT_TRUE(contains(refusal(file_with(dict, "1234")), "damaged .npy header")) << dict;
  std::string many;
  for (int i = 0; i < 65; ++i) many += "1, ";
  EXPECT_TRUE(contains(refusal(array_of("<f4", "(" + many + ")", "1234")), "64 dimensions"));
}

TEST(Npy, survives_every_truncation_and_every_changed_byte) {
  const std::string whole = text_of(to_npy(Tensor::from<float>({2, 2}, std::vector<float>{1, 2, 3, 4})));
  for (size_t size = 0; size < whole.size(); ++size) EXPECT_NE(refusal(whole.substr(0, size)), "accepted") << size;
  for (size_t at = 0; at < whole.size(); ++at) {
    for (const char change : {'\1', '\x20', '\x80', '\xFF'}) {
      std::string changed = whole;
      changed[at] = static_cast<char>(changed[at] ^ change);
      refusal(changed);  // accepted or refused, but never a crash
    }
  }
}

TEST(Npy, reads_and_replaces_files) {
  const TempFolder folder;
  const auto path = folder.file("x.npy");
  write_npy(path, Tensor::scalar<float>(1));
  write_npy(path, Tensor::scalar<double>(2));
  EXPECT_EQ(read_npy(path).data<double>()[0], 2.0);
  EXPECT_EQ(folder.entries(), 1);
}

TEST(Npy, names_the_file_that_cannot_be_read_or_written) {
  const TempFolder folder;
  const auto message = [](const auto& action) -> std::string {
    try {
      action();
    } catch (const UserError& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_TRUE(contains(message([&] { read_npy(folder.file("none.npy")); }), "none.npy"));
  EXPECT_TRUE(contains(message([&] { read_npy(folder.file("")); }), "not a regular file"));
  EXPECT_TRUE(contains(message([&] { read_npy(folder.write("short.npy", "")); }), "short.npy"));
  EXPECT_TRUE(contains(message([&] { write_npy(folder.file("no/x.npy"), Tensor::scalar<float>(1)); }), "no/x.npy"));
  EXPECT_TRUE(contains(message([&] { write_npy(folder.file(""), Tensor::scalar<float>(1)); }), "not a regular file"));
}

}  // namespace
}  // namespace attune
