#include "model/stream_bound.hpp"

#include <algorithm>
#include <vector>

#include "core/unreachable.hpp"
#include "model/block_code.hpp"

namespace flyball::model {

namespace {

using scheme::Instruction;

// |value| <= share * |x on entry| + a constant; or nothing of the kind.
struct Reach {
    double share = 0;
    bool has_constant = true;
};

StreamBound block_bound(const BlockCode& block) {
    std::vector<Reach> reach(static_cast<std::size_t>(block.code.registers));
    const auto at = [&](int reg) -> Reach& { return reach[static_cast<std::size_t>(reg)]; };
    for (std::size_t i = 0; i < block.code.streams_in.size(); ++i) {
        // Of another stream nothing is known here.
        at(block.code.streams_in[i]) = i == 0 ? Reach{1, true} : Reach{0, false};
    }
    for (const Instruction& instruction : block.code.instructions) {
        Reach result;
        switch (instruction.kind) {
            case Instruction::Kind::apply:
                break;  // a norm, tanh or erf: as long as its gains allow
            case Instruction::Kind::call:
                result.has_constant = false;
                break;
            case Instruction::Kind::combine:
                for (const scheme::Term& term : instruction.terms) {
                    const double factor = block.largest[static_cast<std::size_t>(term.coefficient)];
                    if (term.source == scheme::ones_register || factor == 0) {
                        continue;
                    }
                    result.share += factor * at(term.source).share;
                    result.has_constant = result.has_constant && at(term.source).has_constant;
                }
                break;
        }
        at(instruction.out) = result;
    }
    const Reach x = at(block.code.streams_out[0]);
    constexpr double rounding = 1e-6;  // of coefficients that were stored as floats
    if (!x.has_constant) {
        return StreamBound::none;
    }
    if (x.share > 1 + rounding) {
        return StreamBound::exponential;
    }
    return x.share > 1 - rounding ? StreamBound::linear : StreamBound::bounded;
}

}  // namespace

const char* name(StreamBound bound) noexcept {
    switch (bound) {
        case StreamBound::bounded:
            return "bounded";
        case StreamBound::linear:
            return "linear";
        case StreamBound::exponential:
            return "exponential";
        case StreamBound::none:
            return "none";
    }
    unreachable();
}

StreamBound stream_bound(const Model<float>& model, std::size_t tokens) {
    StreamBound weakest = StreamBound::bounded;
    for (std::size_t l = 0; l < model.architecture().layers; ++l) {
        weakest = std::max(weakest, block_bound(block_code(model, l, tokens)));
    }
    return weakest;
}

}  // namespace flyball::model
