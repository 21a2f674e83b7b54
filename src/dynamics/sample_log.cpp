#include "dynamics/sample_log.hpp"

#include "core/error.hpp"
#include "core/json.hpp"

namespace flyball::dynamics {

namespace {

Json row_of(const Sample& sample) {
    Json row = Json::array();
    for (const SampleField& field : sample_fields()) {
        if (field.json != nullptr) {
            row.push_back(field(sample));
        }
    }
    return row;
}

}  // namespace

SampleLog::SampleLog(const std::filesystem::path& path, const std::string& scheme, const std::string& equation,
                     const std::vector<Sample>& before) {
    try {
        file_.emplace(path, record::GrowingFile::Found::emptied, record::GrowingFile::Reach::system,
                      "dynamics.sample_log", "a file to append to");
    } catch (const Error&) {
        return;
    }
    Json columns = Json::array();
    for (const SampleField& field : sample_fields()) {
        if (field.json != nullptr) {
            columns.push_back(field.json);
        }
    }
    std::string lines = dump_json({{"scheme", scheme}, {"equation", equation}, {"columns", std::move(columns)}});
    for (const Sample& sample : before) {
        lines += "\n" + dump_json(row_of(sample));
    }
    write(lines);
}

void SampleLog::add(const Sample& sample) {
    write(dump_json(row_of(sample)));
}

void SampleLog::end(const std::string& outcome) {
    write(dump_json({{"outcome", outcome}}));
}

void SampleLog::write(const std::string& line) {
    if (!file_) {
        return;
    }
    try {
        file_->append(line + "\n");
    } catch (const Error&) {
        file_.reset();
    }
}

}  // namespace flyball::dynamics
