// The end of a switch that has a case for every member of its enumeration.
//
// Such a switch has no `default`: a member without a case does not compile (-Werror=switch-enum), where a default would
// silently take it for another one.
#pragma once

#include <cassert>

namespace flyball {

[[noreturn]] inline void unreachable() {
    assert(false && "a value outside its enumeration");
    __builtin_unreachable();
}

}  // namespace flyball
