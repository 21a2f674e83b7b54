// Ends the program where a test would wait for ever, for example on a pipe that nobody writes to.
#pragma once

#include <unistd.h>

namespace flyball::test {

class AtMost {
  public:
    explicit AtMost(unsigned seconds) : before_(::alarm(seconds)) {}
    ~AtMost() { ::alarm(before_); }
    AtMost(const AtMost&) = delete;
    AtMost& operator=(const AtMost&) = delete;

  private:
    unsigned before_;
};

}  // namespace flyball::test
