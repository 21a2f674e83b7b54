// rewired(): which norm of one equation stands where a norm of another one stood.
#include <algorithm>
#include <map>
#include <set>

#include "model/convert.hpp"
#include "model/initialise.hpp"
#include "model/longest.hpp"
#include "scheme/code.hpp"

namespace flyball::model {

namespace {

// Where a norm stands in a block: after how many calls of sub-layers, and on what it acts.
struct Where {
    enum class On { input, branch, stream };
    std::size_t calls = 0;
    On on = On::stream;
    bool operator<(const Where& other) const { return std::pair(calls, on) < std::pair(other.calls, other.on); }
    bool operator==(const Where& other) const { return calls == other.calls && on == other.on; }
};

// By instance of the code; only those that the code evaluates, in its order.
std::vector<std::pair<Where, NormPlace>> norms_of(const scheme::Code& code, const std::vector<NormPlace>& places) {
    using scheme::Instruction;
    std::vector<int> readers(static_cast<std::size_t>(code.registers), 0);  // of each register
    std::set<int> called;                                                   // registers that a call reads
    std::set<int> branches;                                                 // made of a call's output alone
    const auto read = [&readers](int from) {
        if (from != scheme::ones_register) {
            ++readers[static_cast<std::size_t>(from)];
        }
    };
    for (const Instruction& instruction : code.instructions) {
        switch (instruction.kind) {
            case Instruction::Kind::combine: {
                bool alone = !instruction.terms.empty();
                for (const scheme::Term& term : instruction.terms) {
                    read(term.source);
                    alone = alone && branches.contains(term.source);
                }
                if (alone) {
                    branches.insert(instruction.out);
                }
                break;
            }
            case Instruction::Kind::apply:
                read(instruction.in);
                if (branches.contains(instruction.in)) {
                    branches.insert(instruction.out);
                }
                break;
            case Instruction::Kind::call:
                read(instruction.in);
                called.insert(instruction.in);
                branches.insert(instruction.out);
                break;
        }
    }
    for (const int out : code.streams_out) {
        read(out);
    }
    std::vector<std::pair<Where, NormPlace>> result;
    std::size_t calls = 0;
    for (const Instruction& instruction : code.instructions) {
        calls += instruction.kind == Instruction::Kind::call ? 1 : 0;
        if (instruction.norm < 0) {
            continue;
        }
        // The norm after the sum in Post-LN is read by the next sub-layer too, but not by it alone.
        const bool is_input =
            called.contains(instruction.out) && readers[static_cast<std::size_t>(instruction.out)] == 1;
        const Where::On on = is_input                            ? Where::On::input
                             : branches.contains(instruction.in) ? Where::On::branch
                                                                 : Where::On::stream;
        result.push_back({{calls, on}, places[static_cast<std::size_t>(instruction.norm)]});
    }
    return result;
}

// From parameters of the old model to those of the new one.
using Matches = std::map<int, int>;

void match(const Layout& old, int from, const Layout& now, int to, Matches& matches) {
    if (from != absent && to != absent &&
        old.parameters[static_cast<std::size_t>(from)].shape == now.parameters[static_cast<std::size_t>(to)].shape) {
        matches[to] = from;
    }
}

// Norms at one place are matched in order if both equations have as many there, and not at all otherwise.
void match_norms(const Layout& old, const std::vector<std::pair<Where, NormPlace>>& from, const Layout& now,
                 const std::vector<std::pair<Where, NormPlace>>& to, Matches& matches) {
    const auto at = [](const auto& norms, const Where& where) {
        std::vector<NormPlace> found;
        for (const auto& [place, norm] : norms) {
            if (place == where) {
                found.push_back(norm);
            }
        }
        return found;
    };
    std::set<Where> places;
    for (const auto& norm : to) {
        places.insert(norm.first);
    }
    for (const Where& where : places) {
        const std::vector<NormPlace> sources = at(from, where);
        const std::vector<NormPlace> targets = at(to, where);
        for (std::size_t i = 0; sources.size() == targets.size() && i < targets.size(); ++i) {
            for (int NormPlace::*const part :
                 {&NormPlace::gain, &NormPlace::bias, &NormPlace::alpha, &NormPlace::shift}) {
                match(old, sources[i].*part, now, targets[i].*part, matches);
            }
        }
    }
}

scheme::Code code_of(const Model<float>& model, std::size_t l) {
    const Architecture& a = model.architecture();
    const std::vector<bool> decisions = model.program().decide(block_of_the_longest(a, std::min(l, a.layers - 1)));
    return l < a.layers ? lower_block(model.program(), scheme::SubLayers::attention_and_ffn, decisions)
                        : lower_readout(model.program(), decisions);
}

std::set<int> norm_parameters(const Layout& layout) {
    std::set<int> all;
    const auto add = [&all](const std::vector<NormPlace>& places) {
        for (const NormPlace& place : places) {
            all.insert({place.gain, place.bias, place.alpha, place.shift});
        }
    };
    for (const BlockLayout& block : layout.blocks) {
        add(block.norms);
    }
    add(layout.readout_norms);
    return all;
}

}  // namespace

Rewired rewired(const Model<float>& loaded, Architecture architecture, const scheme::Recipe& recipe,
                std::uint64_t seed) {
    const Model<float> source = trainable(loaded);
    architecture.family = "flyball";
    Rewired result{initialised<float>(std::move(architecture), recipe, seed), {}, {}, {}};
    const Layout& old = source.layout();
    const Layout& now = result.model.layout();
    Matches matches;
    std::map<std::string, int> by_name;
    const std::set<int> old_norms = norm_parameters(old);
    for (std::size_t i = 0; i < old.parameters.size(); ++i) {
        if (!old_norms.contains(static_cast<int>(i))) {
            by_name[old.parameters[i].name] = static_cast<int>(i);
        }
    }
    for (std::size_t i = 0; i < now.parameters.size(); ++i) {
        const auto found = by_name.find(now.parameters[i].name);
        if (found != by_name.end()) {
            match(old, found->second, now, static_cast<int>(i), matches);
        }
    }
    for (std::size_t l = 0; l < std::min(old.blocks.size(), now.blocks.size()); ++l) {
        match_norms(old, norms_of(code_of(source, l), old.blocks[l].norms), now,
                    norms_of(code_of(result.model, l), now.blocks[l].norms), matches);
    }
    match_norms(old, norms_of(code_of(source, old.blocks.size()), old.readout_norms), now,
                norms_of(code_of(result.model, now.blocks.size()), now.readout_norms), matches);

    std::set<int> used;
    for (std::size_t i = 0; i < now.parameters.size(); ++i) {
        const auto found = matches.find(static_cast<int>(i));
        if (found == matches.end()) {
            result.fresh.push_back(now.parameters[i].name);
            continue;
        }
        std::copy_n(source.at(found->second), now.parameters[i].elements(),
                    result.model.parameters()->at(static_cast<int>(i)));
        used.insert(found->second);
        result.copied.push_back(now.parameters[i].name);
    }
    scale_to_unit(now, recipe.training.unit_vectors, *result.model.parameters());
    for (std::size_t i = 0; i < old.parameters.size(); ++i) {
        if (!used.contains(static_cast<int>(i))) {
            result.dropped.push_back(old.parameters[i].name);
        }
    }
    return result;
}

}  // namespace flyball::model
