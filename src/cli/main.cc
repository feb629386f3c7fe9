#include <fmt/core.h>

int main() {
  fmt::print("attune\n");
  return 0;
}
