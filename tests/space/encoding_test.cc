#include "space/encoding.h"

#include <gtest/gtest.h>

#include <cmath>

namespace attune {
namespace {

Space make_space() {
  Space space;
  space.power_of_two("tile", 8, 32);
  const Param layout = space.categorical("layout", {"nchw", "nhwc"});
  space.permutation("order", {"m", "n", "k"});
  const Param depth = space.ordinal("depth", {1, 3});
  space.only_if(depth, layout == "nhwc");
  space.set_default({{"tile", "8"}, {"layout", "nchw"}, {"order", "m-n-k"}});
  space.build();
  return space;
}

TEST(Encoding, scales_ranks_to_one_and_spreads_texts) {
  const Space space = make_space();
  const Encoding encoding(space, Scale::unit);
  EXPECT_EQ(encoding.names(), (std::vector<std::string>{"tile", "layout=nchw", "layout=nhwc", "order[m]", "order[n]",
                                                        "order[k]", "depth", "depth?"}));
  const Config config{{"tile", "16"}, {"layout", "nhwc"}, {"order", "k-m-n"}, {"depth", "3"}};
  EXPECT_EQ(encoding.encode(*space.point_of(config)), (std::vector<float>{0.5f, 0, 1, 0.5f, 1, 0, 1, 1}));
  EXPECT_EQ(encoding.encode(*space.point_of(space.default_config())), (std::vector<float>{0, 1, 0, 0, 0.5f, 1, 0, 0}));
}

TEST(Encoding, says_in_natural_scale_what_other_spaces_say_too) {
  const Space space = make_space();
  const Encoding encoding(space, Scale::natural);
  EXPECT_EQ(encoding.width(), 7u);
  const auto row = encoding.encode(*space.point_of(space.default_config()));
  EXPECT_FLOAT_EQ(row[0], std::log2(9.0f));
  EXPECT_TRUE(std::isnan(row[6]));
}

}  // namespace
}  // namespace attune
