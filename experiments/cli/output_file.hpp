#pragma once

#include <cstdio>
#include <string>

namespace espalier {

/// A file that is written line by line and gets its name when it is complete; standard output for an empty
/// path. What is no regular file (a pipe, /dev/stdout) is written in place.
class OutputFile {
 public:
  /// InputError when it cannot be made.
  explicit OutputFile(const std::string& path);
  /// Without finish() nothing is left.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  std::FILE* stream() const { return file_; }
  /// DeviceError when not everything could be written.
  void finish();

 private:
  std::string path_, temporary_;  ///< temporary_: empty when written in place
  std::FILE* file_;
};

/// Flushes; DeviceError naming `what` ("standard output", a file) when it or an earlier write failed.
void flush_or_fail(std::FILE* file, const std::string& what);

}  // namespace espalier
