"""Many mistakes in one build: a function that has mistakes holds a copy of its body for each, behind a number that is chosen at run time.

    double mean(const Values& v) {                 double mean(const Values& v) {
        return sum(v) / count(v);          ->          flyball_reached[7] = 1;
    }                                                  if (flyball_planted == 31) { return sum(v); }
                                                       else if (flyball_planted == 32) { return sum(v) / (count(v) - 1); }
                                                       else { return sum(v) / count(v); } }

Compiling and linking is then done once for all of them, and a mistake takes no longer than the tests that look for it. `flyball_reached`
says which functions a test has come through: no other test can notice a mistake there.

A mistake outside a function's body (a table, a default, a constructor's list of members), in a function that the compiler may run (constexpr), and one that does
not compile in this way are not switched: mutations.py plants them one by one.

Used by mutations.py. Braces are found in the text, past comments and literals; what that gets wrong does not compile, and is planted alone.
"""
import dataclasses
import pathlib
import re
import zlib

# Places for functions. A function's place, as a mistake's number, is made of names, so that a new mistake changes no other file;
# two functions in one place are asked more tests than they need.
PLACES = 1 << 20
DECLARED = 'extern "C" { extern int flyball_planted; extern unsigned char flyball_reached[]; }\n'
# Where the numbers live. A program that a test starts writes what it has come through when it ends, under the name of that test.
RUNTIME = r'''
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <unistd.h>

extern "C" {
extern int flyball_planted;
extern unsigned char flyball_reached[];
unsigned char flyball_reached[@PLACES@];
int flyball_planted = 0;
// Before everything that is made before main(), some of which has mistakes.
__attribute__((constructor(101))) static void choose_the_mistake() {
    const char* text = std::getenv("FLYBALL_PLANTED");
    flyball_planted = text == nullptr ? 0 : std::atoi(text);
}

// A file for each process: a test may limit how long files become, and a line that does not fit is not written.
void flyball_write_reached(const char* test, long milliseconds) {
    const char* path = std::getenv("FLYBALL_REACHED");
    if (path == nullptr) { return; }
    std::string line = std::string(test) + ' ' + std::to_string(milliseconds);
    unsigned char* const end = flyball_reached + sizeof flyball_reached;
    for (unsigned char* at = flyball_reached; at != end && (at = static_cast<unsigned char*>(std::memchr(at, 1, static_cast<std::size_t>(end - at)))) != nullptr; ) {
        line += ' ' + std::to_string(at - flyball_reached);
        *at = 0;
    }
    line += '\n';
    const std::string own = std::string(path) + '.' + std::to_string(::getpid());
    const int file = ::open(own.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (file >= 0) {
        [[maybe_unused]] const auto written = ::write(file, line.data(), line.size());
        ::close(file);
    }
}
}

namespace {
struct AtExit {
    ~AtExit() {
        const char* test = std::getenv("FLYBALL_REACHED_BY");
        if (test != nullptr) { flyball_write_reached(test, -1); }
    }
} at_exit;
}
'''.replace("@PLACES@", str(PLACES))
# In a test program: a line for each test, and one for what a suite or the program does before its tests.
LISTENER = r'''
#include <cstdlib>
#include <gtest/gtest.h>
#include <string>
extern "C" void flyball_write_reached(const char* test, long milliseconds);
namespace {
struct Listener : testing::EmptyTestEventListener {
    void OnTestSuiteStart(const testing::TestSuite& suite) override {
        suite_ = std::string(suite.name()) + ".*";
        setenv("FLYBALL_REACHED_BY", suite_.c_str(), 1);
    }
    void OnTestStart(const testing::TestInfo& test) override {
        flyball_write_reached(first_ ? "*" : suite_.c_str(), -1);
        first_ = false;
        name_ = std::string(test.test_suite_name()) + "." + test.name();
        setenv("FLYBALL_REACHED_BY", name_.c_str(), 1);
    }
    void OnTestEnd(const testing::TestInfo& test) override {
        flyball_write_reached(name_.c_str(), static_cast<long>(test.result()->elapsed_time()));
        setenv("FLYBALL_REACHED_BY", suite_.c_str(), 1);
    }
    std::string suite_, name_;
    bool first_ = true;
};
const bool listens = [] { testing::UnitTest::GetInstance()->listeners().Append(new Listener); return true; }();
}
'''
LITERAL = re.compile(r'//[^\n]*|/\*.*?\*/|R"(?P<end>[^(\s]*)\(.*?\)(?P=end)"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'', re.S)


def blank(text):
    """The text with comments, literals and lines of the preprocessor as spaces: what is left are our own braces."""
    def spaces(found):
        return re.sub(r"[^\n]", " ", found[0])
    return re.sub(r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", spaces, LITERAL.sub(spaces, text), flags=re.M)


def is_function(head):
    """Whether what stands before a brace, back to the statement before it, says that a function's body follows."""
    head = head.strip()
    if re.match(r"(?:inline )?namespace\b|(?:template *<.*> *)?(?:struct|class|union|enum)\b[^(]*$", head, re.S):
        return False
    return re.search(r"\)\s*(?:const|noexcept|override|final|mutable|\s|&|->[^(){};=]*)*$", head) is not None


def bodies(text):
    """(open, close) of the bodies of functions: offsets of their braces. Functions inside functions belong to the outer one."""
    plain = blank(text)
    found, stack = [], []
    begin, inside = 0, False  # where the head of the next brace begins
    for match in re.finditer(r"[{};]", plain):
        at = match.start()
        if match[0] == "{":
            function = not inside and is_function(plain[begin:at])
            # What the compiler computes cannot depend on a number that is chosen at run time.
            stack.append((at, function, "constexpr" not in plain[begin:at]))
            inside = inside or function
        elif match[0] == "}" and stack:
            start, function, can_be_switched = stack.pop()
            if function:
                inside = False
                if can_be_switched:
                    found.append((start, at))
        begin = at + 1
    return found


@dataclasses.dataclass
class Copy:
    """Lines first..last of a switched file are the body with this mistake; with no name, the body as it should be."""
    name: str | None
    function: int
    first: int
    last: int


class SwitchedFile:
    """A file with mistakes [(name, old, new)]."""

    def __init__(self, file, text, mistakes):
        self.file, self.text = file, text
        self.alone = []  # names that cannot be switched
        self.by_body = {}  # mistakes of a function, by the braces of its body
        places = bodies(text)
        for name, old, new in mistakes:
            at = text.index(old)
            body = next(((a, b) for a, b in places if a < at and at + len(old) <= b), None)
            if body is None:
                self.alone.append(name)
            else:
                self.by_body.setdefault(body, []).append((name, at, old, new))
        self.functions = {}  # place -> names
        self.copies = []

    def drop(self, names):
        self.alone += names
        for body in list(self.by_body):
            self.by_body[body] = [m for m in self.by_body[body] if m[0] not in names]
            if not self.by_body[body]:
                del self.by_body[body]

    def written(self):
        """The text with all of its switches. Sets functions and copies."""
        out, at = [DECLARED], 0
        line = 1 + DECLARED.count("\n")
        self.functions, self.copies = {}, []

        def put(piece):
            nonlocal line
            out.append(piece)
            line += piece.count("\n")
        for (start, end), mistakes in sorted(self.by_body.items()):
            function = zlib.crc32(f"{self.file} {start}".encode()) % PLACES
            put(self.text[at:start + 1] + f" flyball_reached[{function}] = 1;\n")
            body = self.text[start + 1:end]
            for name, place, old, new in mistakes:
                first = line
                here = place - start - 1
                put(f"if (flyball_planted == {number_of(name)}) {{\n{body[:here]}{new}{body[here + len(old):]}\n}} else ")
                self.copies.append(Copy(name, function, first, line))
            first = line
            put("{\n" + body + "\n}")
            self.copies.append(Copy(None, function, first, line))
            self.functions.setdefault(function, []).extend(m[0] for m in mistakes)
            at = end
        put(self.text[at:])
        return "".join(out)

    def blamed(self, errors):
        """Names to drop, by the lines where a compiler found errors; all, where a line is nobody's."""
        names = set()
        for number in errors:
            hit = [c for c in self.copies if c.first <= number <= c.last]
            for copy in hit:
                names.update([copy.name] if copy.name else self.functions[copy.function])
            if not hit:
                names.update(name for of in self.functions.values() for name in of)
        return names or {name for of in self.functions.values() for name in of}


def number_of(name):
    """The number of a mistake; 0 is none."""
    return 1 + zlib.crc32(name.encode()) % 0x7FFFFFFF


def switch_all(mutations, root):
    """The switched files of these mistakes. What runs before the number is known (.preinit_array) is left as it is."""
    by_number = {}
    by_file = {}
    for m in mutations:
        other = by_number.setdefault(number_of(m.name), m.name)
        if other != m.name:
            raise ValueError(f"{m.name} and {other} have the same number; give one of them another name")
        if pathlib.PurePath(m.file).suffix in (".cpp", ".inl", ".hpp"):
            by_file.setdefault(m.file, []).append((m.name, m.old, m.new))
    texts = {file: (root / file).read_text() for file in by_file}
    return [SwitchedFile(file, texts[file], by_file[file]) for file in sorted(by_file) if ".preinit_array" not in texts[file]]
