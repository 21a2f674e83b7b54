#include "model/taps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "core/error.hpp"
#include "core/number.hpp"
#include "core/suggest.hpp"

namespace flyball::model {

namespace {

struct SiteName {
    Site site;
    bool in_block;
    bool of_stream;         // a stream's name may follow
    std::string_view name;  // after "blocks.L." for those in a block
};
constexpr std::array<SiteName, 17> sites = {{{Site::embed, false, false, "embed"},
                                             {Site::attn_in, true, false, "attn.in"},
                                             {Site::query, true, false, "attn.query"},
                                             {Site::key, true, false, "attn.key"},
                                             {Site::value, true, false, "attn.value"},
                                             {Site::scores, true, false, "attn.scores"},
                                             {Site::pattern, true, false, "attn.pattern"},
                                             {Site::attn_out, true, false, "attn.out"},
                                             {Site::attn_added, true, true, "attn.added"},
                                             {Site::ffn_in, true, false, "ffn.in"},
                                             {Site::ffn_out, true, false, "ffn.out"},
                                             {Site::ffn_added, true, true, "ffn.added"},
                                             {Site::resid, true, true, "resid"},
                                             {Site::readout, false, false, "readout"},
                                             {Site::logits, false, false, "logits"},
                                             {Site::grad, true, true, "grad"},
                                             {Site::embed_grad, false, false, "embed.grad"}}};

std::string full_name(const SiteName& site, std::string_view layer) {
    return site.in_block ? fmt::format("blocks.{}.{}", layer, site.name) : std::string(site.name);
}

// The stream that `rest` names behind the site, x when it stops there; nothing when it is another site.
std::optional<std::string> stream_behind(const SiteName& site, std::string_view rest) {
    if (rest == site.name) {
        return "x";
    }
    const bool longer = site.of_stream && rest.starts_with(site.name) && rest.size() > site.name.size() + 1 &&
                        rest[site.name.size()] == '.';
    return longer ? std::optional<std::string>(rest.substr(site.name.size() + 1)) : std::nullopt;
}

}  // namespace

template <class Real>
std::string TapView<Real>::name() const {
    const auto* found = std::find_if(sites.begin(), sites.end(), [this](const SiteName& s) { return s.site == site; });
    const std::string name = full_name(*found, std::to_string(layer));
    return stream == "x" ? name : fmt::format("{}.{}", name, stream);
}

template <class Real>
void Taps<Real>::add(std::string_view name, Consumer consumer) {
    std::string_view rest = name;
    bool every = false;
    std::size_t layer = 0;
    const bool in_block = name.starts_with("blocks.");
    bool understood = true;
    if (in_block) {
        rest.remove_prefix(std::string_view("blocks.").size());
        const std::size_t dot = rest.find('.');
        const std::string_view number = rest.substr(0, dot);
        every = number == "*";
        const auto value = parse_integer(number);
        understood = dot != std::string_view::npos && (every || (value && *value >= 0));
        layer = value && *value >= 0 ? static_cast<std::size_t>(*value) : 0;
        rest = dot == std::string_view::npos ? std::string_view() : rest.substr(dot + 1);
    }
    std::vector<std::string> known;
    for (const SiteName& site : sites) {
        const std::optional<std::string> stream = stream_behind(site, rest);
        if (understood && site.in_block == in_block && stream) {
            entries_.push_back({site.site, every, layer, *stream, std::move(consumer)});
            return;
        }
        known.push_back(full_name(site, "*"));
    }
    const std::string near = nearest(name, known);
    throw Error(ErrorKind::usage, "model.taps", fmt::format("the unknown tap {}", flyball::quoted(name)),
                fmt::format("one of {}", fmt::join(known, ", ")),
                near.empty() ? "" : fmt::format("did you mean {}?", near));
}

template <class Real>
void Taps<Real>::check_streams(const std::vector<std::string>& streams) const {
    for (const Entry& entry : entries_) {
        if (entry.stream != "*" && std::find(streams.begin(), streams.end(), entry.stream) == streams.end()) {
            throw Error(ErrorKind::usage, "model.taps",
                        fmt::format("a tap of the stream {}", flyball::quoted(entry.stream)),
                        fmt::format("a stream of the equation: {}", fmt::join(streams, ", ")));
        }
    }
}

template <class Real>
bool Taps<Real>::wants(Site site, std::size_t layer, std::string_view stream) const {
    return std::any_of(entries_.begin(), entries_.end(),
                       [&](const Entry& e) { return e.matches(site, layer, stream); });
}

template <class Real>
bool Taps<Real>::wants_any_stream(Site site, std::size_t layer) const {
    return std::any_of(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.matches(site, layer); });
}

template <class Real>
void Taps<Real>::send(const TapView<Real>& view) const {
    for (const Entry& entry : entries_) {
        if (entry.matches(view.site, view.layer, view.stream)) {
            entry.consumer(view);
        }
    }
}

template <class Real>
void Taps<Real>::show(Site site, std::size_t layer, std::size_t rows, std::size_t columns, const Real* data,
                      std::size_t stride, std::string_view stream) const {
    if (wants(site, layer, stream)) {
        send({.site = site,
              .layer = layer,
              .stream = stream,
              .rows = rows,
              .columns = columns,
              .data = data,
              .stride = stride});
    }
}

template struct TapView<float>;
template struct TapView<double>;
template class Taps<float>;
template class Taps<double>;

}  // namespace flyball::model
