#include <filesystem>
#include <fmt/format.h>
#include <memory>

#include "experiments/classify/classify.hpp"
#include "experiments/classify/labels.hpp"
#include "experiments/cli/command_list.hpp"
#include "experiments/cli/interrupt.hpp"
#include "experiments/cli/number.hpp"
#include "experiments/cli/output_file.hpp"
#include "experiments/cli/progress_bar.hpp"
#include "experiments/cli/starpu_policy.hpp"
#include "graphs/base/error.hpp"
#include "layers/layer_list.hpp"

namespace espalier {
namespace {

struct Options {
  std::string model, network, weights, labels, names, preprocess, format = "text", output, group_by;
  std::string scheduler = fmt::format("starpu:{}", starpu::kDefaultPolicy);
  std::vector<std::string> images;
  int top = 5;
  double reject = 0;
  std::int64_t micro_batch = 0;
  std::int64_t max_pixels = DecodeOptions{}.max_pixels;
  unsigned cores = 0;
  bool exif = false, bf16 = false, quiet = false;
};

Classifier load(const Options& o) {
  if (o.model.empty() == o.network.empty())
    throw InputError("one of --model FILE.onnx and --network NAME is needed");
  if (!o.model.empty()) {
    if (!o.weights.empty()) throw InputError("--weights belongs to --network; an ONNX model brings its own");
    return classifier_from_onnx(o.model, all_layers());
  }
  if (o.weights.empty())
    throw InputError(
        fmt::format("--network {} needs --weights FILE (safetensors or a PyTorch checkpoint)", o.network));
  return classifier_from_network(o.network, o.weights, all_layers());
}

/// What was asked for, else what the network expects.
Preprocessing preprocessing_for(const Options& o, const Classifier& classifier) {
  return resolve(o.preprocess.empty() ? classifier.preprocessing : preprocessing_named(o.preprocess),
                 classifier.height, classifier.width);
}

void print_summary(const ClassifySummary& s) {
  const double rate = s.seconds > 0 ? static_cast<double>(s.classified + s.skipped) / s.seconds : 0;
  fmt::print(stderr, "{} images in {:.2f} s: {:.1f} images/s on {} workers (prepared in {:.2f} s){}{}\n",
             s.classified, s.seconds, rate, s.workers, s.preparation_seconds,
             s.skipped > 0 ? fmt::format("; {} skipped", s.skipped) : "",
             s.interrupted ? "; interrupted" : "");
  if (!s.limitation.empty()) fmt::print(stderr, "{}\n", s.limitation);
}

int classify(const Options& o) {
  if (!o.group_by.empty() && o.group_by != "folder")
    throw InputError(fmt::format("--group-by {}: only folder is served", o.group_by));
  if (o.names.empty() == false && o.labels.empty()) throw InputError("--names needs --labels");
  const ImageList list = find_images(o.images);
  const Classifier classifier = load(o);
  for (const std::string& warning : classifier.warnings) fmt::print(stderr, "warning: {}\n", warning);
  const auto classes = static_cast<std::size_t>(classifier.classes);
  const auto labels = o.labels.empty() ? numbered_labels(classes) : read_labels(o.labels, o.names);
  require_label_count(labels, classes, o.labels);
  ClassifyRequest request;
  request.preprocessing = preprocessing_for(o, classifier);
  request.decoding = {o.max_pixels, o.exif};
  request.machine = {starpu_policy(o.scheduler), o.cores};
  request.kernels.allow_bf16 = o.bf16;
  request.micro_batch = o.micro_batch;
  request.stop = &interrupt_flag();

  OutputFile output(o.output);
  const auto writer = make_result_writer(o.format, labels, output.stream());
  ResultCollector collector({o.top, o.reject, !o.group_by.empty()}, *writer);
  for (const auto& path : list.files) collector.expect(path.string());
  for (const std::string& problem : list.problems) fmt::print(stderr, "skipped {}\n", problem);

  catch_interrupts();
  ProgressBar bar("images", o.quiet ? 0 : list.files.size());
  ClassifyCallbacks callbacks;
  callbacks.result = [&](const std::string& path, std::span<const float> scores) {
    if (o.output.empty()) bar.clear();
    collector.add(path, to_probabilities(scores, classifier.kind));
  };
  callbacks.problem = [&](const std::string& path, const std::string& reason) {
    bar.clear();
    collector.skip(path, reason);
  };
  callbacks.progress = [&](std::size_t done) { bar.update(done); };
  const ClassifySummary summary = classify_images(classifier, all_layers(), list.files, request, callbacks);
  bar.clear();
  collector.finish();
  output.finish();
  if (!o.quiet) print_summary(summary);
  if (summary.interrupted) return interrupt_exit_code();
  if (summary.classified == 0) return kWrongInput;
  return summary.skipped > 0 || !list.problems.empty() ? kDoneInPart : kDone;
}

}  // namespace

void add_classify_command(CLI::App& app, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("classify", "Name what is on photographs, with a network on all cores");
  auto o = std::make_shared<Options>();
  command->add_option("images", o->images, "photographs (JPEG, PNG, WebP) and folders of them")
      ->required()
      ->type_name("IMAGE|DIR...");
  command->add_option("--model", o->model, "an ONNX classifier")->type_name("FILE");
  command->add_option("--network", o->network, "a network by name (espalier list networks)")
      ->type_name("NAME");
  command->add_option("--weights", o->weights, "its weights: safetensors or a PyTorch checkpoint")
      ->type_name("FILE");
  command
      ->add_option("--labels", o->labels,
                   "names of the classes: one a line, a JSON list, or a JSON object by index")
      ->type_name("FILE");
  command->add_option("--names", o->names, "a JSON object from label to the name to show")->type_name("FILE");
  command->add_option("--top", o->top, "how many classes to show")
      ->capture_default_str()
      ->transform(whole_number(1, 1'000'000));
  command->add_option("--reject", o->reject, "answer \"unknown\" under this probability")
      ->capture_default_str()
      ->transform(number(0, 1));
  command->add_option("--group-by", o->group_by, "folder: average the photographs of each folder")
      ->type_name("folder");
  command
      ->add_option("--preprocess", o->preprocess,
                   "imagenet, plantnet300k or a YAML file; default: what the network expects")
      ->type_name("NAME|FILE");
  command->add_flag("--exif-orientation", o->exif, "turn photographs as their EXIF orientation says");
  command->add_option("--max-pixels", o->max_pixels, "refuse larger images")
      ->capture_default_str()
      ->transform(whole_number(1, kMostPixels));
  command->add_option("--format", o->format, "text, csv or jsonl")->capture_default_str();
  command->add_flag_callback(
      "--json", [o] { o->format = "jsonl"; }, "same as --format jsonl");
  command->add_option("--output", o->output, "write the results here instead of to standard output")
      ->type_name("FILE");
  command->add_option("--scheduler", o->scheduler, "one of StarPU's policies")
      ->capture_default_str()
      ->type_name("starpu:NAME");
  command->add_option("--micro-batch", o->micro_batch, "images that one task works on; 0: chosen")
      ->capture_default_str()
      ->transform(whole_number(0, 4096));
  command->add_option("--cores", o->cores, "workers; 0: every core")
      ->capture_default_str()
      ->transform(whole_number(0, kMostCores));
  command->add_flag("--bf16", o->bf16, "compute in bfloat16 where the processor does");
  command->add_flag("--quiet", o->quiet, "no progress and no summary on standard error");
  command->footer(
      "Examples:\n"
      "  espalier classify --model model.onnx --labels names.txt --top 5 photo.jpg folder/\n"
      "  espalier classify --network resnet18 --weights resnet18_weights_best_acc.tar \\\n"
      "      --labels class_idx_to_species_id.json --names plantnet300K_species_id_2_name.json leaf.jpg\n"
      "Exit codes: 0 all classified, 2 wrong input, 3 some images skipped, 130 interrupted (143: by "
      "SIGTERM).");
  command->callback([o, &exit_code] { exit_code = classify(*o); });
}

}  // namespace espalier
