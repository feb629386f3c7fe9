// The cube generators: products on vector registers and on AMX tiles, convolutions by bands of rows on both, Winograd
// convolution and depthwise convolution.
#pragma once

#include "providers/generated/generator.h"

namespace attune {

class CubeVectorsGenerator final : public Generator {
 public:
  std::string_view name() const override { return "cube_vectors"; }
  std::optional<Refusal> find_refusal(const Workload& workload) const override;
  std::vector<Config> offered(const Workload& workload) const override;
  void declare(const Workload& workload, GeneratorSpace& space) const override;
  GeneratedKernel emit(const Workload& workload, const Config& config) const override;
};

class CubeTilesGenerator final : public Generator {
 public:
  std::string_view name() const override { return "cube_tiles"; }
  std::optional<Refusal> find_refusal(const Workload& workload) const override;
  std::vector<Config> offered(const Workload& workload) const override;
  void declare(const Workload& workload, GeneratorSpace& space) const override;
  GeneratedKernel emit(const Workload& workload, const Config& config) const override;
};

class CubeBandsGenerator final : public Generator {
 public:
  std::string_view name() const override { return "cube_bands"; }
  std::optional<Refusal> find_refusal(const Workload& workload) const override;
  std::vector<Config> offered(const Workload& workload) const override;
  void declare(const Workload& workload, GeneratorSpace& space) const override;
  GeneratedKernel emit(const Workload& workload, const Config& config) const override;
};

class CubeRowsGenerator final : public Generator {
 public:
  std::string_view name() const override { return "cube_rows"; }
  std::optional<Refusal> find_refusal(const Workload& workload) const override;
  std::vector<Config> offered(const Workload& workload) const override;
  void declare(const Workload& workload, GeneratorSpace& space) const override;
  GeneratedKernel emit(const Workload& workload, const Config& config) const override;
};

class CubeWinogradGenerator final : public Generator {
 public:
  std::string_view name() const override { return "cube_winograd"; }
  std::optional<Refusal> find_refusal(const Workload& workload) const override;
  std::vector<Config> offered(const Workload& workload) const override;
  void declare(const Workload& workload, GeneratorSpace& space) const override;
  GeneratedKernel emit(const Workload& workload, const Config& config) const override;
};

class CubeDepthwiseGenerator final : public Generator {
 public:
  std::string_view name() const override { return "cube_depthwise"; }
  std::optional<Refusal> find_refusal(const Workload& workload) const override;
  std::vector<Config> offered(const Workload& workload) const override;
  void declare(const Workload& workload, GeneratorSpace& space) const override;
  GeneratedKernel emit(const Workload& workload, const Config& config) const override;
};

/// Every configuration of the fixed sweep that bench/kernels times, of all cube generators that serve the workload,
/// each with its `generator`; `offered` lists the first few of them.
std::vector<Config> cube_sweep(const Workload& workload);

}  // namespace attune
