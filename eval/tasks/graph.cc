// graph: a breadth-first search written out. Which node comes next, which ones are new and where each was found stands
// in earlier lines of the generated text, and the way back from the target leads through all of it.
#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "eval/tasks/procedures.h"

namespace vase::eval {
namespace {

constexpr Setting kSettings[] = {
    {"nodes", 20, 4, 300, "nodes of the graph"},
    {"extra", 5, 0, 300, "edges beyond those that connect the nodes"},
    {"reach", 4, 1, 100, "an edge joins nodes that are at most so far apart in a hidden order: less is a longer way"},
};

// Nodes 0, 1, ... in the hidden order; `label` is the number that the problem shows.
struct Graph {
  std::vector<int> label;
  std::vector<std::vector<int>> neighbours;

  int size() const { return static_cast<int>(label.size()); }
  std::string name(int node) const { return std::to_string(label[node]); }
};

template <typename T>
void shuffle(std::vector<T>& values, Random& random) {
  for (size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[random.below(i)]);
}

void join(Graph& graph, int a, int b) {
  if (a == b || std::ranges::count(graph.neighbours[a], b) > 0) return;
  graph.neighbours[a].push_back(b);
  graph.neighbours[b].push_back(a);
}

int near(int node, int reach, Random& random) { return random.between(std::max(0, node - reach), node - 1); }

Graph make_graph(const Settings& settings, Random& random) {
  const int nodes = settings.at("nodes"), reach = settings.at("reach");
  Graph graph{std::vector<int>(nodes), std::vector<std::vector<int>>(nodes)};
  std::iota(graph.label.begin(), graph.label.end(), 1);
  shuffle(graph.label, random);
  for (int node = 1; node < nodes; ++node) join(graph, node, near(node, reach, random));
  for (int i = 0; i < settings.at("extra"); ++i) {
    const int node = random.between(1, nodes - 1);
    join(graph, node, near(node, reach, random));
  }
  for (std::vector<int>& list : graph.neighbours) shuffle(list, random);
  return graph;
}

std::string listed(const Graph& graph, const std::vector<int>& nodes) {
  std::string text;
  for (int node : nodes) text += (text.empty() ? "" : ", ") + graph.name(node);
  return text.empty() ? "none" : text;
}

struct Search {
  std::vector<int> found;          // in the order in which they are found; the last is found last
  std::vector<int> parent;         // -1: not found, or the start
  std::vector<std::string> lines;  // one for every node that is taken
};

// Takes nodes until all have been found.
Search search(const Graph& graph, int start) {
  Search s{{start}, std::vector<int>(graph.size(), -1), {}};
  for (size_t next = 0; static_cast<int>(s.found.size()) < graph.size(); ++next) {
    const int node = s.found[next];
    std::vector<int> fresh;
    for (int other : graph.neighbours[node]) {
      if (other == start || s.parent[other] >= 0) continue;
      s.parent[other] = node;
      s.found.push_back(other);
      fresh.push_back(other);
    }
    s.lines.push_back("Take " + graph.name(node) + ": new " + listed(graph, fresh));
  }
  return s;
}

// "Back: 9 comes from 20, 9 + 20 = 29", one line for every step from the target to the start. Returns the sum.
int walk_back(const Graph& graph, const Search& s, int target, std::string& lines) {
  int sum = graph.label[target];
  for (int node = target; s.parent[node] >= 0; node = s.parent[node]) {
    const int before = sum, parent = s.parent[node];
    sum += graph.label[parent];
    lines += "\nBack: " + graph.name(node) + " comes from " + graph.name(parent) + ", " + std::to_string(before) +
             " + " + graph.name(parent) + " = " + std::to_string(sum);
  }
  return sum;
}

std::string neighbour_list(const Graph& graph) {
  std::vector<int> order(graph.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](int node) { return graph.label[node]; });
  std::string text;
  for (int node : order) text += "\n" + graph.name(node) + ": " + listed(graph, graph.neighbours[node]);
  return text;
}

Problem make(const Settings& settings, Random& random) {
  const Graph graph = make_graph(settings, random);
  const int start = 0;
  const Search s = search(graph, start);
  const int target = s.found.back();
  std::string lines, back;
  for (const std::string& line : s.lines) lines += (lines.empty() ? "" : "\n") + line;
  const int sum = walk_back(graph, s, target, back);
  Problem problem;
  problem.answer = std::to_string(sum);
  problem.problem =
      "A graph, every node with its neighbors:" + neighbour_list(graph) + "\nSearch it breadth-first from node " +
      graph.name(start) + " until node " + graph.name(target) +
      " is found: take the nodes in the order in which they were found, each once, and write which of its neighbors "
      "are new, in the order of its list. A node is new when no earlier line has found it and it is not the start. "
      "Then go back from node " +
      graph.name(target) + " to node " + graph.name(start) +
      ", always to the node whose line found it, and add up the numbers of the nodes on this way, both ends included, "
      "in lines of this form:\nBack: 9 comes from 20, 9 + 20 = 29\nBack: 20 comes from 12, 29 + 12 = 41\n"
      "What is the sum?" +
      list_begin(lines);
  problem.worked = lines + back + worked_end(problem.answer);
  return problem;
}

}  // namespace

const Procedure kGraph = {"graph", "a breadth-first search written out, and the way back", kSettings, make};

}  // namespace vase::eval
