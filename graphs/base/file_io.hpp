#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace espalier {

/// The whole file as bytes. InputError names the path and the reason (missing, a folder, unreadable, larger
/// than `max_bytes`).
std::string read_file(const std::filesystem::path& path, std::size_t max_bytes = std::size_t{8} << 30);

/// The file that a new one is renamed onto when it is to be found under `path`: that behind a symbolic link.
/// Empty when what is there is no regular file (a device, a pipe): it is written in place, never replaced.
std::filesystem::path rename_target(const std::filesystem::path& path);

/// Writes to a temporary name in the same folder, then renames: a reader sees the old file or the whole new
/// one (see rename_target). Throws InputError when the folder is missing or not writable, DeviceError when
/// the disk is full.
void write_file(const std::filesystem::path& path, std::string_view content);

}  // namespace espalier
