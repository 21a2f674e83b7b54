// Places of a block: their names, and which of them to look at.
#include <algorithm>

#include "check/conformance_reading.hpp"
#include "core/unreachable.hpp"

namespace flyball::check {

const char* name(Place place) noexcept {
    switch (place) {
        case Place::attention_in:
            return "attn.in";
        case Place::ffn_in:
            return "ffn.in";
        case Place::resid:
            return "resid";
    }
    unreachable();
}

const char* title(Place place) noexcept {
    switch (place) {
        case Place::attention_in:
            return "the input of attention";
        case Place::ffn_in:
            return "the input of the feed-forward";
        case Place::resid:
            return "the new stream";
    }
    unreachable();
}

bool BlockReading::conforms() const {
    return std::all_of(places.begin(), places.end(), [](const PlaceReading& place) { return place.conforms(); });
}

Place BlockReading::where() const {
    std::size_t where = place_count - 1;
    for (std::size_t i = 0; i < place_count; ++i) {
        if (!places[i].conforms()) {
            return static_cast<Place>(i);
        }
        if (places[i].checked && places[i].error > places[where].error) {
            where = i;
        }
    }
    return static_cast<Place>(where);
}

}  // namespace flyball::check
