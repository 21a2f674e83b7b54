// One training run of the study (stability_study.hpp), and everything that is read off it.
#pragma once

#include <atomic>
#include <cstdint>

#include "claims/stability_study.hpp"
#include "train/corpus.hpp"

namespace flyball::claims {

// Throws Interrupted when `stop` is set.
TrainedRun train_one(const Condition& condition, const StudySizes& sizes, std::uint64_t seed,
                     const train::Corpus& corpus, const std::atomic<bool>* stop);

}  // namespace flyball::claims
