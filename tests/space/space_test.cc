#include "space/space.h"

#include "base/error.h"
#include "space/random_space.h"

#include <gtest/gtest.h>

#include <sys/resource.h>

#include <algorithm>

namespace attune {
namespace {

Config merge(Config config, const Config& changes) {
  for (const auto& [name, value] : changes) config[name] = value;
  return config;
}

std::string message_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

size_t peak_kilobytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<size_t>(usage.ru_maxrss);
}

TEST(Space, has_the_points_that_trying_every_combination_finds) {
  int empty = 0, conditional = 0;
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    const auto random = testing::make_random_space(seed);
    SCOPED_TRACE(fmt::format("seed {}\n{}", seed, random.text));
    ASSERT_EQ(random.space.size(), random.points.size());
    empty += random.points.empty();
    conditional += random.text.find("only if") != std::string::npos;
    std::set<Config> points;
    for (uint64_t i = 0; i < random.space.size(); ++i) {
      const Config config = random.space.at(i);
      points.insert(config);
      ASSERT_EQ(random.space.index_of(config), i);
      ASSERT_EQ(random.space.why_invalid(config), "");
    }
    ASSERT_EQ(points, random.points);
    ASSERT_EQ(random.space.why_empty().empty(), !random.points.empty());
  }
  EXPECT_GT(empty, 20);
  EXPECT_GT(conditional, 100);
}

TEST(Space, finds_the_neighbours_that_comparing_every_pair_finds) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const auto random = testing::make_random_space(seed);
    if (random.text.find("only if") != std::string::npos) continue;  // there neighbours may differ in more
    SCOPED_TRACE(fmt::format("seed {}\n{}", seed, random.text));
    for (uint64_t i = 0; i < std::min<uint64_t>(random.space.size(), 20); ++i) {
      const Point centre = random.space.point_at(i);
      std::vector<uint64_t> near, adjacent;
      for (uint64_t j = 0; j < random.space.size(); ++j) {
        const Point other = random.space.point_at(j);
        int differing = 0, far = 0;
        for (size_t p = 0; p < centre.size(); ++p) {
          differing += centre[p] != other[p];
          far += random.space.parameters()[p]->is_ordered() && std::abs(centre[p] - other[p]) > 1;
        }
        if (differing == 1) near.push_back(j);
        if (differing == 1 && far == 0) adjacent.push_back(j);
      }
      ASSERT_EQ(random.space.neighbours(i), near);
      ASSERT_EQ(random.space.neighbours(i, Neighbourhood::adjacent_value), adjacent);
    }
  }
}

TEST(Space, finds_a_valid_point_near_any_choices) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const auto random = testing::make_random_space(seed);
    if (random.points.empty()) continue;
    SCOPED_TRACE(fmt::format("seed {}\n{}", seed, random.text));
    std::vector<Config> configs(random.points.begin(), random.points.end());
    const Space list = Space::of_list(configs);
    Random choices(seed);
    for (int i = 0; i < 10; ++i) {
      Point point;
      for (const auto& parameter : random.space.parameters())
        point.push_back(static_cast<ValueIndex>(choices.below(static_cast<int64_t>(parameter->texts.size()))));
      const uint64_t near = random.space.nearest(point);
      ASSERT_LT(near, random.space.size());
      if (const auto index = random.space.index_of(point)) {
        ASSERT_EQ(near, *index);
      }
      const Point own = list.point_at(list.sample(choices));
      ASSERT_EQ(list.point_at(list.nearest(own)), own);
    }
  }
}

TEST(Space, draws_every_point_equally_often) {
  Space space;
  const Param a = space.ordinal("a", {1, 2, 3, 4, 5, 6}), b = space.ordinal("b", {1, 2, 3, 4, 5, 6});
  space.boolean("free");
  space.require(a * b <= 8);  // rows of very different length
  space.set_default({{"a", "1"}, {"b", "1"}, {"free", "0"}});
  space.build();
  constexpr int kDraws = 200'000;
  std::vector<int> hits(space.size());
  Random random(1);
  for (int i = 0; i < kDraws; ++i) ++hits[space.sample(random)];
  const double expected = static_cast<double>(kDraws) / static_cast<double>(space.size());
  double chi_square = 0;
  for (const int hit : hits) chi_square += (hit - expected) * (hit - expected) / expected;
  const auto freedom = static_cast<double>(space.size() - 1);
  EXPECT_LT(chi_square, freedom + 4 * std::sqrt(2 * freedom)) << "seed 1";
}

