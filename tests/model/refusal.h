// What loading a bad file says.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "model/weights.h"
#include "vase/error.h"

namespace vase::model {

struct Refusal {
  std::string message;
  ErrorCode code = ErrorCode::kUsage;
};

// The error of loading the file, which must be one line that starts with the path, with nothing printed
// besides.
inline Refusal refusal_of(const std::string& path) {
  Refusal refusal;
  testing::internal::CaptureStderr();
  try {
    Weights::load(path);
    ADD_FAILURE() << path << " was accepted";
  } catch (const Error& error) {
    refusal = {error.what(), error.code()};
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_TRUE(refusal.message.starts_with(path)) << refusal.message;
  EXPECT_EQ(refusal.message.find('\n'), std::string::npos) << refusal.message;
  return refusal;
}

#define EXPECT_SAYS(refusal, word) \
  EXPECT_NE((refusal).message.find(word), std::string::npos) << (refusal).message

}  // namespace vase::model
