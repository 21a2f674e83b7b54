// The members `normalizer`, `pre_tokenizer` and `decoder` of a tokenizer file as steps.
#pragma once

#include <vector>

#include "tokenizer/decode.hpp"
#include "tokenizer/json.hpp"
#include "tokenizer/normalise.hpp"
#include "tokenizer/pretokenize.hpp"

namespace flyball::tokenizer {

// Each appends the steps of one node. A kind that is not supported is an Error, for decoders only when one decodes.
void append_normaliser(std::vector<NormaliseStep>& steps, const JsonNode& node);
void append_pretokenizer(std::vector<PretokenizeStep>& steps, const JsonNode& node);
void append_decoder(std::vector<DecodeStep>& steps, const JsonNode& node);

// The pre-tokenizers that older files mean without saying so.
void append_byte_level(std::vector<PretokenizeStep>& steps, bool prefix_space, bool use_regex);
void append_bert(std::vector<PretokenizeStep>& steps);

}  // namespace flyball::tokenizer