TEST(Space, drops_a_conditional_parameter_where_its_condition_fails) {
  Space space;
  const Param pack = space.boolean("pack");
  const Param panel = space.ordinal("panel", {8, 16}), prefetch = space.boolean("prefetch");
  space.only_if(panel, pack == 1);
  space.only_if(prefetch, panel == 16);  // a condition on what may be absent itself
  space.require(panel <= 8 || pack == 1);
  space.set_default({{"pack", "0"}});
  space.build();
  std::set<std::string> texts;
  for (uint64_t i = 0; i < space.size(); ++i) texts.insert(to_text(space.at(i)));
  EXPECT_EQ(texts, (std::set<std::string>{"pack=0", "pack=1, panel=8", "pack=1, panel=16, prefetch=0",
                                          "pack=1, panel=16, prefetch=1"}));
  EXPECT_FALSE(space.index_of(Config{{"pack", "0"}, {"panel", "8"}}));
  EXPECT_FALSE(space.index_of(Config{{"pack", "1"}}));
  // Switching packing on brings the panel along.
  EXPECT_EQ(space.neighbours(space.default_index()),
            std::vector{space.index_of(Config{{"pack", "1"}, {"panel", "8"}}).value()});
}

TEST(Space, lists_every_order_of_a_permutation) {
  Space space;
  const Param order = space.permutation("order", {"m", "n", "k"});
  space.require(order.position("k") > order.position("m"), "sums stay in registers");
  space.set_default({{"order", "m-n-k"}});
  space.build();
  std::set<std::string> orders;
  for (uint64_t i = 0; i < space.size(); ++i) orders.insert(space.at(i)["order"]);
  EXPECT_EQ(orders, (std::set<std::string>{"m-n-k", "m-k-n", "n-m-k"}));
}

TEST(Space, says_which_constraints_left_nothing) {
  Space space;
  const Param a = space.ordinal("a", {1, 2, 3}), b = space.ordinal("b", {1, 2, 3}), c = space.ordinal("c", {1, 2, 3});
  space.require(c <= 2, "innocent");
  space.require(a + b > 5, "large tiles");
  space.require(a * b <= 4, "fits the registers");
  space.set_default({{"a", "1"}, {"b", "1"}, {"c", "1"}});
  space.build();
  EXPECT_EQ(space.size(), 0u);
  EXPECT_EQ(space.why_empty(),
            "the space is empty: these 2 constraints leave nothing together: '5 < a + b' (large tiles); 'a * b <= 4' "
            "(fits the registers); relax one of them or give more values");
  EXPECT_THROW(static_cast<void>(space.default_index()), UserError);
}

TEST(Space, counts_what_each_constraint_removes) {
  Space space;
  const Param a = space.ordinal("a", {1, 2, 3, 4});
  space.require(a < 4);
  space.require(a > 1, "one is slow");
  space.set_default({{"a", "2"}});
  EXPECT_EQ(space.build().explain(),
            "2 of 4 combinations are valid\n'a < 4' removes 1\n'1 < a' (one is slow) removes 1\n");
}

TEST(Space, insists_on_a_valid_default) {
  const auto build_with = [](const Config& config) {
    Space space;
    const Param a = space.ordinal("a", {1, 2, 3});
    space.boolean("b");
    space.require(a < 3, "three is too many");
    space.set_default(config);
    space.build();
  };
  const Config good{{"a", "2"}, {"b", "1"}};
  EXPECT_EQ(message_of([&] { build_with(good); }), "");
  const auto has = [&](const Config& config, const std::string& part) {
    const std::string message = message_of([&] { build_with(config); });
    return message.find(part) != std::string::npos ? "" : "got: " + message;
  };
  EXPECT_EQ(has(merge(good, {{"a", "3"}}), "it violates 'a < 3' (three is too many)"), "");
  EXPECT_EQ(has(merge(good, {{"a", "7"}}), "no value '7'"), "");
  EXPECT_EQ(has(merge(good, {{"c", "1"}}), "no parameter 'c'"), "");
  EXPECT_EQ(has({{"a", "1"}}, "no value for parameter 'b'"), "");
  Space space;
  space.boolean("b");
  EXPECT_NE(message_of([&] { space.build(); }).find("set_default"), std::string::npos);
}

TEST(Space, of_a_list_keeps_its_order_and_its_gaps) {
  const std::vector<Config> configs{
      {{"impl", "jit"}, {"threads", "16"}}, {{"impl", "jit"}, {"threads", "4"}}, {{"impl", "ref"}}};
  const Space space = Space::of_list(configs);
  ASSERT_EQ(space.size(), 3u);
  for (uint64_t i = 0; i < 3; ++i) EXPECT_EQ(space.at(i), configs[i]);
  EXPECT_EQ(space.default_config(), configs[0]);
  EXPECT_TRUE(space.parameters()[1]->is_ordered());
  EXPECT_EQ(space.neighbours(0), std::vector<uint64_t>{1});
  EXPECT_FALSE(space.index_of(Config{{"impl", "ref"}, {"threads", "4"}}));
  EXPECT_NE(space.why_invalid({{"impl", "ref"}, {"threads", "4"}}), "");
  EXPECT_EQ(Space::of_list({{}}).size(), 1u);
  EXPECT_EQ(Space::of_list({}).size(), 0u);
  EXPECT_NE(Space::of_list({}).why_empty(), "");
  EXPECT_THROW(Space::of_list({configs[0], configs[0]}), UserError);
}

