#include "model/convert.hpp"

#include <algorithm>
#include <cassert>

namespace flyball::model {

namespace {

// Parameters of a layout that are stored alike in every family, in the order of the layout; absent ones included.
std::vector<int> plain_parameters(const Layout& layout) {
    std::vector<int> all = {layout.tokens,      layout.positions,      layout.types,
                            layout.class_token, layout.patches.weight, layout.patches.bias};
    // Instances that have parameters, in the order the code evaluates them: numbers of instances depend on the text.
    const auto add_norms = [&all](std::vector<NormPlace> places) {
        const auto first = [](const NormPlace& place) {
            return std::max({place.gain, place.bias, place.alpha, place.shift});
        };
        std::erase_if(places, [&](const NormPlace& place) { return first(place) == absent; });
        std::sort(places.begin(), places.end(),
                  [&](const NormPlace& a, const NormPlace& b) { return first(a) < first(b); });
        for (const NormPlace& place : places) {
            all.insert(all.end(), {place.gain, place.bias, place.alpha, place.shift});
        }
    };
    const auto add_learned = [&all](std::vector<int> places) {
        std::erase(places, absent);
        all.insert(all.end(), places.begin(), places.end());
    };
    add_norms({layout.embedding_norm});
    for (const BlockLayout& block : layout.blocks) {
        all.insert(all.end(), block.attention_gains.begin(), block.attention_gains.end());
        all.push_back(block.ffn_gain);
        add_norms(block.norms);
        add_learned(block.learned);
    }
    add_norms(layout.readout_norms);
    add_learned(layout.readout_learned);
    all.push_back(layout.head == layout.tokens ? absent : layout.head);
    all.push_back(layout.logit_gain);
    return all;
}

// Where row `output` of the joint matrix of all parts is: each part has consecutive outputs.
const Linear& part_of(const std::vector<Linear>& parts, std::size_t output) {
    return *std::find_if(parts.begin(), parts.end(), [output](const Linear& part) {
        return output >= part.offset && output < part.offset + part.out;
    });
}

template <class Real>
void copy_parts(const Model<Real>& from, const std::vector<Linear>& source, const std::vector<Linear>& target,
                Parameters<Real>& to) {
    const auto place = [](const Linear& part, std::size_t output, std::size_t input) {
        const std::size_t row = output - part.offset;
        return part.in_out ? input * part.out + row : row * part.in + input;
    };
    for (const Linear& part : target) {
        for (std::size_t output = part.offset; output < part.offset + part.out; ++output) {
            const Linear& old = part_of(source, output);
            for (std::size_t input = 0; input < part.in; ++input) {
                to.at(part.weight)[place(part, output, input)] = from.at(old.weight)[place(old, output, input)];
            }
            if (part.bias != absent) {
                to.at(part.bias)[output - part.offset] = from.at(old.bias)[output - old.offset];
            }
        }
    }
}

}  // namespace

template <class Real>
Model<Real> converted(const Model<Real>& model, Architecture architecture, const Names& names) {
    Model<Real> result(std::move(architecture), names);
    Parameters<Real>& to = *result.parameters();
    const std::vector<int> source = plain_parameters(model.layout());
    const std::vector<int> target = plain_parameters(result.layout());
    assert(source.size() == target.size());
    for (std::size_t i = 0; i < target.size(); ++i) {
        assert((source[i] == absent) == (target[i] == absent));
        if (target[i] != absent) {
            const ParameterSpec& spec = result.layout().parameters[static_cast<std::size_t>(target[i])];
            std::copy_n(model.at(source[i]), spec.elements(), to.at(target[i]));
        }
    }
    for (std::size_t l = 0; l < result.layout().blocks.size(); ++l) {
        const BlockLayout& old = model.layout().blocks[l];
        const BlockLayout& block = result.layout().blocks[l];
        copy_parts(model, old.qkv, block.qkv, to);
        copy_parts(model, {old.output}, {block.output}, to);
        copy_parts(model, old.ffn_in, block.ffn_in, to);
        copy_parts(model, {old.ffn_out}, {block.ffn_out}, to);
    }
    return result;
}

Model<float> trainable(const Model<float>& loaded) {
    Architecture architecture = loaded.architecture();
    architecture.family = "flyball";
    return converted(loaded, std::move(architecture), native_names());
}

template Model<float> converted(const Model<float>&, Architecture, const Names&);
template Model<double> converted(const Model<double>&, Architecture, const Names&);

}  // namespace flyball::model
