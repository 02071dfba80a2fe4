#pragma once

#include <string>
#include <vector>

namespace espalier {

/// Names of a classifier's outputs, by index. `path` is a text file with one name a line, a JSON list of
/// names, or a JSON object from index to name (the name may be a list: its last entry counts). With
/// `names_path`, a JSON object from what `path` gives to what is shown: Pl@ntNet-300K's
/// class_idx_to_species_id.json and plantnet300K_species_id_2_name.json are read as they are. InputError
/// names the file and the entry.
std::vector<std::string> read_labels(const std::string& path, const std::string& names_path = {});

/// "class 0", "class 1", ... for a model without names.
std::vector<std::string> numbered_labels(std::size_t count);

/// InputError when there are not exactly as many labels as outputs.
void require_label_count(const std::vector<std::string>& labels, std::size_t outputs,
                         const std::string& path);

}  // namespace espalier
