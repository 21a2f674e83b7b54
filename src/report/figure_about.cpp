#include "report/figure_about.hpp"

#include <utility>

#include "report/colour.hpp"
#include "report/svg.hpp"

namespace flyball::report {

namespace {

constexpr std::string_view metadata_opening = "<metadata>";
constexpr std::string_view metadata_closing = "</metadata>";
constexpr std::string_view metadata_place = "</desc>\n";  // as Page::finish writes it

Json axis_json(const Axis& axis) {
    Json json = Json::object();
    json["label"] = axis.label;
    json["log"] = axis.scale == Scale::log;
    if (axis.min) {
        json["min"] = *axis.min;
    }
    if (axis.max) {
        json["max"] = *axis.max;
    }
    return json;
}

Json head_json(std::string_view kind, const std::string& title, const std::string& caption) {
    Json json = Json::object();
    json["kind"] = kind;
    json["title"] = title;
    json["caption"] = caption;
    return json;
}

}  // namespace

Json about(const LineFigure& figure) {
    Json json = head_json("lines", figure.title, figure.caption);
    json["x"] = axis_json(figure.x);
    json["y"] = axis_json(figure.y);
    json["series"] = Json::array();
    for (std::size_t i = 0; i < figure.series.size(); ++i) {
        const Style style = resolved(figure.series[i].style, i);
        json["series"].push_back({{"name", figure.series[i].name},
                                  {"colour", style.colour},
                                  {"dash", style.dash},
                                  {"points", figure.series[i].x.size()}});
    }
    return json;
}

Json about(const HeatFigure& figure) {
    Json json = head_json("heat", figure.title, figure.caption);
    json["x"] = axis_json(figure.x);
    json["y"] = axis_json(figure.y);
    json["colour"] = axis_json(figure.colour);
    if (figure.centre) {
        json["centre"] = *figure.centre;
    }
    return json;
}

Json about(const BoxFigure& figure) {
    Json json = head_json("boxes", figure.title, figure.caption);
    json["axis"] = axis_json(figure.axis);
    json["groups"] = Json::array();
    for (std::size_t i = 0; i < figure.groups.size(); ++i) {
        json["groups"].push_back(
            {{"label", figure.groups[i].label}, {"colour", resolved(figure.groups[i].style, i).colour}});
    }
    return json;
}

Json about(const SphereFigure& figure) {
    Json json = head_json(figure.circle ? "circles" : "spheres", figure.title, figure.caption);
    json["runs"] = Json::array();
    for (const SphereFigure::Run& run : figure.runs) {
        Json times = Json::array();
        for (const SphereFigure::Frame& frame : run.frames) {
            times.push_back(frame.t);
        }
        json["runs"].push_back({{"name", run.name},
                                {"colour", run.colour},
                                {"points", run.frames.empty() ? 0 : run.frames.front().points.size()},
                                {"times", std::move(times)}});
    }
    return json;
}

Json about(const PanelFigure& figure) {
    Json json = head_json("panels", figure.title, figure.caption);
    json["panels"] = Json::array();
    for (const LineFigure& panel : figure.panels) {
        json["panels"].push_back(about(panel));
    }
    return json;
}

std::string with_about(std::string svg, const Json& about) {
    const std::size_t at = svg.find(metadata_place);
    if (!about.is_null() && at != std::string::npos) {
        svg.insert(at + metadata_place.size(),
                   std::string(metadata_opening) + escape(dump_json(about)) + std::string(metadata_closing) + "\n");
    }
    return svg;
}

std::optional<Json> about_in(std::string_view svg, std::string_view what) {
    const std::size_t begin = svg.find(metadata_opening);
    const std::size_t end = begin == std::string_view::npos ? begin : svg.find(metadata_closing, begin);
    if (end == std::string_view::npos) {
        return std::nullopt;
    }
    return parse_json(unescaped(svg.substr(begin + metadata_opening.size(), end - begin - metadata_opening.size())),
                      what);
}

}  // namespace flyball::report
