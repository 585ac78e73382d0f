// write_tiny_model PATH: a tiny model with a chat template, for tests that are no C++ programs with the test library.
#include <exception>
#include <iostream>

#include "support/tiny_gguf.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  try {
    vase::test::write_tiny_gguf(argv[1], {.family = "qwen2"});
  } catch (const std::exception& e) {
    std::cerr << e.what() << '\n';
    return 1;
  }
}
