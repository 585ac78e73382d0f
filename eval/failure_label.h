// How a generated text failed, if it did: the labels of arXiv 2606.03928. Characters are Unicode code points; bytes
// that are not UTF-8 count as one character each, outside of ASCII.
#pragma once

#include <string_view>

namespace vase::eval {

enum class FailureLabel { kOk, kGarbage, kLoop, kTruncated };

std::string_view label_name(FailureLabel label);  // "ok", "garbage", "loop", "truncated"

// The first that holds:
//  garbage    more than 30 of the last 100 characters are not ASCII, or one character comes more than 100 times among
//             the last 200 (a shorter text can be no more than its length)
//  loop       within the last 500 characters, 10 to 40 characters come at least 5 times in a row
//  truncated  the thinking did not end: there is a <think>, in the text or (`thinking`) at the end of its prompt, and no
//             </think>. Of a text without either: the model did not end it, it ran into a limit. So `ended` says
//             whether text ended by itself (end of text or a stop string).
//  ok         none of them
// A text in a language that is not written in ASCII counts as garbage by this rule, which was made for English
// reasoning.
FailureLabel failure_label(std::string_view text, bool ended, bool thinking = false);

// Whether a text that is over for this reason (finish_name()) was ended by the model, or where a stop string
// said so.
bool ended_itself(std::string_view finish);
// The label of such a text: failure_label(), but what was stopped because it repeated itself is a loop, at
// any period.
FailureLabel label_of(std::string_view text, std::string_view finish, bool thinking = false);

}  // namespace vase::eval
