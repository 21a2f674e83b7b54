#include "cli/model_notes.hpp"

#include <fmt/format.h>

#include "cli/command.hpp"
#include "model/finite.hpp"

namespace flyball::cli {

void print_notes(const std::string& given, const model::Model<float>& model) {
    for (const std::string& note : model.notes()) {
        print_note(fmt::format("flyball: note: {}: {}\n", given, note));
    }
}

void warn_not_finite(const std::string& given, const model::Model<float>& model) {
    const std::vector<std::string> spoilt = model::tensors_not_finite(model);
    std::string why = "though every weight is: the numbers outgrow 32-bit floats on the way";
    if (!spoilt.empty()) {
        why = fmt::format("because of NaN or infinities in {} of its {} tensors, the first of them {}", spoilt.size(),
                          model.layout().parameters.size(), spoilt.front());
    }
    print_error(fmt::format("flyball: warning: {}: the result is not finite, {}\n", given, why));
}

}  // namespace flyball::cli
