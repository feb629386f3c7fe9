#include "io/npz.h"

#include "io/zip_format.h"
#include "io/zip_reader.h"
#include "io/zip_writer.h"

#include <set>

namespace attune {
namespace {

constexpr std::string_view kSuffix = ".npy";

}  // namespace

std::map<std::string, Tensor> read_npz(const std::filesystem::path& path, NpyOptions options) {
  const InputFile file(path);
  std::map<std::string, Tensor> arrays;
  for (const zip::Member& member : zip::list_members(file)) {
    const std::string what = fmt::format("member '{}' of '{}'", member.name, file.name());
    if (!member.name.ends_with(kSuffix))
      throw UserError("{} is not an .npy array; write the archive with numpy.savez", what);
    const std::string name = member.name.substr(0, member.name.size() - kSuffix.size());
    if (arrays.contains(name)) throw UserError("{} occurs twice; give every array a name of its own", what);
    const auto source = zip::open_member(file, member);
    options.name = name;
    arrays.emplace(name, read_npy(*source, what, options));
  }
  return arrays;
}

void write_npz(const std::filesystem::path& path, const std::vector<std::pair<std::string, Tensor>>& arrays,
               NpzCompression compression) {
  std::set<std::string_view> names;
  zip::Writer writer(path);
  for (const auto& [name, tensor] : arrays) {
    if (!names.insert(name).second)
      throw UserError("cannot write '{}': two arrays are named '{}'; give every array a name of its own", path.string(),
                      name);
    writer.add(name + std::string(kSuffix), compression == NpzCompression::stored ? zip::kStored : zip::kDeflated,
               [&array = tensor](const zip::Writer::Emit& emit) { emit_npy(array, emit); });  // clang 14 needs the name
  }
  writer.commit();
}

}  // namespace attune
