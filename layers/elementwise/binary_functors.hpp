#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

/// The arithmetic of the operators on one pair of elements, over the types in which one computes. Integers
/// wrap as two's complement; what C++ leaves undefined has the value that NumPy gives.
namespace espalier::functors {

/// Unsigned type in which the arithmetic of C wraps; C itself when it is floating.
template <class C>
using Wrapping = std::conditional_t<std::is_floating_point_v<C>, C,
                                    std::conditional_t<(sizeof(C) > 4), std::uint64_t, std::uint32_t>>;

struct Arithmetic {
  static constexpr bool logical = false;
};
struct Logical {
  static constexpr bool logical = true;
};

struct Add : Arithmetic {
  template <class C>
  C operator()(C a, C b) const {
    return static_cast<C>(static_cast<Wrapping<C>>(a) + static_cast<Wrapping<C>>(b));
  }
};

struct Sub : Arithmetic {
  template <class C>
  C operator()(C a, C b) const {
    return static_cast<C>(static_cast<Wrapping<C>>(a) - static_cast<Wrapping<C>>(b));
  }
};

struct Mul : Arithmetic {
  template <class C>
  C operator()(C a, C b) const {
    return static_cast<C>(static_cast<Wrapping<C>>(a) * static_cast<Wrapping<C>>(b));
  }
};

/// Integers truncate towards zero; x / 0 is 0, lowest / -1 wraps.
struct Div : Arithmetic {
  template <class C>
  C operator()(C a, C b) const {
    if constexpr (std::is_integral_v<C>) {
      if (b == 0) return 0;
      if constexpr (std::is_signed_v<C>)
        if (b == C(-1)) return Sub{}(C(0), a);
      return static_cast<C>(a / b);
    } else {
      return a / b;
    }
  }
};

/// fmod = 0: the sign of the divisor, integers only; x mod 0 is 0.
struct Mod : Arithmetic {
  template <class C>
  C operator()(C a, C b) const {
    if constexpr (std::is_integral_v<C>) {
      if (b == 0) return 0;
      if constexpr (std::is_signed_v<C>) {
        if (b == C(-1)) return 0;
        const C r = static_cast<C>(a % b);
        return static_cast<C>(r != 0 && (r < 0) != (b < 0) ? r + b : r);
      } else {
        return static_cast<C>(a % b);
      }
    } else {
      const C r = std::fmod(a, b);
      return r != 0 && (r < 0) != (b < 0) ? r + b : r;
    }
  }
};

/// fmod = 1: the sign of the dividend.
struct Fmod : Arithmetic {
  template <class C>
  C operator()(C a, C b) const {
    if constexpr (std::is_integral_v<C>) {
      if (b == 0) return 0;
      if constexpr (std::is_signed_v<C>)
        if (b == C(-1)) return 0;
      return static_cast<C>(a % b);
    } else {
      return std::fmod(a, b);
    }
  }
};

/// NaN wins over a number.
struct Min : Arithmetic {
  template <class C>
  C operator()(C a, C b) const {
    return a < b || a != a ? a : b;
  }
};

struct Max : Arithmetic {
  template <class C>
  C operator()(C a, C b) const {
    return a > b || a != a ? a : b;
  }
};

struct PRelu : Arithmetic {
  template <class C>
  C operator()(C x, C slope) const {
    const C scaled = Mul{}(x, slope);
    return x < C(0) ? scaled : x;
  }
};

/// Shifting by the width or more gives 0.
struct ShiftLeft : Arithmetic {
  template <class C>
  C operator()(C a, C b) const {
    return b >= static_cast<C>(std::numeric_limits<C>::digits)
               ? C(0)
               : static_cast<C>(static_cast<Wrapping<C>>(a) << static_cast<unsigned>(b));
  }
};

struct ShiftRight : Arithmetic {
  template <class C>
  C operator()(C a, C b) const {
    return b >= static_cast<C>(std::numeric_limits<C>::digits) ? C(0) : static_cast<C>(a >> b);
  }
};

struct BitwiseAnd : Arithmetic {
  template <class C>
  C operator()(C a, C b) const {
    return static_cast<C>(a & b);
  }
};

struct BitwiseOr : Arithmetic {
  template <class C>
  C operator()(C a, C b) const {
    return static_cast<C>(a | b);
  }
};

struct BitwiseXor : Arithmetic {
  template <class C>
  C operator()(C a, C b) const {
    return static_cast<C>(a ^ b);
  }
};

#define ESPALIER_LOGICAL(Name, expression) \
  struct Name : Logical {                  \
    template <class C>                     \
    bool operator()(C a, C b) const {      \
      return expression;                   \
    }                                      \
  }

ESPALIER_LOGICAL(Equal, a == b);
ESPALIER_LOGICAL(Greater, a > b);
ESPALIER_LOGICAL(GreaterOrEqual, a >= b);
ESPALIER_LOGICAL(Less, a < b);
ESPALIER_LOGICAL(LessOrEqual, a <= b);
ESPALIER_LOGICAL(And, a&& b);
ESPALIER_LOGICAL(Or, a || b);
ESPALIER_LOGICAL(Xor, a != b);

#undef ESPALIER_LOGICAL

}  // namespace espalier::functors
