#include "check/sub_layer_use.hpp"

#include <fmt/format.h>

#include <array>

#include "check/trial.hpp"
#include "scheme/code.hpp"

namespace flyball::check {

namespace {

using scheme::Code;
using scheme::Instruction;
using scheme::SubLayer;

constexpr std::array both_sub_layers = {SubLayer::attention, SubLayer::feed_forward};

const char* sub_layer_name(SubLayer sub_layer) {
    return sub_layer == SubLayer::attention ? "attention" : "the feed-forward network";
}

// Blocks in which something is true of a sub-layer.
struct Uses {
    std::size_t called = 0;
    std::size_t learns = 0;  // a gradient of the streams comes back to what it gave
    std::size_t sees = 0;    // what it is given depends on a stream
};

// By register: whether a gradient reaches it from a stream after the block.
std::vector<bool> with_gradient(const Code& code) {
    std::vector<bool> live(static_cast<std::size_t>(code.registers), false);
    for (const int out : code.streams_out) {
        live[scheme::index(out)] = true;
    }
    for (auto at = code.instructions.rbegin(); at != code.instructions.rend(); ++at) {
        if (!live[scheme::index(at->out)]) {
            continue;
        }
        if (at->kind != Instruction::Kind::combine) {
            live[scheme::index(at->in)] = true;
            continue;
        }
        for (const scheme::Term& term : at->terms) {
            if (term.source != scheme::ones_register && !term.detached) {
                live[scheme::index(term.source)] = true;
            }
        }
    }
    return live;
}

// By register: whether it depends on a stream before the block.
std::vector<bool> with_stream(const Code& code) {
    std::vector<bool> depends(static_cast<std::size_t>(code.registers), false);
    for (const int in : code.streams_in) {
        depends[scheme::index(in)] = true;
    }
    for (const Instruction& instruction : code.instructions) {
        bool any = false;
        if (instruction.kind == Instruction::Kind::combine) {
            for (const scheme::Term& term : instruction.terms) {
                any = any || (term.source != scheme::ones_register && depends[scheme::index(term.source)]);
            }
        } else {
            any = depends[scheme::index(instruction.in)];
        }
        depends[scheme::index(instruction.out)] = any;
    }
    return depends;
}

// Counted over the blocks of the user's depth: conditions may take a sub-layer away from some of them.
std::array<Uses, 2> uses_of(const scheme::Program& program, const Settings& settings) {
    std::array<Uses, 2> uses;
    for (const scheme::Environment& env : environments(settings.depth, settings)) {
        const Code code = lower_block(program, scheme::SubLayers::attention_and_ffn, program.decide(env));
        const std::vector<bool> learns = with_gradient(code);
        const std::vector<bool> depends = with_stream(code);
        for (std::size_t s = 0; s < uses.size(); ++s) {
            bool called = false;
            bool learned = false;
            bool sees = false;
            for (const Instruction& instruction : code.instructions) {
                if (instruction.kind == Instruction::Kind::call && instruction.sub_layer == both_sub_layers[s]) {
                    called = true;
                    learned = learned || learns[scheme::index(instruction.out)];
                    sees = sees || depends[scheme::index(instruction.in)];
                }
            }
            uses[s].called += called ? 1 : 0;
            uses[s].learns += learned ? 1 : 0;
            uses[s].sees += sees ? 1 : 0;
        }
    }
    return uses;
}

}  // namespace

std::vector<Finding> sub_layer_use(const scheme::Program& program, const Settings& settings) {
    const std::array<Uses, 2> uses = uses_of(program, settings);
    std::vector<Finding> findings;
    for (std::size_t s = 0; s < uses.size(); ++s) {
        const char* name = sub_layer_name(both_sub_layers[s]);
        if (uses[s].called == 0) {
            findings.push_back({"sub-layer-not-called", Severity::note,
                                fmt::format("The equation never calls {}.", name),
                                fmt::format("in none of {} blocks", settings.depth), 0});
            continue;
        }
        if (uses[s].learns == 0) {
            findings.push_back({"sub-layer-learns-nothing", Severity::malformed,
                                fmt::format("No gradient comes back to {}: every use of what it gives is detached, so "
                                            "that its weights stay as they start.",
                                            name),
                                fmt::format("called in {} blocks, with a gradient in none", uses[s].called), 0});
        }
        if (uses[s].sees == 0) {
            findings.push_back({"branch-ignores-stream", Severity::caution,
                                fmt::format("What {} is given does not depend on x: no block builds on what the blocks "
                                            "before it have said.",
                                            name),
                                fmt::format("called in {} blocks, with a stream in none", uses[s].called), 0});
        }
    }
    return findings;
}

}  // namespace flyball::check
