// Text of files can neither leave its place in a page nor break it.
#include "eval/report/escape.h"

#include <gtest/gtest.h>

#include "eval/report/document.h"
#include "xml.h"

namespace vase::eval::report {
namespace {

constexpr const char* kHostile =
    "</td><script>alert('x')</script> & \"q\" | `c` *b* [a](b) $m$ \\ \x01\xFF é\nnext";

TEST(HtmlEscaped, IsTextAlone) {
  EXPECT_EQ(html_escaped("a<b> & \"c\" 'd'"), "a&lt;b&gt; &amp; &quot;c&quot; &#39;d&#39;");
  EXPECT_EQ(html_escaped("é\n"), "é\n");
  EXPECT_EQ(html_escaped("a\x01z"), "a\xEF\xBF\xBDz");
  EXPECT_EQ(html_escaped("a\xFFz"), "a\xEF\xBF\xBDz");
  EXPECT_EQ(html_escaped(std::string_view("a\0z", 3)), "a\xEF\xBF\xBDz");
}

TEST(MarkdownEscaped, IsOneLineWithoutMarkup) {
  EXPECT_EQ(markdown_escaped("a|b_c*d`e\\"), "a\\|b\\_c\\*d\\`e\\\\");
  EXPECT_EQ(markdown_escaped("a\nb\r\nc\td"), "a b  c d");
  EXPECT_EQ(markdown_escaped("<img> & [a](b) $x$"), "&lt;img&gt; &amp; \\[a\\](b) \\$x\\$");
}

TEST(Shortened, LosesItsMiddle) {
  EXPECT_EQ(shortened("abcdef", 6), "abcdef");
  EXPECT_EQ(shortened("abcdefgh", 5), "ab…gh");
  EXPECT_EQ(shortened("ééééééé", 5), "éé…éé");
  EXPECT_EQ(character_count("é…x"), 3u);
}

TEST(Page, HostileTextStaysText) {
  const Table table{kHostile, {"a", kHostile}, {{kHostile, "1"}}, kHostile, 1};
  const Document document{kHostile, {{kHostile, {std::string(kHostile), table}}}, kHostile};
  const std::vector<test::Element> elements = test::XmlReader::elements(html_page(document));
  int cells = 0;
  for (const test::Element& e : elements) {
    EXPECT_NE(e.name, "script");
    cells += e.name == "td";
  }
  EXPECT_EQ(cells, 2);
}

TEST(Page, HostileTextStaysInItsMarkdownCell) {
  const std::string text = markdown_table({"t", {"a", "b"}, {{kHostile, "1"}}, "", 1});
  size_t rows = 0;
  for (size_t from = text.find("\n|"); from != std::string::npos; from = text.find("\n|", from + 1)) {
    const std::string line = text.substr(from + 1, text.find('\n', from + 1) - from - 1);
    size_t bars = 0;
    for (size_t i = 0; i < line.size(); ++i) bars += line[i] == '|' && (i == 0 || line[i - 1] != '\\');
    EXPECT_EQ(bars, 3u) << line;
    ++rows;
  }
  EXPECT_EQ(rows, 3u);
  EXPECT_EQ(text.find('<'), std::string::npos);
}

TEST(Page, SectionsWithoutBlocksAreLeftOut) {
  const Document document{
      "t",
      {{"empty", {}}, {"full", {std::string("p")}}, {"drawn", {Figure{"f", "<svg></svg>", "h"}}}},
      "foot"};
  EXPECT_EQ(html_page(document).find("empty"), std::string::npos);
  EXPECT_NE(html_page(document).find("<h2>drawn</h2>"), std::string::npos);
  EXPECT_EQ(markdown_page(document), "# t\n\n## full\n\np\n\nThe figures are in the HTML page. foot\n");
}

}  // namespace
}  // namespace vase::eval::report
