// Writes the seeds of gguf_fuzz into a folder: the smallest model of each family, with all optional parts.
#include <cstdio>
#include <filesystem>

#include "support/tiny_gguf.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: gguf_fuzz_corpus FOLDER\n");
    return 2;
  }
  const std::filesystem::path folder(argv[1]);
  std::filesystem::create_directories(folder);
  for (const char* family : {"llama", "qwen2", "qwen3"}) {
    vase::test::TinyOptions options{.family = family,
                                    .layers = 1,
                                    .query_heads = 2,
                                    .kv_heads = 1,
                                    .head_dim = 2,
                                    .feed_forward = 4,
                                    .rope_scaling = "yarn"};
    options.rope_factors = options.output_bias = options.family == "llama";
    vase::test::write_tiny_gguf((folder / (options.family + ".gguf")).string(), options);
  }
}
