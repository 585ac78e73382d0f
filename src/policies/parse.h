// The text of a policy:
//
//   policy   = preset { override } | { override } | "read=" part          words separated by spaces
//   override = "protect=" rules | "protect=none" | "protect+=" rules | "score=" score | "select=" part
//            | "order=" ("position" | "score") | "share=" ("head" | "layer" | "model")
//   score    = term { ("+" | "-") number "*" term }
//   term     = [ number "*" ] part { "*" part }
//   rules    = part { "," part }
//   part     = name [ ":" option { "," option } ]
//   option   = value | key "=" value | flag
//
// In a list of rules a piece "key=value" is an option of the rule before it: "value:25%,measure=l2,prompt" is two
// rules. "protect+=" adds rules, or replaces those of the same name; it alone may come several times. Without a preset
// `score` must be given; `select` is `top` and `order` is `position` unless given. A preset's own choices may all be
// overridden; `full` never evicts, so it takes only rules of protection, which hold trivially. "read=" keeps every
// token too and stands alone, as do the presets that are made of it.
#pragma once

#include <string_view>

#include "vase/policy.h"

namespace vase {

Policy parse_policy(std::string_view text);

}  // namespace vase
