// Flags of figures, and what the figures of a run show.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <regex>

#include "core/file.hpp"
#include "core/json.hpp"
#include "program.hpp"

namespace flyball::cli::test::figures_test {
namespace {

class Folder {
  public:
    Folder()
        : path_((std::filesystem::temp_directory_path() / ("flyball-figures-" + std::to_string(getpid()))).string()) {
        std::filesystem::remove_all(path_);
    }
    ~Folder() { std::filesystem::remove_all(path_); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    std::string operator/(const std::string& name) const { return path_ + "/" + name; }
    const std::string& path() const { return path_; }

  private:
    std::string path_;
};

std::string text(const Folder& folder, const std::string& name) {
    return read_text_file(folder / name, 1 << 24);
}

std::vector<std::string> all(const std::string& text, const std::string& pattern) {
    std::vector<std::string> out;
    const std::regex expression(pattern);
    for (std::sregex_iterator it(text.begin(), text.end(), expression), stop; it != stop; ++it) {
        out.push_back((*it)[1]);
    }
    return out;
}

TEST(FigureFlags, LengthsHaveUnits) {
    const Folder folder;
    // An inch has 96 pixels, 25.4 mm and 72 points: all of these are 192 by 10.5 points, 560 by 14 pixels.
    for (const char* const flags :
         {"--figure-width 148.16666mm", "--figure-width 14.816666cm", "--figure-width 5.8333333in",
          "--figure-width 420pt", "--figure-width 560px --figure-font 10.5pt",
          "--figure-width 148.16666mm --figure-font 14px"}) {
        ASSERT_EQ(run_program("theory peri-ln --samples 3 --plot " + (folder.path() + "-law.svg") + " " + flags).exit,
                  0)
            << flags;
        const std::string svg = read_text_file(folder.path() + "-law.svg", 1 << 20);
        EXPECT_NE(svg.find("viewBox=\"0 0 560 "), std::string::npos) << flags << svg.substr(0, 300);
    }
    for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(folder.path()).parent_path())) {
        if (entry.path().string().starts_with(folder.path() + "-law")) {
            std::filesystem::remove(entry.path());
        }
    }
}

TEST(FigureFlags, AreRefusedInOneSentenceBeforeTheRun) {
    const Folder folder;
    const std::string out = " --out " + (folder / "run");
    for (const std::string& flags :
         {std::string("--figure-format gif") + out, "--figure-format pdf,,png" + out, "--figure-width 84" + out,
          "--figure-width 20mm" + out, "--figure-width -84mm" + out, "--figure-width 84furlong" + out,
          "--figure-width nanmm" + out, "--figure-width 1e9px" + out, "--figure-font 0pt" + out,
          "--figure-font 1e300pt" + out, std::string("--figure-format pdf"), std::string("--no-titles"),
          "--animate --dim 4" + out, std::string("--animate --dim 3")}) {
        const Outcome outcome = run_program("simulate peri-ln --tokens 4 --time 1 --samples 2 " + flags);
        EXPECT_EQ(outcome.exit, 2) << flags;
        EXPECT_NE(outcome.err.find("expected"), std::string::npos) << flags << outcome.err;
        EXPECT_FALSE(std::filesystem::exists(folder / "run")) << flags;
    }
    EXPECT_EQ(run_program("theory peri-ln --figure-format pdf").exit, 2);
}

TEST(FigureFlags, MakeTheFiguresOfAPaper) {
    const Folder folder;
    const std::string run = "simulate post-ln peri-ln --tokens 8 --dim 3 --time 4 --samples 11 --out " + folder.path() +
                            " --figure-format png,pdf --figure-format svg --figure-width 84mm --figure-font 8pt "
                            "--no-titles --figure-panels";
    const Outcome outcome = run_program(run);
    ASSERT_EQ(outcome.exit, 0) << outcome.err;
    for (const char* const name : {"cosine", "radius", "speed", "spheres", "sphere-post-ln-1", "sphere-peri-ln-2"}) {
        for (const char* const kind : {".svg", ".png", ".pdf", ".csv"}) {
            EXPECT_TRUE(std::filesystem::exists(folder / (std::string(name) + kind))) << name << kind;
            EXPECT_NE(outcome.out.find(std::string(name) + kind), std::string::npos) << "it is listed";
        }
    }
    const std::string svg = text(folder, "cosine.svg");
    EXPECT_NE(svg.find("width=\"84mm\""), std::string::npos);
    EXPECT_EQ(svg.find(">Mean cosine between tokens</text>"), std::string::npos) << "no title";
    EXPECT_EQ(all(svg, "font-weight=\"600\">([a-z-]+)<"), (std::vector<std::string>{"post-ln", "peri-ln"})) << "panels";
    // The greek letter arrives in the PDF's own text only compressed; in the description it is plain.
    EXPECT_NE(svg.find("β = 1"), std::string::npos);
    EXPECT_EQ(svg.find("beta"), std::string::npos);
}

// A run that was killed while it was begun says how to go on, figures included.
TEST(FigureFlags, GoWithTheCommandThatTakesARunUp) {
    Outcome outcome;
    for (int seconds = 1; seconds <= 16 && outcome.err.find("--resume") == std::string::npos;
         seconds *= 2) {  // a slow machine needs longer to begin
        const Folder folder;
        outcome = run_program(
            "simulate peri-ln --tokens 3000 --dim 64 --weights gaussian --time 1e4 --rtol 1e-12 --out " +
                folder.path() +
                " --figure-format pdf,png --figure-width 84mm --figure-font 8pt --figure-panels --no-titles",
            "timeout --preserve-status -s INT " + std::to_string(seconds));
    }
    EXPECT_EQ(outcome.exit, 130);
    EXPECT_NE(outcome.err.find("--resume --figure-format pdf,png --figure-width 84mm --figure-font 8pt --figure-panels "
                               "--no-titles\n"),
              std::string::npos)
        << outcome.err;
}

TEST(Figures, ACircleIsDrawnInTwoDimensions) {
    const Folder folder;
    ASSERT_EQ(run_program("simulate peri-ln --tokens 5 --dim 2 --time 1 --samples 3 --out " + folder.path()).exit, 0);
    const std::string svg = text(folder, "circle-peri-ln.svg");
    EXPECT_EQ(all(svg, "(<circle r=)").size(), 3U);
    EXPECT_EQ(all(svg, ">t = ([0-9.]+)<"), (std::vector<std::string>{"0", "0.5", "1"}));
    // Points of the table lie on the circle, in the plane.
    for (const std::string& z : all(text(folder, "circle-peri-ln.csv"), ",([-0-9.e]+)\n")) {
        EXPECT_EQ(z, "0");
    }
}

// A picture has at most 8,000 dots (dynamics/frames.cpp).
TEST(Figures, OfManyTokensSayHowManyTheyShow) {
    const Folder folder;
    const Outcome outcome = run_program(
        "simulate pre-ln --tokens 8100 --dim 2 --layers 1 --samples 2 --precision f32 --out " + folder.path());
    ASSERT_EQ(outcome.exit, 0) << outcome.err;
    EXPECT_NE(text(folder, "circle-pre-ln.svg").find(" Shown: 8000 of 8100 tokens."), std::string::npos);
}

// One start: the first picture of every scheme is the same but for its colour.
TEST(Figures, SchemesFromOneStartAreSeenFromOneSide) {
    const Folder folder;
    ASSERT_EQ(
        run_program("simulate post-ln pre-ln --tokens 6 --dim 3 --beta 4 --time 3 --samples 4 --out " + folder.path())
            .exit,
        0);
    const auto first = [&](const char* name) {
        std::string svg = text(folder, name);
        const std::size_t begin = svg.find("<g transform");
        svg = svg.substr(begin, svg.find("t = 1") - begin);
        return std::regex_replace(svg, std::regex("#[0-9a-f]{6}|<text[^>]*>"), "");
    };
    EXPECT_EQ(first("sphere-post-ln-1.svg"), first("sphere-pre-ln-2.svg"));
    EXPECT_EQ(all(text(folder, "spheres.svg"), "class=\"t-[^>]*>([a-z-]+)<"),
              (std::vector<std::string>{"post-ln", "pre-ln"}));
}

TEST(Figures, LengthsHaveABandFromTheShortestToTheLongestToken) {
    const Folder folder;
    ASSERT_EQ(run_program("simulate pre-ln --tokens 6 --dim 5 --time 3 --samples 4 --out " + folder.path()).exit, 0);
    const std::string table = text(folder, "radius.csv");
    EXPECT_EQ(table.substr(0, table.find('\n')), "series,x,y,lo,hi");
    const Json result = parse_json(text(folder, "result.json"), "result.json");
    const auto lines = all(table, "\npre-ln,[^,]+,([^,]+),[^,]+,[^\n]+");
    const auto lows = all(table, "\npre-ln,[^,]+,[^,]+,([^,]+),[^\n]+");
    const auto highs = all(table, "\npre-ln,[^,]+,[^,]+,[^,]+,([^\n]+)");
    ASSERT_EQ(lows.size(), 4U);
    for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(std::stod(lines[i]), result["runs"][0]["radius"]["mean"][i]) << "the line in the band is the mean";
        EXPECT_EQ(std::stod(lows[i]), result["runs"][0]["radius"]["min"][i]);
        EXPECT_EQ(std::stod(highs[i]), result["runs"][0]["radius"]["max"][i]);
    }
    EXPECT_LT(std::stod(lows[3]), std::stod(lines[3]));
    EXPECT_LT(std::stod(lines[3]), std::stod(highs[3])) << "tokens that grow by different amounts";
    EXPECT_NE(text(folder, "radius.svg").find("fill-opacity=\"0.16\""), std::string::npos);
}

