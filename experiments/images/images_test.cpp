#include <cmath>
#include <cstdio>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <jpeglib.h>
#include <png.h>
#include <random>
#include <webp/encode.h>

#include "experiments/images/decode_formats.hpp"
#include "experiments/images/preprocess.hpp"
#include "experiments/images/resample.hpp"
#include "experiments/images/walk.hpp"
#include "graphs/base/error.hpp"
#include "graphs/base/file_io.hpp"

namespace espalier {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Image smooth_image(int width, int height) {
  Image image{width, height, std::vector<std::uint8_t>(std::size_t{3} * width * height)};
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (int c = 0; c < 3; ++c)
        image.rgb[(static_cast<std::size_t>(y) * width + x) * 3 + c] =
            static_cast<std::uint8_t>(127 + 100 * std::sin(0.05 * x * (c + 1)) * std::cos(0.04 * y));
  return image;
}

std::string jpeg_bytes(const std::vector<std::uint8_t>& pixels, int width, int height, J_COLOR_SPACE space,
                       bool progressive = false) {
  jpeg_compress_struct info{};
  jpeg_error_mgr errors;
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* buffer = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &buffer, &size);
  info.image_width = static_cast<JDIMENSION>(width);
  info.image_height = static_cast<JDIMENSION>(height);
  info.input_components = space == JCS_CMYK ? 4 : space == JCS_GRAYSCALE ? 1 : 3;
  info.in_color_space = space;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, 98, TRUE);
  if (progressive) jpeg_simple_progression(&info);
  jpeg_start_compress(&info, TRUE);
  while (info.next_scanline < info.image_height) {
    auto* row = const_cast<unsigned char*>(pixels.data() + std::size_t{1} * info.next_scanline * width *
                                                               info.input_components);
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  std::string bytes(reinterpret_cast<char*>(buffer), size);
  jpeg_destroy_compress(&info);
  std::free(buffer);
  return bytes;
}

