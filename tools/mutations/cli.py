"""Mistakes planted in src/cli; tools/mutations.py says how."""

# Written by someone who knew the tests.
KNOWN = [
    ("theory-json-radius-is-gamma", "src/cli/theory_output.cpp",
     'row["radius"] = column(run.points, [](const Point& p) { return p.radius; });',
     'row["radius"] = column(run.points, [](const Point& p) { return p.gamma; });'),
    ("theory-json-rate-is-p", "src/cli/theory_output.cpp",
     '{"rate", or_null(law.rate)}', '{"rate", or_null(law.p)}'),
    ("reproduce-json-verdict-is-the-recorded-one", "src/cli/reproduce_output.cpp",
     'row["verdict"] = claims::name(result.measurement.verdict);',
     'row["verdict"] = claims::name(result.claim.expected);'),
    ("trajectory-of-directions", "src/cli/simulate_folder.cpp",
     "{sample.t, particles.x(), particles.theta()}", "{sample.t, particles.theta(), particles.x()}"),
    ("radius-figure-shows-largest", "src/cli/simulate_figures.cpp",
     '"mean |x|", [](const Sample& s) { return s.radius; }',
     '"mean |x|", [](const Sample& s) { return s.radius_max; }'),
]

# Written by someone who had not seen the tests.
BLIND = [
    ("json-hides-bad-verdict", "src/cli/reproduce_command.cpp",
     "return good ? ExitCode::done", "return (good || flags.json) ? ExitCode::done"),
    ("hidden-states-one-layer-early", "src/cli/forward_command.cpp",
     'numbered("hidden", view.layer + 1)', 'numbered("hidden", view.layer)'),
    ("stretched-prefactor-exponent", "src/cli/theory_output.cpp",
     "number(*law.p - 1)", "number(*law.p)"),
    ("claims-csv-predicted-measured-swapped", "src/cli/reproduce_folder.cpp",
     "csv_cell(result.measurement.predicted), csv_cell(result.measurement.measured)",
     "csv_cell(result.measurement.measured), csv_cell(result.measurement.predicted)"),
    ("config-misses-flags-with-equals", "src/cli/commands.cpp",
     'return argument == flag || argument.rfind(flag + "=", 0) == 0;', "return argument == flag;"),
    ("schemes-json-plane-is-ode", "src/cli/schemes_page.cpp",
     '{"plane", has_law(scheme)}', '{"plane", has_limit(scheme)}'),
    ("resume-numbers-samples-from-zero", "src/cli/simulate_command.cpp",
     "std::size_t index = from ? from->next_sample : 0;", "std::size_t index = 0;"),
]
