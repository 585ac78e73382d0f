// The reader that other tests rely on refuses what is not well-formed.
#include "xml.h"

#include <gtest/gtest.h>

namespace vase::test {
namespace {

TEST(Xml, ReadsElementsAttributesAndText) {
  const std::vector<Element> all =
      XmlReader::elements("<!DOCTYPE html>\n<a x=\"1 &lt; 2\"><b/>t &amp; u<c>v</c></a>\n");
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].attributes.at("x"), "1 < 2");
  EXPECT_EQ(all[0].text, "t & u");
  EXPECT_EQ(all[2].text, "v");
}

TEST(Xml, RefusesWhatIsNotWellFormed) {
  for (const char* bad :
       {"", "text", "<a>", "<a></b>", "<a><b></a></b>", "<a/><b/>", "<a x=1/>", "<a x=\"1\" x=\"2\"/>",
        "<a>&nbsp;</a>", "<a>b & c</a>", "<a x=\"<\"/>", "<a>\x01</a>", "<a", "<a x=\"1", "<1/>", "</a>"}) {
    EXPECT_THROW(XmlReader::elements(bad), std::runtime_error) << bad;
  }
}

}  // namespace
}  // namespace vase::test