std::string png_bytes(const std::vector<std::uint8_t>& pixels, int width, int height, int color, int depth) {
  std::string bytes;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  png_set_write_fn(
      png, &bytes,
      [](png_structp p, png_bytep data, png_size_t n) {
        static_cast<std::string*>(png_get_io_ptr(p))->append(reinterpret_cast<char*>(data), n);
      },
      nullptr);
  png_set_IHDR(png, info, width, height, depth, color, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  png_write_info(png, info);
  const std::size_t row = png_get_rowbytes(png, info);
  for (int y = 0; y < height; ++y) png_write_row(png, const_cast<png_bytep>(pixels.data() + row * y));
  png_write_end(png, info);
  png_destroy_write_struct(&png, &info);
  return bytes;
}

std::string webp_bytes(const Image& image) {
  std::uint8_t* out = nullptr;
  const std::size_t n =
      WebPEncodeLosslessRGB(image.rgb.data(), image.width, image.height, 3 * image.width, &out);
  std::string bytes(reinterpret_cast<char*>(out), n);
  WebPFree(out);
  return bytes;
}

int largest_difference(const Image& a, const Image& b) {
  EXPECT_EQ(a.width, b.width);
  EXPECT_EQ(a.height, b.height);
  if (a.rgb.size() != b.rgb.size()) return 255;
  int most = 0;
  for (std::size_t i = 0; i < a.rgb.size(); ++i) most = std::max(most, std::abs(a.rgb[i] - b.rgb[i]));
  return most;
}

template <class F>
std::string input_error(F&& f) {
  try {
    f();
  } catch (const InputError& e) {
    return e.what();
  }
  return "no error";
}

TEST(DecodeImage, LosslessFormatsGiveThePixels) {
  const Image image = smooth_image(37, 23);
  EXPECT_EQ(
      largest_difference(decode_image(png_bytes(image.rgb, 37, 23, PNG_COLOR_TYPE_RGB, 8), "a.png"), image),
      0);
  EXPECT_EQ(largest_difference(decode_image(webp_bytes(image), "a.webp"), image), 0);
}

TEST(DecodeImage, JpegIsCloseAndProgressiveIsServed) {
  const Image image = smooth_image(64, 48);
  EXPECT_LE(largest_difference(decode_image(jpeg_bytes(image.rgb, 64, 48, JCS_RGB), "a.jpg"), image), 12);
  EXPECT_LE(largest_difference(decode_image(jpeg_bytes(image.rgb, 64, 48, JCS_RGB, true), "a.jpg"), image),
            12);
}

TEST(DecodeImage, GreyIsRepeatedAndAlphaIsDropped) {
  EXPECT_THAT(decode_image(png_bytes({7, 200}, 2, 1, PNG_COLOR_TYPE_GRAY, 8), "g").rgb,
              ElementsAre(7, 7, 7, 200, 200, 200));
  EXPECT_THAT(decode_image(png_bytes({1, 2, 3, 0, 4, 5, 6, 128}, 2, 1, PNG_COLOR_TYPE_RGB_ALPHA, 8), "a").rgb,
              ElementsAre(1, 2, 3, 4, 5, 6));
  // 16 bit: 0xff00 is 65280, times 255 / 65535 = 254.0
  EXPECT_THAT(decode_image(png_bytes({0xff, 0x00}, 1, 1, PNG_COLOR_TYPE_GRAY, 16), "s").rgb,
              ElementsAre(254, 254, 254));
  EXPECT_EQ(decode_image(jpeg_bytes(std::vector<std::uint8_t>(64, 90), 8, 8, JCS_GRAYSCALE), "g").rgb[5], 90);
}

TEST(DecodeImage, CmykIsConvertedAsPhotoshopStoresIt) {
  // stored inverted: C = M = Y = 255 - 200, K = 255 - 128, so each of R, G, B is 200 * 128 / 255 = 100.4
  std::vector<std::uint8_t> pixels;
  for (int i = 0; i < 64; ++i) pixels.insert(pixels.end(), {200, 200, 200, 128});
  const Image image = decode_image(jpeg_bytes(pixels, 8, 8, JCS_CMYK), "c.jpg");
  EXPECT_NEAR(image.rgb[0], 100, 2);
}

TEST(DecodeImage, BadContentIsNamed) {
  const std::string good = jpeg_bytes(smooth_image(64, 64).rgb, 64, 64, JCS_RGB);
  EXPECT_THAT(input_error([&] { decode_image("", "zero.jpg"); }), HasSubstr("zero.jpg: the file is empty"));
  EXPECT_THAT(input_error([&] { decode_image("hello", "text.jpg"); }), HasSubstr("text.jpg: not an image"));
  EXPECT_THAT(input_error([&] { decode_image(good.substr(0, good.size() / 2), "half.jpg"); }),
              HasSubstr("half.jpg: truncated JPEG"));
  const Image image = smooth_image(64, 64);
  const std::string png = png_bytes(image.rgb, 64, 64, PNG_COLOR_TYPE_RGB, 8), webp = webp_bytes(image);
  EXPECT_THAT(input_error([&] { decode_image(png.substr(0, png.size() / 2), "half.png"); }),
              HasSubstr("half.png: damaged PNG"));
  EXPECT_THAT(input_error([&] { decode_image(webp.substr(0, webp.size() / 2), "half.webp"); }),
              HasSubstr("half.webp: truncated"));
  EXPECT_THAT(input_error([&] {
                decode_image(good, "big.jpg", {1000, false});
              }),
              HasSubstr("64 x 64 pixels, at most 1000"));
}

TEST(DecodeImage, EveryPrefixAndSingleByteFaultIsAnErrorOrAnImage) {
  std::mt19937 random(1);
  const Image image = smooth_image(24, 24);
  for (const std::string& good : {jpeg_bytes(image.rgb, 24, 24, JCS_RGB, true),
                                  png_bytes(image.rgb, 24, 24, PNG_COLOR_TYPE_RGB, 8), webp_bytes(image)})
    for (int i = 0; i < 200; ++i) {
      std::string bad = good;
      bad[random() % bad.size()] = static_cast<char>(random());
      if (i % 3 == 0) bad.resize(random() % bad.size());
      try {
        decode_image(bad, "fault", {1'000'000, true});
      } catch (const InputError&) {
      }
    }
}

TEST(Exif, OrientationIsReadInBothByteOrdersAndApplied) {
  const std::string little("II\x2a\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0", 26);
  const std::string big("MM\0\x2a\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x08\0\0\0\0\0\0", 26);
  EXPECT_EQ(exif_orientation(little), 6);
  EXPECT_EQ(exif_orientation(std::string("Exif\0\0", 6) + big), 8);
  EXPECT_EQ(exif_orientation(little.substr(0, 12)), 1);
  // two pixels side by side, A B; 6 turns clockwise: A above B; 8 anticlockwise: B above A
  const Image pair{2, 1, {1, 1, 1, 2, 2, 2}};
  EXPECT_THAT(apply_orientation(pair, 6).rgb, ElementsAre(1, 1, 1, 2, 2, 2));
  EXPECT_THAT(apply_orientation(pair, 8).rgb, ElementsAre(2, 2, 2, 1, 1, 1));
  EXPECT_EQ(apply_orientation(pair, 6).height, 2);
  EXPECT_THAT(apply_orientation(pair, 2).rgb, ElementsAre(2, 2, 2, 1, 1, 1));
  EXPECT_THAT(apply_orientation(pair, 4).rgb, ElementsAre(1, 1, 1, 2, 2, 2));
}

/// The triangle filter as Pillow defines it, in double precision and rounded between the two passes as Pillow
/// does.
Image pillow_bilinear(const Image& in, int width, int height) {
  const auto pass = [](const Image& image, int out_width) {
    Image out{out_width, image.height, std::vector<std::uint8_t>(std::size_t{3} * out_width * image.height)};
    const double scale = static_cast<double>(image.width) / out_width, widen = std::max(scale, 1.0);
    for (int x = 0; x < out_width; ++x) {
      const double centre = (x + 0.5) * scale;
      const int first = std::max(0, static_cast<int>(centre - widen + 0.5)),
                last = std::min(image.width, static_cast<int>(centre + widen + 0.5));
      for (int y = 0; y < image.height; ++y)
        for (int c = 0; c < 3; ++c) {
          double sum = 0, total = 0;
          for (int i = first; i < last; ++i) {
            const double w = std::max(0.0, 1 - std::fabs((i - centre + 0.5) / widen));
            sum += w * image.rgb[(static_cast<std::size_t>(y) * image.width + i) * 3 + c];
            total += w;
          }
          out.rgb[(static_cast<std::size_t>(y) * out_width + x) * 3 + c] =
              static_cast<std::uint8_t>(std::lround(sum / total));
        }
    }
    return out;
  };
  const auto transpose = [](const Image& image) {
    Image out{image.height, image.width, std::vector<std::uint8_t>(image.rgb.size())};
    for (int y = 0; y < image.height; ++y)
      for (int x = 0; x < image.width; ++x)
        for (int c = 0; c < 3; ++c)
          out.rgb[(static_cast<std::size_t>(x) * image.height + y) * 3 + c] =
              image.rgb[(static_cast<std::size_t>(y) * image.width + x) * 3 + c];
    return out;
  };
  return transpose(pass(transpose(pass(in, width)), height));
}

TEST(Resize, MatchesPillowWithinOneGreyLevel) {
  std::mt19937 random(7);
  for (const auto& [width, height, shorter] :
       {std::array{640, 427, 256}, {333, 500, 224}, {100, 80, 256}, {1013, 769, 64}, {41, 300, 41}}) {
    Image image{width, height, std::vector<std::uint8_t>(std::size_t{3} * width * height)};
    for (auto& p : image.rgb) p = static_cast<std::uint8_t>(random());
    const Size size = size_with_shorter_side(image, shorter);
    const Image out = resample(image, size, {0, 0, size.width, size.height});
    // the longer side: floor(shorter * long / short), as torchvision
    EXPECT_EQ(std::max(out.width, out.height), shorter * std::max(width, height) / std::min(width, height));
    EXPECT_LE(largest_difference(out, pillow_bilinear(image, out.width, out.height)), 1)
        << width << "x" << height << " to " << shorter;
    // a part is that part of the whole
    const Image part = resample(image, size, {1, 2, 20, 10});
    EXPECT_EQ(part.rgb[0], out.rgb[(std::size_t{2} * out.width + 1) * 3]);
    EXPECT_EQ(part.rgb.back(), out.rgb[(std::size_t{11} * out.width + 20) * 3 + 2]);
  }
}

TEST(Preprocess, CropsTheCentreAndNormalises) {
  Image image{6, 4, std::vector<std::uint8_t>(72)};
  for (std::size_t i = 0; i < 72; ++i) image.rgb[i] = static_cast<std::uint8_t>(i);
  Preprocessing p{4, 2, 1.0, {1, 2, 3}, {2, 2, 2}, false};
  float out[12];
  preprocess(image, p, out);
  // no resize; top = (4-2)/2 = 1, left = (6-2)/2 = 2: pixel (1, 2) starts at (1*6+2)*3 = 24: (24-1)/2,
  // (25-2)/2, (26-3)/2
  EXPECT_FLOAT_EQ(out[0], 11.5F);
  EXPECT_FLOAT_EQ(out[1], 11.5F);
  EXPECT_FLOAT_EQ(out[3], 13.0F);
  p.bgr = true;
  preprocess(image, p, out);
  EXPECT_FLOAT_EQ(out[0], 12.5F);  // (26 - 1) / 2
}

TEST(Preprocess, FilesAreCheckedByLine) {
  const std::string path = ::testing::TempDir() + "preprocess.yaml";
  const auto error = [&](const char* text) {
    write_file(path, text);
    return input_error([&] { preprocessing_named(path); });
  };
  EXPECT_THAT(error("resize: 232\ncrop: abc\n"), HasSubstr(":2: crop must be a whole number"));
  EXPECT_THAT(error("mean: [1, 2]\n"), HasSubstr(":1: mean must have three numbers, it has 2"));
  EXPECT_THAT(error("crop: 224\nfoo: 1\n"), HasSubstr(":2: unknown key foo; known are resize, crop"));
  EXPECT_THAT(error("std: [0, 1, 1]\n"), HasSubstr("std must not be 0"));
  EXPECT_THAT(error("a: [\n"), HasSubstr("not YAML"));
  write_file(path, "resize: 232\ncrop: 224\nmean: [0.5, 0.5, 0.5]\nchannels: bgr\n");
  EXPECT_EQ(preprocessing_named(path).resize, 232);
  EXPECT_TRUE(preprocessing_named(path).bgr);
  EXPECT_THAT(input_error([] { preprocessing_named("nonsense"); }),
              HasSubstr("known are imagenet, plantnet300k"));
  EXPECT_THAT(input_error([] {
                resolve({0, 100, 1, {}, {1, 1, 1}, false}, 224, 224);
              }),
              HasSubstr("crops to 100 x 100"));
  EXPECT_EQ(resolve({}, 224, 224).resize, 256);  // 224 / 0.875
}

TEST(FindImages, WalksInOrderAndNamesWhatIsMissing) {
  const std::filesystem::path root = ::testing::TempDir() + "walk";
  std::filesystem::remove_all(root);
  std::filesystem::create_directories(root / "b");
  for (const char* name : {"c.PNG", "a.jpg", "b/x.webp", "notes.txt"}) std::ofstream(root / name) << "x";
  std::filesystem::create_directory_symlink(root, root / "b" / "loop");
  const ImageList list = find_images({root.string()});
  EXPECT_THAT(list.files, ElementsAre(root / "a.jpg", root / "b/x.webp", root / "c.PNG"));
  EXPECT_THAT(input_error([] { find_images({"/no/such/folder"}); }),
              HasSubstr("/no/such/folder: no such file"));
  std::filesystem::remove_all(root);
  std::filesystem::create_directories(root);
  EXPECT_THAT(input_error([&] { find_images({root.string()}); }), HasSubstr("no image in"));
}

}  // namespace
}  // namespace espalier