// Quantiles of five values by linear interpolation: 5 % is a fifth of the way from the least to the next.
TEST(Figures, SpeedsHaveABandOverSystems) {
    const Folder folder;
    const std::string run = "simulate pre-ln --tokens 6 --dim 5 --systems 5 --per-system ";
    ASSERT_EQ(run_program(run + "--time 3 --samples 4 --out " + (folder / "thin")).exit, 0);
    ASSERT_EQ(run_program(run + "--layers 4 --dt 0.5 --out " + (folder / "layers")).exit, 0);
    for (const std::string kind : {"thin", "layers"}) {
        const std::string table = text(folder, kind + "/speed.csv");
        const auto lows = all(table, "\npre-ln,[^,]+,[^,]+,([^,]+),[^\n]+");
        const auto highs = all(table, "\npre-ln,[^,]+,[^,]+,[^,]+,([^\n]+)");
        const Json result = parse_json(text(folder, kind + "/result.json"), "result.json");
        const Json& systems = result["runs"][0]["systems"]["speed"];
        // Of layers the first sample is that of the layer which the next one tells of.
        const std::size_t skipped = kind == "layers" ? 1 : 0;
        ASSERT_EQ(lows.size(), 4U) << kind;
        for (std::size_t i = 0; i < 4; ++i) {
            auto values = systems[i + (i == 0 ? 0 : skipped)].get<std::vector<double>>();
            ASSERT_EQ(values.size(), 5U);
            std::sort(values.begin(), values.end());
            EXPECT_NEAR(std::stod(lows[i]), 0.8 * values[0] + 0.2 * values[1], 1e-12) << kind << i;
            EXPECT_NEAR(std::stod(highs[i]), 0.8 * values[4] + 0.2 * values[3], 1e-12) << kind << i;
        }
        EXPECT_NE(text(folder, kind + "/speed.svg").find("fill-opacity=\"0.16\""), std::string::npos);
        EXPECT_NE(text(folder, kind + "/speed.svg").find("band: 5 % to 95 % of systems"), std::string::npos);
    }
    ASSERT_EQ(run_program("simulate pre-ln --tokens 6 --dim 5 --out " + (folder / "one")).exit, 0);
    EXPECT_EQ(text(folder, "one/speed.csv").substr(0, 11), "series,x,y\n") << "one system has no spread";
}

