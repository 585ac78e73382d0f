// Any bytes at all are a table, tests of a program or an Error.
#include <cstddef>
#include <cstdint>
#include <string>

#include "eval/sandbox/code_tests.h"
#include "eval/sandbox/packed_text.h"
#include "eval/tasks/csv.h"
#include "vase/error.h"

namespace {

template <typename Read>
void try_reading(Read read) {
  try {
    read();
  } catch (const vase::Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try_reading([&] { vase::eval::parse_csv(text, "fuzz"); });
  try_reading([&] { vase::eval::unpack_text(text); });
  try_reading([&] { vase::eval::parse_code_tests(text); });
  return 0;
}
