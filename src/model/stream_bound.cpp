#include "model/stream_bound.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/unreachable.hpp"

namespace flyball::model {

namespace {

using scheme::Instruction;

// |value| <= sum of shares * |stream on entry| + a constant.
struct Reach {
    std::vector<double> shares;  // by stream
    double constant = 0;
};

// |x after| <= share |x before| + constant: bounded for a share below 1, at most linear growth for 1, exponential
// above.
StreamBound block_bound(const StreamReach& reach) {
    constexpr double rounding = 1e-6;  // of coefficients that were stored as floats
    for (std::size_t other = 1; other < reach.shares.size(); ++other) {
        if (!(reach.shares[0][other] <= rounding)) {
            return StreamBound::none;  // of another stream nothing is known here
        }
    }
    const double share = reach.shares[0][0];
    if (!std::isfinite(reach.constants[0]) || std::isnan(share)) {
        return StreamBound::none;
    }
    if (share > 1 + rounding) {
        return StreamBound::exponential;
    }
    return share > 1 - rounding ? StreamBound::linear : StreamBound::bounded;
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

// By walking the code: |sum c_i y_i| <= sum |c_i| |y_i|, a norm forgets what it is given, a call may give anything.
StreamReach stream_reach(const BlockCode& block) {
    const std::size_t streams = block.code.streams_in.size();
    std::vector<Reach> reach(static_cast<std::size_t>(block.code.registers), {std::vector<double>(streams, 0.0), 0});
    const auto at = [&](int reg) -> Reach& { return reach[static_cast<std::size_t>(reg)]; };
    for (std::size_t i = 0; i < streams; ++i) {
        at(block.code.streams_in[i]).shares[i] = 1;
    }
    if (block.code.embedding >= 0) {
        at(block.code.embedding).constant = 1;
    }
    for (const Instruction& instruction : block.code.instructions) {
        Reach result{std::vector<double>(streams, 0.0), 0};
        switch (instruction.kind) {
            case Instruction::Kind::apply:
                result.constant = 1;  // a norm, tanh or erf: as long as its gains allow
                break;
            case Instruction::Kind::call:
                result.constant = std::numeric_limits<double>::infinity();
                break;
            case Instruction::Kind::combine:
                for (const scheme::Term& term : instruction.terms) {
                    const double factor = block.largest[static_cast<std::size_t>(term.coefficient)];
                    if (factor == 0) {
                        continue;
                    }
                    if (term.source == scheme::ones_register) {
                        result.constant += factor;
                        continue;
                    }
                    for (std::size_t i = 0; i < streams; ++i) {
                        result.shares[i] += factor * at(term.source).shares[i];
                    }
                    result.constant += factor * at(term.source).constant;
                }
                break;
        }
        at(instruction.out) = std::move(result);
    }
    StreamReach result;
    for (const int out : block.code.streams_out) {
        result.shares.push_back(at(out).shares);
        result.constants.push_back(at(out).constant);
    }
    return result;
}

StreamBound stream_bound(const Model<float>& model, std::size_t tokens) {
    StreamBound weakest = StreamBound::bounded;
    for (std::size_t l = 0; l < model.architecture().layers; ++l) {
        weakest = std::max(weakest, block_bound(stream_reach(block_code(model, l, tokens))));
    }
    return weakest;
}

}  // namespace flyball::model
