// Any bytes are either a safetensors file whose tensors can all be read, or an Error of kind input. Nothing else.
//     ./safetensors_fuzz fuzz/corpus/safetensors
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "core/error.hpp"
#include "core/safetensors.hpp"

namespace {

void require(bool holds) {
    if (!holds) {
        std::abort();
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        const auto file = flyball::SafeTensors::parse(std::as_bytes(std::span(data, size)), "'fuzz'");
        std::size_t total = 0;
        for (const auto& name : file.names()) {
            const flyball::TensorInfo& info = file.info(name);
            std::size_t elements = 1;
            for (const std::size_t extent : info.shape) {
                elements *= extent;
            }
            require(elements == info.elements());
            require(elements * flyball::size_of(info.dtype) == info.bytes.size());
            require(file.read<float>(name).size() == elements);
            require(file.read<double>(name).size() == elements);
            total += info.bytes.size();
        }
        require(total <= size);
    } catch (const flyball::Error& error) {
        require(error.kind() == flyball::ErrorKind::input);
    }
    return 0;
}
