#include "eval/report/panels.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "eval/report/setting.h"

namespace vase::eval::report {
namespace {

using nlohmann::json;

// Series under one configuration on one task.
struct Context {
  std::string key, folder;  // folder: the first that has it
  bool server;
  std::vector<Series> series;
};

struct Group {
  std::string task, model;
  std::string title;
  std::vector<Context> contexts;
};

const ResultSet& set_of(std::span<const ResultSet> sets, const SummaryRow& row) {
  return *std::ranges::find(sets, row.set, &ResultSet::name);
}

std::string context_key(const ResultSet& set, const std::string& task) {
  json config = set.config["config"];
  const json tasks = config["tasks"];
  for (const char* key : {"cells", "tasks"}) config.erase(key);
  for (const json& one : tasks) {
    if (one["name"] == task) config["task"] = one;
  }
  return config.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string title_of(const ResultSet& set, const std::string& task) {
  if (is_server(set)) return task + ", " + setting(set, "model_name");
  return task + ", " + setting(set, "model_name") + " (" + setting(set, "model") + ")";
}

template <typename List, typename Same, typename Make>
auto& find_or_add(List& list, Same same, Make make) {
  const auto found = std::ranges::find_if(list, same);
  if (found != list.end()) return *found;
  return list.emplace_back(make());
}

Group& group_of(std::vector<Group>& groups, const ResultSet& set, const std::string& task) {
  const bool server = is_server(set);
  const std::string model = setting(set, "model");
  return find_or_add(
      groups, [&](const Group& g) { return g.task == task && (server || g.model == model); },
      [&] {
        return Group{task, model, title_of(set, task), {}};
      });
}

void add_cell(Series& series, Cell cell) {
  const auto same =
      std::ranges::find(series.cells, cell.row->budget, [](const Cell& c) { return c.row->budget; });
  if (same == series.cells.end()) {
    series.cells.push_back(cell);
  } else if (same->row->items < cell.row->items) {
    *same = cell;
  }
}

void add_row(std::vector<Group>& groups, const ResultSet& set, const SummaryRow& row) {
  const std::string key = context_key(set, row.task);
  Context& context = find_or_add(
      group_of(groups, set, row.task).contexts, [&](const Context& c) { return c.key == key; },
      [&] {
        return Context{key, set.name, is_server(set), {}};
      });
  Series& series = find_or_add(
      context.series, [&](const Series& s) { return s.policy == row.policy; },
      [&] {
        return Series{row.policy, row.policy, {}};
      });
  add_cell(series, {&row, &set});
}

// Without the path where that is enough to tell the configurations apart.
std::string short_name(const Group& group, const std::string& folder) {
  const auto last = [](const std::string& path) {
    const auto normal = (std::filesystem::path(path) / "").lexically_normal().parent_path();
    return normal.filename().string();
  };
  const std::string name = last(folder);
  const auto alike =
      std::ranges::count_if(group.contexts, [&](const Context& c) { return last(c.folder) == name; });
  return alike > 1 || name.empty() ? folder : name;
}

// A server has other settings than an engine in any case, and its name tells it apart.
bool needs_folders(const Group& group) {
  const auto servers = std::ranges::count(group.contexts, true, &Context::server);
  return servers > 1 || static_cast<std::ptrdiff_t>(group.contexts.size()) - servers > 1;
}

Panel panel_of(Group& group) {
  Panel panel{group.task, group.title, {}};
  const bool with_folders = needs_folders(group);
  for (Context& context : group.contexts) {
    for (Series& series : context.series) {
      if (with_folders) series.label += " · " + short_name(group, context.folder);
      std::ranges::sort(series.cells, {}, [](const Cell& c) { return c.row->budget; });
      panel.series.push_back(std::move(series));
    }
  }
  return panel;
}

}  // namespace

std::vector<const Result*> Cell::results() const {
  std::vector<const Result*> own;
  for (const Result& r : set->results) {
    if (r.item.task == row->task && r.item.policy == row->policy && r.item.budget == row->budget)
      own.push_back(&r);
  }
  return own;
}

bool is_full(const std::string& policy) { return policy == "full"; }
bool is_random(const std::string& policy) { return policy.starts_with("random"); }

bool Panel::has_full() const { return std::ranges::any_of(series, is_full, &Series::policy); }
bool Panel::has_random() const { return std::ranges::any_of(series, is_random, &Series::policy); }
bool Panel::has_budgets() const {
  return std::ranges::any_of(series, [](const Series& s) { return !s.is_level(); });
}

std::vector<Panel> panels_of(std::span<const ResultSet> sets, std::span<const SummaryRow> rows) {
  std::vector<Group> groups;
  for (const bool server : {false, true}) {
    for (const SummaryRow& row : rows) {
      const ResultSet& set = set_of(sets, row);
      if (is_server(set) == server) add_row(groups, set, row);
    }
  }
  std::vector<Panel> panels;
  for (Group& group : groups) panels.push_back(panel_of(group));
  return panels;
}

std::vector<const Series*> shown_series(const Panel& panel, size_t most) {
  std::vector<const Series*> list;
  for (int rank = 0; rank < 3; ++rank) {
    for (const Series& series : panel.series) {
      const int own = is_full(series.policy) ? 0 : is_random(series.policy) ? 1 : 2;
      if (own == rank && list.size() < most) list.push_back(&series);
    }
  }
  return list;
}

std::string missing_words(const Panel& panel, size_t shown) {
  std::string words;
  if (!panel.has_full())
    words += " The full cache was not run, so there is nothing to measure the loss against.";
  if (!panel.has_random()) {
    words +=
        " No random policy was run: without it nobody can tell what choosing adds over keeping any tokens.";
  }
  if (panel.series.size() > shown) {
    words += " " + std::to_string(panel.series.size() - shown) +
             " more lines are in the table alone: drawn are the full cache, random policies and then the "
             "first as they were asked for.";
  }
  return words;
}

}  // namespace vase::eval::report