// The sample at t = 0 tells of the first layer, as that at t = 0.5 does: one point in the middle of the layer.
TEST(Figures, TheSpeedOfLayersStandsAtTheirMiddles) {
    const Folder folder;
    ASSERT_EQ(run_program("simulate pre-ln --tokens 6 --dim 5 --layers 4 --dt 0.5 --out " + folder.path()).exit, 0);
    EXPECT_EQ(all(text(folder, "speed.csv"), "\npre-ln,([^,]+),"),
              (std::vector<std::string>{"0.25", "0.75", "1.25", "1.75"}));
    EXPECT_EQ(all(text(folder, "cosine.csv"), "\npre-ln,([^,]+),").size(), 5U);
}

TEST(Figures, AFilmHasAFrameForEverySample) {
    const Folder folder;
    const std::string run = "simulate post-ln peri-ln --tokens 5 --dim 3 --time 2 --samples 9 --animate --out ";
    ASSERT_EQ(run_program(run + (folder / "a") + " --figure-format png --figure-width 400px").exit, 0);
    const std::string film = text(folder, "a/film.svg");
    EXPECT_EQ(all(film, ">t = ([0-9.]+)<").size(), 9U);
    EXPECT_TRUE(std::filesystem::exists(folder / "a/film-0009.png"));
    EXPECT_FALSE(std::filesystem::exists(folder / "a/film-0010.png"));
    EXPECT_EQ(all(text(folder, "a/sphere-post-ln-1.csv"), "\n([^,]+),0,").size(), 6U);
    // The configuration knows of the film.
    ASSERT_EQ(
        run_program("simulate --config " + (folder / "a/config.toml") + " --figure-width 400px --out " + (folder / "b"))
            .exit,
        0);
    EXPECT_EQ(text(folder, "b/film.svg"), film);
}

TEST(Figures, TokensOnTheCircleHaveAFilmToo) {
    const Folder folder;
    const Outcome outcome =
        run_program("simulate peri-ln --tokens 4 --dim 2 --time 1 --samples 3 --animate --out " + (folder / "run"));
    ASSERT_EQ(outcome.exit, 0) << outcome.err;
    EXPECT_EQ(all(text(folder, "run/film.svg"), ">t = ([0-9.]+)<"), (std::vector<std::string>{"0", "0.5", "1"}));
}

}  // namespace
}  // namespace flyball::cli::test::figures_test
