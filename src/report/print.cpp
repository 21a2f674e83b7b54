#include "report/print.hpp"

#include <cairo-pdf.h>
#include <cairo.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <librsvg/rsvg.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <memory>
#include <mutex>

#include "core/error.hpp"
#include "core/number.hpp"
#include "report/png.hpp"
#include "report/svg.hpp"

#if defined(__SANITIZE_ADDRESS__)
#define FLYBALL_COUNTS_LEAKS
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FLYBALL_COUNTS_LEAKS
#endif
#endif

#ifdef FLYBALL_COUNTS_LEAKS
// fontconfig and pango keep tables until the process ends, which LeakSanitizer would count as lost.
extern "C" const char* __lsan_default_suppressions() {  // NOLINT: the sanitizer's own name
    return "leak:libfontconfig\nleak:libpango\nleak:libglib\nleak:libgobject\nleak:librsvg\n";
}
#endif

namespace flyball::report {
namespace {

constexpr double dots_per_inch = 300;  // of paper
constexpr double css_per_inch = 96;
constexpr double points_per_px = 72 / css_per_inch;
constexpr double largest_side = 20000;  // dots of a PNG: 1.6 GB at most

// The functions we call, by their own declarations.
struct Library {
    decltype(&rsvg_handle_new_from_data) open = nullptr;
    decltype(&rsvg_handle_set_dpi) set_dpi = nullptr;
    decltype(&rsvg_handle_get_intrinsic_size_in_pixels) size_of = nullptr;
    decltype(&rsvg_handle_render_document) render = nullptr;
    decltype(&g_object_unref) close = nullptr;
    decltype(&cairo_image_surface_create) new_image = nullptr;
    decltype(&cairo_surface_flush) flush = nullptr;
    decltype(&cairo_image_surface_get_data) data_of = nullptr;
    decltype(&cairo_image_surface_get_stride) stride_of = nullptr;
    Zlib zlib;
    decltype(&cairo_pdf_surface_create_for_stream) new_pdf = nullptr;
    decltype(&cairo_pdf_surface_set_metadata) say = nullptr;
    decltype(&cairo_surface_status) status = nullptr;
    decltype(&cairo_surface_finish) finish = nullptr;
    decltype(&cairo_surface_destroy) destroy_surface = nullptr;
    decltype(&cairo_create) new_context = nullptr;
    decltype(&cairo_show_page) show_page = nullptr;
    decltype(&cairo_destroy) destroy_context = nullptr;
    bool complete = false;
};

Library load() {
    Library library;
    bool all = true;
    const auto find = [&all](void* from, const char* name, auto& function) {
        void* const found = from == nullptr ? nullptr : dlsym(from, name);
        function = reinterpret_cast<std::decay_t<decltype(function)>>(found);
        all = all && found != nullptr;
    };
    // Never closed: their own threads and tables live until the end.
    void* const rsvg = dlopen("librsvg-2.so.2", RTLD_NOW | RTLD_LOCAL);
    void* const cairo = dlopen("libcairo.so.2", RTLD_NOW | RTLD_LOCAL);
    find(rsvg, "rsvg_handle_new_from_data", library.open);
    find(rsvg, "rsvg_handle_set_dpi", library.set_dpi);
    find(rsvg, "rsvg_handle_get_intrinsic_size_in_pixels", library.size_of);
    find(rsvg, "rsvg_handle_render_document", library.render);
    find(rsvg, "g_object_unref", library.close);  // dlsym looks into what librsvg itself needs
    find(cairo, "cairo_image_surface_create", library.new_image);
    find(cairo, "cairo_surface_flush", library.flush);
    find(cairo, "cairo_image_surface_get_data", library.data_of);
    find(cairo, "cairo_image_surface_get_stride", library.stride_of);
    find(cairo, "compress2", library.zlib.pack);  // of the zlib that Cairo itself needs
    find(cairo, "compressBound", library.zlib.bound);
    find(cairo, "crc32", library.zlib.check);
    find(cairo, "cairo_pdf_surface_create_for_stream", library.new_pdf);
    find(cairo, "cairo_pdf_surface_set_metadata", library.say);
    find(cairo, "cairo_surface_status", library.status);
    find(cairo, "cairo_surface_finish", library.finish);
    find(cairo, "cairo_surface_destroy", library.destroy_surface);
    find(cairo, "cairo_create", library.new_context);
    find(cairo, "cairo_show_page", library.show_page);
    find(cairo, "cairo_destroy", library.destroy_context);
    library.complete = all;
    return library;
}

const Library& library() {
    static const Library loaded = load();
    return loaded;
}

[[noreturn]] void cannot_print(std::string_view got) {
    throw Error(ErrorKind::resource, "report.print", got, "a picture drawn by librsvg and Cairo",
                "install librsvg2-2, or take SVG alone");
}

cairo_status_t append(void* to, const unsigned char* data, unsigned int length) {
    static_cast<std::string*>(to)->append(reinterpret_cast<const char*>(data), length);
    return CAIRO_STATUS_SUCCESS;
}

double dots_per_px(const Sheet& sheet) {
    return sheet.width_px ? 1 : sheet.width_mm ? dots_per_inch / css_per_inch : 2;
}

// The title, as our own svg has it; the bytes of a PDF must not depend on the clock.
void describe(const Library& use, cairo_surface_t* pdf, const std::string& svg) {
    const std::size_t begin = svg.find("<title>");
    const std::size_t end = svg.find("</title>");
    if (begin != std::string::npos && end != std::string::npos) {
        use.say(pdf, CAIRO_PDF_METADATA_TITLE, unescaped(svg.substr(begin + 7, end - begin - 7)).c_str());
    }
    use.say(pdf, CAIRO_PDF_METADATA_CREATOR, "flyball");
    use.say(pdf, CAIRO_PDF_METADATA_CREATE_DATE, "2000-01-01T00:00:00Z");
}

}  // namespace

std::string_view ending(Format format) {
    return format == Format::svg ? "svg" : format == Format::pdf ? "pdf" : "png";
}

void check_sheet(const Sheet& sheet) {
    constexpr double narrowest = 200;  // units: less has no room for axis and numbers
    const double width = Page::width_on(sheet);
    const bool prints =
        std::any_of(sheet.formats.begin(), sheet.formats.end(), [](Format format) { return format != Format::svg; });
    if (!(sheet.font_px >= 2 && sheet.font_px <= 200)) {
        throw Error(ErrorKind::usage, "report.sheet", setting("figure-font", fmt::format("{:.3g}px", sheet.font_px)),
                    "letters of 2 to 200 pixels", "8pt is usual in a column of a paper");
    }
    if (!(width >= narrowest)) {
        const double least = narrowest * sheet.font_px / Sheet::usual_font;
        throw Error(
            ErrorKind::usage, "report.sheet",
            sheet.width_mm ? setting("figure-width", format_double(*sheet.width_mm) + "mm")
                           : setting("figure-width", format_double(sheet.width_px.value_or(0)) + "px"),
            fmt::format("at least {:.0f}mm or {:.0f}px for letters of {:.3g} points",
                        std::ceil(least * 25.4 / css_per_inch), std::ceil(least), sheet.font_px * points_per_px),
            "take smaller letters or a wider figure");
    }
    if (!(width * sheet.font_px / Sheet::usual_font * dots_per_px(sheet) <= largest_side)) {
        throw Error(ErrorKind::usage, "report.sheet",
                    sheet.width_mm ? setting("figure-width", format_double(*sheet.width_mm) + "mm")
                                   : setting("figure-width", format_double(sheet.width_px.value_or(0)) + "px"),
                    fmt::format("at most {:.0f} dots", largest_side));
    }
    if (prints && !library().complete) {
        cannot_print("a PDF or PNG to write");
    }
}

std::string printed(const std::string& svg, Format format, const Sheet& sheet) {
    assert(format != Format::svg);
    const Library& use = library();
    if (!use.complete) {
        cannot_print("a PDF or PNG to write");
    }
    // Claims and films are drawn by several threads. Fonts and their tables are shared, so that one draws at a time; what
    // takes most of the time, packing a PNG, looks at its own surface alone.
    static std::mutex one_at_a_time;
    std::unique_lock<std::mutex> lock(one_at_a_time);
    std::unique_ptr<RsvgHandle, decltype(use.close)> picture(
        use.open(reinterpret_cast<const guint8*>(svg.data()), svg.size(), nullptr), use.close);
    double width = 0;
    double height = 0;
    if (picture == nullptr) {
        cannot_print("a figure that librsvg does not read");
    }
    use.set_dpi(picture.get(), css_per_inch);
    use.size_of(picture.get(), &width, &height);
    const double scale = format == Format::pdf ? points_per_px : dots_per_px(sheet);
    const std::array<double, 2> sides = {width * scale, height * scale};
    if (!(std::max(sides[0], sides[1]) <= largest_side)) {
        cannot_print(fmt::format("a picture of {:.0f} x {:.0f} dots", sides[0], sides[1]));
    }
    std::string bytes;
    const std::unique_ptr<cairo_surface_t, decltype(use.destroy_surface)> surface(
        format == Format::pdf ? use.new_pdf(append, &bytes, sides[0], sides[1])
                              : use.new_image(CAIRO_FORMAT_ARGB32, static_cast<int>(std::lround(sides[0])),
                                              static_cast<int>(std::lround(sides[1]))),
        use.destroy_surface);
    if (format == Format::pdf) {
        describe(use, surface.get(), svg);
    }
    const RsvgRectangle viewport{0, 0, sides[0], sides[1]};
    bool drawn = false;
    {
        const std::unique_ptr<cairo_t, decltype(use.destroy_context)> context(use.new_context(surface.get()),
                                                                              use.destroy_context);
        drawn = use.render(picture.get(), context.get(), &viewport, nullptr) != 0;
        if (format == Format::pdf) {
            use.show_page(context.get());
        }
    }
    picture.reset();  // under the lock: its fonts are the shared ones
    if (format == Format::png) {
        lock.unlock();
        use.flush(surface.get());
        if (const unsigned char* const data = use.data_of(surface.get()); drawn && data != nullptr) {
            bytes = png_bytes(
                {data, static_cast<std::size_t>(std::lround(sides[0])), static_cast<std::size_t>(std::lround(sides[1])),
                 static_cast<std::size_t>(use.stride_of(surface.get()))},
                use.zlib);
        }
        drawn = drawn && !bytes.empty();
    }
    use.finish(surface.get());
    if (!drawn || use.status(surface.get()) != CAIRO_STATUS_SUCCESS) {
        cannot_print("a figure that Cairo could not draw");
    }
    return bytes;
}

}  // namespace flyball::report
