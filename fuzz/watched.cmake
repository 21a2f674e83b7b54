# What libFuzzer watches: the code that decides what becomes of an input. Watching costs a call at every comparison, so the
# numerical code, where the sanitizers' tests spend their time, goes without (docs/decisions/0028).
set(FLYBALL_WATCH -fsanitize-coverage=inline-8bit-counters,indirect-calls,trace-cmp,pc-table)
string(CONCAT FLYBALL_WATCHED
  "^core/(config|json|safetensors)[^/]*\\.cpp$|^core/(number|utf8)\\.cpp$"
  "|^scheme/(checker|expression|lexer|limit|lower|parser[^/]*|printer|program|syntax_error|typing)\\.cpp$"
  "|^model/([^/]*config[^/]*|architecture|family|layout|native)\\.cpp$|^tokenizer/")
