#include "tokenizer/document.hpp"

#include <string>

namespace flyball::tokenizer {

Json document(const Tokenizer& tokenizer, std::span<const std::int32_t> ids, bool with_tokens) {
    Json result = {{"count", ids.size()}, {"ids", ids}};
    if (with_tokens) {
        Json list = Json::array();
        for (const std::int32_t id : ids) {
            list.push_back(std::string(tokenizer.token(id).value_or("")));
        }
        result["tokens"] = std::move(list);
    }
    return result;
}

}  // namespace flyball::tokenizer
