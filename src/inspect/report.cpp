#include "inspect/report.hpp"

namespace flyball::inspect {

const std::vector<LayerField>& stream_fields() {
    using R = LayerReport;
    static const std::vector<LayerField> fields = {
        {"norm", "length of the stream", &R::norm},
        {"norm_low", "length of the stream, 5 % of tokens are below", &R::norm_low},
        {"norm_median", "median length of the stream", &R::norm_median},
        {"norm_high", "length of the stream, 5 % of tokens are above", &R::norm_high},
        {"mean_abs", "mean absolute value", &R::mean_abs},
        {"entry_variance", "entry-wise variance", &R::entry_variance},
        {"data_variance", "data-wise variance", &R::data_variance},
        {"cosine", "mean cosine of two tokens", &R::cosine},
        {"effective_rank", "effective rank", &R::effective_rank},
        {"collapse_residual", "distance from rank collapse", &R::collapse_residual},
        {"largest", "largest entry", &R::largest},
        {"median_abs", "median entry", &R::median_abs},
        {"gradient", "length of the gradient", &R::gradient},
    };
    return fields;
}

const std::vector<LayerField>& layer_fields() {
    using R = LayerReport;
    static const std::vector<LayerField> fields = [] {
        std::vector<LayerField> all = stream_fields();
        all.insert(all.end(),
                   {
                       {"attention_norm", "length of what attention adds", &R::attention_norm},
                       {"attention_ratio", "attention's share of the stream", &R::attention_ratio},
                       {"attention_cosine", "cosine of attention's part and the stream", &R::attention_cosine},
                       {"ffn_norm", "length of what the FFN adds", &R::ffn_norm},
                       {"ffn_ratio", "the FFN's share of the stream", &R::ffn_ratio},
                       {"ffn_cosine", "cosine of the FFN's part and the stream", &R::ffn_cosine},
                       {"angular_distance", "angular distance of a block", &R::angular_distance},
                       {"angular_predicted", "predicted angular distance", &R::angular_predicted},
                       {"angular_ratio", "measured / predicted angular distance", &R::angular_ratio},
                       {"influence", "block influence", &R::influence},
                       {"entropy", "entropy of attention (nats)", &R::entropy},
                       {"sink", "weight of the first token", &R::sink},
                       {"sink_heads", "share of heads that are sinks", &R::sink_heads},
                       {"largest_logit", "largest attention score", &R::largest_logit},
                       {"gain_mean", "mean gain of the norms", &R::gain_mean},
                       {"gain_largest", "largest gain of the norms", &R::gain_largest},
                       {"drop", "loss increase without the block (nats)", &R::drop},
                       {"lens_loss", "loss if the model ended here (nats)", &R::lens_loss},
                       {"lens_agreement", "share of final predictions", &R::lens_agreement},
                   });
        return all;
    }();
    return fields;
}

}  // namespace flyball::inspect
