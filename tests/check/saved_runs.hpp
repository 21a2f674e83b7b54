// The runs of golden/make_runs.py, and copies of them with something changed.
#pragma once

#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "check/conformance.hpp"
#include "core/safetensors.hpp"
#include "places.hpp"
#include "scheme/own_equation.hpp"

namespace flyball::check::against_test {

inline std::filesystem::path golden_run(const std::string& name) {
    return std::filesystem::path(flyball::test::source_folder) / "tests/check/golden" / (name + ".safetensors");
}

inline scheme::Scheme scheme_named(const std::string& text) {
    return scheme::find_schemes({text}, {}).at(0);
}

inline Conformance judged(const std::string& equation, const std::string& run) {
    return conformance(scheme_named(equation), read_run(SafeTensors::open(golden_run(run))));
}

// A run in memory as F32, to be changed and read again.
struct EditedRun {
    struct Tensor {
        std::vector<std::size_t> shape;
        std::vector<float> values;
    };
    std::map<std::string, Tensor> tensors;
    TensorMetadata metadata;

    explicit EditedRun(const std::string& name) {
        const SafeTensors file = SafeTensors::open(golden_run(name));
        for (const std::string& tensor : file.names()) {
            tensors[tensor] = {file.info(tensor).shape, file.read<float>(tensor)};
        }
        metadata = file.metadata();
    }

    std::vector<float>& at(const std::string& name) { return tensors.at(name).values; }

    void rename(const std::string& from, const std::string& to) {
        auto node = tensors.extract(from);
        node.key() = to;
        tensors.insert(std::move(node));
    }

    void save(const std::filesystem::path& path) const {
        std::vector<TensorToWrite> list;
        for (const auto& [name, one] : tensors) {
            list.push_back(tensor(name, one.shape, std::span<const float>(one.values)));
        }
        write_safetensors(path, list, metadata);
    }

    RunFile read(std::size_t room = std::size_t{1} << 20) const {
        const std::filesystem::path path =
            std::filesystem::temp_directory_path() / ("flyball-run-" + std::to_string(getpid()) + ".safetensors");
        save(path);
        const SafeTensors file = SafeTensors::open(path);
        std::filesystem::remove(path);
        return read_run(file, room);
    }

    Conformance judged(const std::string& equation) const { return conformance(scheme_named(equation), read()); }
};

inline const ConformanceFinding* finding(const Conformance& result, const std::string& id) {
    for (const ConformanceFinding& one : result.findings) {
        if (one.id == id) {
            return &one;
        }
    }
    return nullptr;
}

inline std::vector<std::string> ids(const Conformance& result, ConformanceFinding::Severity severity) {
    std::vector<std::string> found;
    for (const ConformanceFinding& one : result.findings) {
        if (one.severity == severity) {
            found.push_back(one.id);
        }
    }
    return found;
}

}  // namespace flyball::check::against_test
