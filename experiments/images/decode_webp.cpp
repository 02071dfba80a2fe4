#include <fmt/format.h>
#include <memory>
#include <webp/decode.h>
#include <webp/demux.h>

#include "experiments/images/decode_formats.hpp"
#include "graphs/base/error.hpp"

namespace espalier {
namespace {

using Demuxer = std::unique_ptr<WebPDemuxer, decltype(&WebPDemuxDelete)>;

/// The still image, or the first frame of an animation drawn on its canvas.
std::string_view first_frame(WebPDemuxer* demuxer, std::string_view all, bool animated,
                             const std::string& name) {
  if (!animated) return all;
  WebPIterator frame;
  if (WebPDemuxGetFrame(demuxer, 1, &frame) == 0)
    throw InputError(fmt::format("{}: damaged WebP: it has no frame", name));
  const std::string_view bytes(reinterpret_cast<const char*>(frame.fragment.bytes), frame.fragment.size);
  WebPDemuxReleaseIterator(&frame);
  return bytes;
}

int find_orientation(WebPDemuxer* demuxer) {
  WebPChunkIterator chunk;
  int orientation = 1;
  if (WebPDemuxGetChunk(demuxer, "EXIF", 1, &chunk) != 0)
    orientation = exif_orientation({reinterpret_cast<const char*>(chunk.chunk.bytes), chunk.chunk.size});
  WebPDemuxReleaseChunkIterator(&chunk);
  return orientation;
}

}  // namespace

Decoded decode_webp(std::string_view bytes, const std::string& name, const DecodeOptions& options) {
  const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
  WebPBitstreamFeatures features;
  if (WebPGetFeatures(data, bytes.size(), &features) != VP8_STATUS_OK)
    throw InputError(fmt::format("{}: damaged WebP: unreadable header", name));
  check_image_size(features.width, features.height, name, options);
  const WebPData whole{data, bytes.size()};
  const Demuxer demuxer(WebPDemux(&whole), &WebPDemuxDelete);
  if (demuxer == nullptr) throw InputError(fmt::format("{}: truncated or damaged WebP", name));
  const std::string_view frame = first_frame(demuxer.get(), bytes, features.has_animation != 0, name);
  const auto* frame_data = reinterpret_cast<const std::uint8_t*>(frame.data());
  int width = 0, height = 0;
  if (WebPGetInfo(frame_data, frame.size(), &width, &height) == 0)
    throw InputError(fmt::format("{}: damaged WebP: unreadable frame", name));
  check_image_size(width, height, name, options);
  Decoded out{{width, height, std::vector<std::uint8_t>(std::size_t{3} * width * height)},
              find_orientation(demuxer.get())};
  if (WebPDecodeRGBInto(frame_data, frame.size(), out.image.rgb.data(), out.image.rgb.size(), 3 * width) ==
      nullptr)
    throw InputError(fmt::format("{}: truncated or damaged WebP", name));
  return out;
}

}  // namespace espalier
