#include "model/taps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/error.hpp"
#include "core/number.hpp"
#include "core/suggest.hpp"

namespace flyball::model {

namespace {

struct SiteName {
    Site site;
    bool in_block;
    std::string_view name;  // after "blocks.L." for those in a block
};
constexpr std::array<SiteName, 14> sites = {{{Site::embed, false, "embed"},
                                             {Site::attn_in, true, "attn.in"},
                                             {Site::query, true, "attn.query"},
                                             {Site::key, true, "attn.key"},
                                             {Site::value, true, "attn.value"},
                                             {Site::pattern, true, "attn.pattern"},
                                             {Site::attn_out, true, "attn.out"},
                                             {Site::ffn_in, true, "ffn.in"},
                                             {Site::ffn_out, true, "ffn.out"},
                                             {Site::resid, true, "resid"},
                                             {Site::readout, false, "readout"},
                                             {Site::logits, false, "logits"},
                                             {Site::grad, true, "grad"},
                                             {Site::embed_grad, false, "embed.grad"}}};

std::string full_name(const SiteName& site, std::string_view layer) {
    return site.in_block ? fmt::format("blocks.{}.{}", layer, site.name) : std::string(site.name);
}

}  // namespace

template <class Real>
std::string TapView<Real>::name() const {
    const auto* found = std::find_if(sites.begin(), sites.end(), [this](const SiteName& s) { return s.site == site; });
    return full_name(*found, std::to_string(layer));
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
        if (understood && site.in_block == in_block && site.name == rest) {
            entries_.push_back({site.site, every, layer, std::move(consumer)});
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
bool Taps<Real>::wants(Site site, std::size_t layer) const {
    return std::any_of(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.matches(site, layer); });
}

template <class Real>
void Taps<Real>::send(const TapView<Real>& view) const {
    for (const Entry& entry : entries_) {
        if (entry.matches(view.site, view.layer)) {
            entry.consumer(view);
        }
    }
}

template <class Real>
void Taps<Real>::show(Site site, std::size_t layer, std::size_t rows, std::size_t columns, const Real* data,
                      std::size_t stride) const {
    if (wants(site, layer)) {
        send({.site = site, .layer = layer, .rows = rows, .columns = columns, .data = data, .stride = stride});
    }
}

template struct TapView<float>;
template struct TapView<double>;
template class Taps<float>;
template class Taps<double>;

}  // namespace flyball::model
