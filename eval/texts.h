// Texts to force through a model: plain files, or recorded generations.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "vase/model.h"

namespace vase::eval {

struct Text {
  std::string name;
  std::vector<int32_t> tokens;  // prompt, then what follows
  int prompt_tokens = 0;
};

// Reads a file.
//  *.jsonl, *.json: one object per line (or one in the file), with
//    "prompt_ids": [...] or "prompt": "..." (a user's message, rendered with the model's chat template) or neither,
//    "tokens": [...] or "text": "...",
//    "id": name, optional.
//    What `vase run --json` prints is one of these.
//  anything else: the whole file is one UTF-8 text without a prompt.
// most_tokens: what follows the prompt is cut there; texts: at most that many are read (0 = all).
// Throws Error: kNotFound, kCorrupt (with the line), kUsage.
std::vector<Text> read_texts(const Model& model, const std::string& path, int most_tokens, int texts);

size_t longest_of(const std::vector<Text>& texts);  // tokens

// Texts are told apart by name: a name that others have had before is followed by " (2)", " (3)", ...
void make_names_differ(std::vector<Text>& texts);

}  // namespace vase::eval
