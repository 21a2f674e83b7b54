// What `flyball train` shows: the table at the end, the figures, and the view of runs that are going on.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/figure.hpp"
#include "train/run.hpp"

namespace flyball::cli {

struct TrainRun {
    train::RunPlan plan;
    train::RunResult result;
};

// How runs ended, no wider than `columns` as far as their names allow: the speed and then the training loss are left
// out where there is no room.
std::string train_table(const std::vector<train::Summary>& runs, std::size_t columns);

// A table of runs, in words where something went wrong, and the losses as a plot.
std::string train_text(const std::vector<TrainRun>& runs, const train::Corpus& corpus);

struct NamedFigure {
    std::string name;
    report::LineFigure figure;
};
// Losses and lengths over steps; what was recorded of the layers at the end, over depth.
std::vector<NamedFigure> train_figures(const std::vector<TrainRun>& runs);
report::LineFigure loss_figure(const std::vector<TrainRun>& runs);

// One line on stderr that is rewritten, and above it, on a terminal, a plot of all losses so far. Where stderr is no
// terminal: a line at each look at the validation part.
class TrainView {
  public:
    explicit TrainView(std::size_t runs) : count_(runs) {}
    // `runs` ends with the one that is going on.
    void show(const std::vector<TrainRun>& runs, const Json& line, double seconds_left);
    void end_run(const std::vector<TrainRun>& runs);

  private:
    std::size_t count_;
    std::size_t drawn_ = 0;   // lines on the terminal that the next picture replaces
    double next_ = 0;         // seconds
    double run_seconds_ = 0;  // what a run takes, as far as is known
};

}  // namespace flyball::cli
