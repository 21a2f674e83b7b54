#include "train/layer_record.hpp"

namespace flyball::train {

const std::vector<LayerField>& layer_fields() {
    static const std::vector<LayerField> fields = {
        {"norm", "length of the stream", &LayerRecord::norm, true},
        {"mean_abs", "mean absolute value", &LayerRecord::mean_abs, true},
        {"entry_variance", "entry-wise variance", &LayerRecord::entry_variance, true},
        {"data_variance", "data-wise variance", &LayerRecord::data_variance, true},
        {"attention_norm", "length of what attention adds", &LayerRecord::attention_norm, true},
        {"attention_ratio", "attention's share of the stream", &LayerRecord::attention_ratio, true},
        {"ffn_norm", "length of what the FFN adds", &LayerRecord::ffn_norm, true},
        {"ffn_ratio", "the FFN's share of the stream", &LayerRecord::ffn_ratio, true},
        {"gradient", "length of the gradient", &LayerRecord::gradient, true},
        {"entropy", "entropy of attention (nats)", &LayerRecord::entropy},
        {"largest_logit", "largest attention score", &LayerRecord::largest_logit},
        {"angle", "angle of a block (radians)", &LayerRecord::angle},
        {"angle_predicted", "predicted angle (radians)", &LayerRecord::angle_predicted},
        {"angle_ratio", "measured / predicted angle", &LayerRecord::angle_ratio},
    };
    return fields;
}

Json to_json(const LayerRecord& record) {
    Json json = Json::object();
    for (const LayerField& field : layer_fields()) {
        json[field.name] = record.*field.value;
    }
    Json matrices = Json::object();
    for (const MatrixRecord& matrix : record.matrices) {
        Json one = Json::object();
        one["gradient"] = matrix.gradient;
        one["update"] = matrix.update;
        matrices[matrix.name] = std::move(one);
    }
    json["matrices"] = std::move(matrices);
    return json;
}

}  // namespace flyball::train
