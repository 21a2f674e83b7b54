"""Mistakes planted in src/record; tools/mutations.py says how."""

# Written by someone who knew the tests.
KNOWN = [
    ("seal-without-tensor-bytes", "src/record/sealed.cpp",
     "        hash.add(content.bytes);\n", ""),
    ("seal-without-shapes", "src/record/sealed.cpp",
     "        hash.add(content.kind);\n", ""),
    ("seal-without-texts", "src/record/sealed.cpp",
     "            hash.add(value);\n", ""),
    ("instruction-set-not-in-the-identity", "src/record/sealed.cpp",
     '{"instruction set", name(active_isa())}, ', ""),
    ("other-kind-of-file-accepted", "src/record/sealed.cpp",
     "if (kind != seal.kind) {", "if (false) {"),
    ("other-settings-accepted", "src/record/sealed.cpp",
     "if (at == found.end() || at->second != value) {", "if (at == found.end()) {"),
    ("unknown-settings-accepted", "src/record/sealed.cpp",
     "if (!known) {", "if (false) {"),
    ("edited-json-accepted", "src/record/sealed.cpp",
     "if (!ours || sum != checksum(std::string_view(dump_json(document)))) {", "if (!ours) {"),
    ("quote-breaks-the-resume-command", "src/record/folder.cpp",
     "quoted += c == '\\'' ? std::string(\"'\\\\''\") : std::string(1, c);", "quoted += c;"),
    ("edited-results-accepted", "src/record/folder.cpp",
     "|| sum != file_checksum(path_ / name)) {", ") {"),
    ("changed-config-accepted", "src/record/folder.cpp",
     'if (read_text_file(path_ / "config.toml", largest_text) != contents_.configuration) {', "if (false) {"),
    ("two-processes-in-one-folder", "src/record/folder.cpp",
     "if (!lock_.take(path_)) {", "if (!lock_.take(path_) && false) {"),
]

# Written by someone who had not seen the tests.
BLIND = [

]
