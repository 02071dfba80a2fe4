#include "layers/common/onednn.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "graphs/base/error.hpp"
#include "layers/common/aligned_memory.hpp"

namespace espalier::onednn {
namespace {

using dnnl::algorithm;
using dnnl::memory;

constexpr std::size_t kAlign = 64;
std::size_t rounded(std::size_t bytes) {
  return (bytes + kAlign - 1) / kAlign * kAlign;
}

void check(dnnl_status_t status, const char* what) {
  if (status != dnnl_success)
    throw DeviceError(fmt::format("oneDNN: {} failed with status {}", what, int(status)));
}

}  // namespace

const dnnl::engine& cpu() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

bool has_bf16() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512bf16") != 0;
#else
  return false;
#endif
}

memory::data_type data_type(DType t) {
  switch (t) {
    case DType::f32:
      return memory::data_type::f32;
    case DType::f16:
      return memory::data_type::f16;
    case DType::bf16:
      return memory::data_type::bf16;
    case DType::i32:
      return memory::data_type::s32;
    case DType::i8:
      return memory::data_type::s8;
    case DType::u8:
      return memory::data_type::u8;
    default:
      throw InternalError(fmt::format("oneDNN has no {}", name_of(t)));
  }
}

memory::desc ordered(DType t, const memory::dims& dims, const std::vector<int>& order) {
  memory::dims strides(dims.size());
  memory::dim stride = 1;
  for (std::size_t i = order.size(); i-- > 0;) {
    strides[order[i]] = stride;
    stride *= dims[order[i]];
  }
  return {dims, data_type(t), strides};
}

memory::desc row_major(DType t, const memory::dims& dims) {
  std::vector<int> order(dims.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
  return ordered(t, dims, order);
}

memory::desc channels_last(const TensorType& type) {
  const auto& s = type.shape.dims();
  memory::dims dims{s.front(), s.back()};
  dims.insert(dims.end(), s.begin() + 1, s.end() - 1);
  std::vector<int> order{0};
  for (int i = 2; i < type.shape.rank(); ++i) order.push_back(i);
  order.push_back(1);
  return ordered(type.dtype, dims, order);
}

memory::desc any_layout(const memory::desc& d) {
  return {d.dims(), d.data_type(), memory::format_tag::any};
}

Slot Program::add(Slot_ slot, const memory::desc& desc) {
  slots_.push_back(slot);
  descs_.push_back(desc);
  memories_.emplace_back(desc, cpu(), nullptr);
  return static_cast<Slot>(slots_.size()) - 1;
}

Slot Program::constant(std::shared_ptr<const void> data, const memory::desc& desc) {
  const Slot s = add({Kind::constant, 0}, desc);
  memories_[s].set_data_handle(const_cast<void*>(data.get()));
  kept_.push_back(std::move(data));
  return s;
}

Slot Program::temporary(const memory::desc& desc) {
  const Slot s = add({Kind::scratch, static_cast<std::int64_t>(temporaries_)}, desc);
  temporaries_ += rounded(desc.get_size());
  return s;
}

void Program::step(const dnnl::primitive& primitive, const memory::desc& scratchpad,
                   const std::vector<std::pair<int, Slot>>& arguments) {
  Step step{primitive, {}};
  for (auto [argument, slot] : arguments) step.arguments.push_back({argument, memories_[slot].get()});
  if (scratchpad.get_size() != 0) {
    scratchpads_.emplace_back(scratchpad, cpu(), nullptr);
    step.arguments.push_back({DNNL_ARG_SCRATCHPAD, scratchpads_.back().get()});
    scratchpad_ = std::max(scratchpad_, rounded(scratchpad.get_size()));
  }
  steps_.push_back(std::move(step));
}

Slot Program::reordered(Slot from, const memory::desc& to) {
  if (descs_[from] == to) return from;
  const Slot s = temporary(to);
  const dnnl::reorder::primitive_desc pd(cpu(), descs_[from], cpu(), to, attributes({}, {}));
  step(dnnl::reorder(pd), pd.scratchpad_desc(), {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, s}});
  return s;
}

void Program::run(const KernelArguments& arguments) {
  char* scratch = static_cast<char*>(arguments.scratch);
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const Slot_& s = slots_[i];
    void* pointer = nullptr;
    if (s.kind == Kind::constant) continue;
    if (s.kind == Kind::input) pointer = const_cast<void*>(arguments.inputs[s.index]);
    if (s.kind == Kind::output) pointer = arguments.outputs[s.index];
    if (s.kind == Kind::scratch) pointer = scratch + s.index;
    memories_[i].set_data_handle(pointer);
  }
  for (memory& m : scratchpads_) m.set_data_handle(scratch + temporaries_);
  for (Step& s : steps_)
    check(dnnl_primitive_execute(s.primitive.get(), stream_.get(), static_cast<int>(s.arguments.size()),
                                 s.arguments.data()),
          "primitive_execute");
}

std::shared_ptr<const void> pack(WeightCache& cache, const Tensor& constant, const memory::desc& from,
                                 const memory::desc& to) {
  struct Packed {
    Tensor original;  // keeps the address in the key from being used again
    std::shared_ptr<void> data;
  };
  std::string key = fmt::format("{}/onednn/", constant.data());
  key.append(reinterpret_cast<const char*>(&from.data), sizeof from.data);
  key.append(reinterpret_cast<const char*>(&to.data), sizeof to.data);
  const auto packed = cache.get_or_make<Packed>(key, [&]() -> std::shared_ptr<const void> {
    auto p = std::make_shared<Packed>(Packed{constant, aligned_memory(to.get_size())});
    memory source(from, cpu(), const_cast<void*>(constant.data()));
    memory target(to, cpu(), p->data.get());
    dnnl::stream stream(cpu());
    dnnl::reorder(source, target).execute(stream, source, target);
    stream.wait();
    return p;
  });
  return {packed, packed->data.get()};
}

dnnl::primitive_attr attributes(const dnnl::post_ops& ops, const KernelOptions& options) {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  attr.set_post_ops(ops);
  return attr;
}

}  // namespace espalier::onednn
