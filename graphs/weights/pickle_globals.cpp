#include "graphs/weights/pickle_globals.hpp"

#include <array>
#include <fmt/format.h>

#include "graphs/base/error.hpp"

namespace espalier::pickle {
namespace {

constexpr std::array kGlobals{
    Global{"collections.OrderedDict", Builder::ordered_dict},
    Global{"builtins.set", Builder::set},
    Global{"__builtin__.set", Builder::set},
    Global{"torch._utils._rebuild_tensor", Builder::tensor},
    Global{"torch._utils._rebuild_tensor_v2", Builder::tensor},
    Global{"torch._utils._rebuild_tensor_v3", Builder::tensor_v3},
    Global{"torch._utils._rebuild_parameter", Builder::parameter},
    Global{"torch._utils._rebuild_parameter_with_state", Builder::parameter},
    Global{"torch.Size", Builder::same},
    Global{"torch.device", Builder::inert},
    Global{"torch.serialization._get_layout", Builder::inert},
    Global{"collections.Counter", Builder::inert},
    Global{"argparse.Namespace", Builder::inert},
    Global{"_codecs.encode", Builder::inert},
    Global{"numpy.dtype", Builder::inert},
    Global{"numpy.ndarray", Builder::inert},
    Global{"numpy.core.multiarray.scalar", Builder::inert},
    Global{"numpy.core.multiarray._reconstruct", Builder::inert},
    Global{"numpy._core.multiarray.scalar", Builder::inert},
    Global{"numpy._core.multiarray._reconstruct", Builder::inert},
    Global{"torch.FloatStorage", Builder::storage, DType::f32},
    Global{"torch.DoubleStorage", Builder::storage, DType::f64},
    Global{"torch.HalfStorage", Builder::storage, DType::f16},
    Global{"torch.BFloat16Storage", Builder::storage, DType::bf16},
    Global{"torch.CharStorage", Builder::storage, DType::i8},
    Global{"torch.ShortStorage", Builder::storage, DType::i16},
    Global{"torch.IntStorage", Builder::storage, DType::i32},
    Global{"torch.LongStorage", Builder::storage, DType::i64},
    Global{"torch.ByteStorage", Builder::storage, DType::u8},
    Global{"torch.BoolStorage", Builder::storage, DType::boolean},
    Global{"torch.cuda.FloatStorage", Builder::storage, DType::f32},
    Global{"torch.cuda.DoubleStorage", Builder::storage, DType::f64},
    Global{"torch.cuda.HalfStorage", Builder::storage, DType::f16},
    Global{"torch.cuda.BFloat16Storage", Builder::storage, DType::bf16},
    Global{"torch.cuda.CharStorage", Builder::storage, DType::i8},
    Global{"torch.cuda.ShortStorage", Builder::storage, DType::i16},
    Global{"torch.cuda.IntStorage", Builder::storage, DType::i32},
    Global{"torch.cuda.LongStorage", Builder::storage, DType::i64},
    Global{"torch.cuda.ByteStorage", Builder::storage, DType::u8},
    Global{"torch.cuda.BoolStorage", Builder::storage, DType::boolean},
    Global{"torch.storage.UntypedStorage", Builder::storage},
    Global{"torch.UntypedStorage", Builder::storage},
    Global{"torch.float32", Builder::dtype, DType::f32},
    Global{"torch.float64", Builder::dtype, DType::f64},
    Global{"torch.float16", Builder::dtype, DType::f16},
    Global{"torch.bfloat16", Builder::dtype, DType::bf16},
    Global{"torch.int8", Builder::dtype, DType::i8},
    Global{"torch.int16", Builder::dtype, DType::i16},
    Global{"torch.int32", Builder::dtype, DType::i32},
    Global{"torch.int64", Builder::dtype, DType::i64},
    Global{"torch.uint8", Builder::dtype, DType::u8},
    Global{"torch.uint16", Builder::dtype, DType::u16},
    Global{"torch.uint32", Builder::dtype, DType::u32},
    Global{"torch.uint64", Builder::dtype, DType::u64},
    Global{"torch.bool", Builder::dtype, DType::boolean},
};

Ref add(Pickle& pickle, Value value) {
  pickle.values.push_back(std::move(value));
  return static_cast<Ref>(pickle.values.size() - 1);
}

[[noreturn]] void refuse_arguments(std::string_view name) {
  throw InputError(fmt::format("{} is called with arguments that PyTorch does not write", name));
}

bool is_sequence(const Value& v) {
  return v.kind == Kind::tuple || v.kind == Kind::list;
}

Ref build_dict(Pickle& pickle, std::string_view name, const std::vector<Ref>& arguments) {
  Value dict;
  dict.kind = Kind::dict;
  if (arguments.size() > 1 || (arguments.size() == 1 && !is_sequence(pickle.at(arguments[0]))))
    refuse_arguments(name);
  if (arguments.size() == 1) {
    for (Ref pair : pickle.at(arguments[0]).items) {
      const Value& p = pickle.at(pair);
      if (!is_sequence(p) || p.items.size() != 2) refuse_arguments(name);
      dict.items.insert(dict.items.end(), p.items.begin(), p.items.end());
    }
  }
  return add(pickle, std::move(dict));
}

Ref build_set(Pickle& pickle, std::string_view name, const std::vector<Ref>& arguments) {
  Value set;
  set.kind = Kind::set;
  if (arguments.size() > 1 || (arguments.size() == 1 && !is_sequence(pickle.at(arguments[0]))))
    refuse_arguments(name);
  if (arguments.size() == 1) set.items = pickle.at(arguments[0]).items;
  return add(pickle, std::move(set));
}

void append_integers(const Pickle& pickle, std::string_view name, Ref sequence,
                     std::vector<std::int64_t>& out) {
  const Value& v = pickle.at(sequence);
  if (!is_sequence(v)) refuse_arguments(name);
  for (Ref item : v.items) {
    if (pickle.at(item).kind != Kind::integer) refuse_arguments(name);
    out.push_back(pickle.at(item).integer);
  }
}

Ref build_tensor(Pickle& pickle, const Global& global, const std::vector<Ref>& arguments) {
  const bool v3 = global.builder == Builder::tensor_v3;
  if (arguments.size() < (v3 ? 7U : 4U) || arguments.size() > 8) refuse_arguments(global.name);
  const Value& storage = pickle.at(arguments[0]);
  if (storage.kind != Kind::storage || pickle.at(arguments[1]).kind != Kind::integer)
    refuse_arguments(global.name);
  Value tensor;
  tensor.kind = Kind::tensor;
  tensor.dtype = v3 ? pickle.at(arguments[6]).dtype : storage.dtype;
  if (!tensor.dtype) refuse_arguments(global.name);
  tensor.items = {arguments[0]};
  tensor.numbers = {pickle.at(arguments[1]).integer};
  append_integers(pickle, global.name, arguments[2], tensor.numbers);
  const std::size_t rank = tensor.numbers.size() - 1;
  append_integers(pickle, global.name, arguments[3], tensor.numbers);
  if (tensor.numbers.size() != 1 + 2 * rank) refuse_arguments(global.name);
  return add(pickle, std::move(tensor));
}

}  // namespace

int find_global(std::string_view name) {
  for (std::size_t i = 0; i < kGlobals.size(); ++i)
    if (kGlobals[i].name == name) return static_cast<int>(i);
  return -1;
}

const Global& global_at(int row) {
  return kGlobals.at(static_cast<std::size_t>(row));
}

Ref call_global(Pickle& pickle, int row, const std::vector<Ref>& arguments) {
  const Global& global = global_at(row);
  switch (global.builder) {
    case Builder::ordered_dict:
      return build_dict(pickle, global.name, arguments);
    case Builder::set:
      return build_set(pickle, global.name, arguments);
    case Builder::tensor:
    case Builder::tensor_v3:
      return build_tensor(pickle, global, arguments);
    case Builder::parameter:
      if (arguments.empty() || pickle.at(arguments[0]).kind != Kind::tensor) refuse_arguments(global.name);
      return arguments[0];
    case Builder::same:
      if (arguments.size() != 1 || !is_sequence(pickle.at(arguments[0]))) refuse_arguments(global.name);
      return arguments[0];
    case Builder::inert: {
      Value inert;
      inert.kind = Kind::inert;
      inert.text = global.name;
      return add(pickle, std::move(inert));
    }
    case Builder::storage:
    case Builder::dtype:
      break;
  }
  throw InputError(fmt::format("refuses to call {}", global.name));
}

}  // namespace espalier::pickle
