// The page a figure is drawn on: SVG text, theme, title and caption.
//
// Every themed element has its light colour as an attribute and a class by which a viewer that knows CSS variables
// recolours it. No ids are used, so several figures can stand in one HTML page.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/figure.hpp"

namespace flyball::report {

// A coordinate: at most two decimals, no "-0".
std::string px(double value);

// Clean text with the five characters of XML escaped.
std::string escape(std::string_view text);
// The text that escape() was given.
std::string unescaped(std::string_view text);

// Width in pixels, rather too large than too small: the viewer's font is not known.
double text_width(std::string_view text, double size);

// Lines no wider than `width`; '\n' starts a new one, words that are too long are cut.
std::vector<std::string> wrapped(std::string_view text, double width, double size);

// As much of the text as fits, ending in "…" when it was cut.
std::string fitted(std::string_view text, double width, double size);

enum class Ink { strong, muted, axis, grid, paper };
enum class Anchor { start, middle, end };

// Everything is drawn in units in which letters of labels are 14 high; the sheet's font says how large a unit is, and
// its width how many of them there are.
class Page {
  public:
    static constexpr double margin = 14;
    static constexpr double tick_size = 13;
    static constexpr double label_size = Sheet::usual_font;
    static constexpr double line = 17;  // from one line of labels to the next

    // `description` is for screen readers; the title is drawn too.
    Page(const Sheet& sheet, std::string_view title, std::string_view description);

    static double width_on(const Sheet& sheet);  // in units
    double width() const noexcept { return width_; }
    double top() const noexcept { return top_; }  // where the title ends

    void raw(std::string_view svg) { body_ += svg; }
    // A group of lines: <g> with its stroke. Close with raw("</g>\n").
    void open_lines(Ink ink, double stroke_width);
    // Superscripts in the text are raised by markup: few fonts have them all.
    void text(double x, double y, std::string_view text, Ink ink, Anchor anchor, double size);
    // The same in a series' colour, darkened or lightened until it can be read.
    void text(double x, double y, std::string_view text, std::string_view colour, Anchor anchor, double size);

    // Class and light colour of an ink, as attributes: class="..." fill="...".
    static std::string fill(Ink ink);

    // The document; the caption stands below `bottom`, which grows by it.
    std::string finish(double bottom, std::string_view caption) const;
    // <svg ..> of a page of this height, with title, description and paper.
    static std::string opening(const Sheet& sheet, double height, std::string_view title, std::string_view description,
                               std::string_view style);

  private:
    Sheet sheet_;
    double width_;
    std::string title_, description_;
    std::vector<std::string> title_lines_;
    std::vector<std::string> text_colours_;
    double top_ = 0;
    std::string body_;
};

}  // namespace flyball::report