TEST(Space, of_a_trillion_combinations_under_tight_constraints_builds) {
  Space space;
  std::vector<int64_t> values(10);
  for (int64_t i = 0; i < 10; ++i) values[static_cast<size_t>(i)] = i + 1;
  Expr product = 1, sum = 0;
  Config config;
  for (int i = 0; i < 12; ++i) {
    const Param parameter = space.ordinal(fmt::format("p{}", i), values);
    product = product * parameter;
    sum = sum + parameter;
    config[fmt::format("p{}", i)] = "1";
  }
  config["p0"] = "4";
  space.require(product == 4);
  space.require(sum <= 15);
  space.set_default(config);
  space.build();
  EXPECT_EQ(space.raw_size(), 1e12);
  EXPECT_EQ(space.size(), 12u + 66u);  // one 4, or two 2
  for (uint64_t i = 0; i < space.size(); ++i) EXPECT_EQ(space.index_of(space.at(i)), i);
}

// Points that share nothing: the rule mixes all parameters, so no two states are equal.
Space make_dense_space(int64_t keep_per_hundred) {
  Space space;
  std::vector<Param> parameters;
  Config config;
  for (int i = 0; i < 7; ++i) {
    parameters.push_back(space.ordinal(fmt::format("p{}", i), {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
    config[fmt::format("p{}", i)] = "0";
  }
  space.require(
      parameters,
      [keep_per_hundred](std::span<const int64_t> values) {
        uint64_t mixed = 0;
        for (const int64_t value : values) mixed = (mixed ^ static_cast<uint64_t>(value)) * 0x9e3779b97f4a7c15u;
        return mixed == 0 || (mixed >> 40) % 100 < static_cast<uint64_t>(keep_per_hundred);
      },
      "no structure");
  space.set_default(config);
  return space;
}

TEST(Space, of_ten_million_points_without_structure_takes_under_200_megabytes) {
  [[maybe_unused]] const size_t before = peak_kilobytes();
  Space space = make_dense_space(52);
  space.build();
  EXPECT_GT(space.size(), 10'000'000u);
  EXPECT_LT(space.bytes(), 100u << 20);
#if !defined(__SANITIZE_ADDRESS__)
  EXPECT_LT(peak_kilobytes() - before, 200u << 10);
#endif
  Random random(1);
  for (int i = 0; i < 1000; ++i) {
    const uint64_t index = space.sample(random);
    ASSERT_EQ(space.index_of(space.at(index)), index);
  }
}

TEST(Space, that_is_too_large_is_refused_with_a_remedy) {
  BuildLimits limits;
  limits.max_steps = 100'000;
  Space slow = make_dense_space(52);
  EXPECT_NE(message_of([&] { slow.build(limits); }).find("too large to build"), std::string::npos);
  limits = {};
  limits.max_bytes = 1 << 20;
  Space big = make_dense_space(52);
  EXPECT_NE(message_of([&] { big.build(limits); }).find("give fewer values"), std::string::npos);
  Space uncountable;
  Config config;
  std::vector<int64_t> values(100);
  for (int64_t i = 0; i < 100; ++i) values[static_cast<size_t>(i)] = i;
  for (int i = 0; i < 10; ++i) {
    uncountable.ordinal(fmt::format("p{}", i), values);
    config[fmt::format("p{}", i)] = "0";
  }
  uncountable.set_default(config);
  EXPECT_NE(message_of([&] { uncountable.build(); }).find("more than can be counted"), std::string::npos);
}

TEST(Space, refuses_declarations_that_make_no_sense) {
  Space space;
  space.boolean("a");
  EXPECT_THROW(space.boolean("a"), UserError);
  EXPECT_THROW(space.ordinal("b", {}), UserError);
  EXPECT_THROW(space.ordinal("b", {1, 1}), UserError);
  EXPECT_THROW(space.power_of_two("b", 3, 8), UserError);
  EXPECT_THROW(space.permutation("b", {"m-n", "k"}), UserError);
  EXPECT_THROW(space.permutation("b", std::vector<std::string>(9, "x")), UserError);
  EXPECT_THROW(space.categorical("", {"x"}), UserError);
}

}  // namespace
}  // namespace attune
