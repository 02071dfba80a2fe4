#pragma once

#include <memory>

#include "runtime/plan/plan.hpp"

/// Online policies: they decide when a task becomes ready or a worker idle. README.md tells them apart.
namespace espalier {

std::unique_ptr<OnlinePolicy> make_eager();
std::unique_ptr<OnlinePolicy> make_prio();
std::unique_ptr<OnlinePolicy> make_random();
std::unique_ptr<OnlinePolicy> make_lws();
std::unique_ptr<OnlinePolicy> make_dm();
std::unique_ptr<OnlinePolicy> make_dmda();
std::unique_ptr<OnlinePolicy> make_dmdas();
std::unique_ptr<OnlinePolicy> make_heteroprio();
std::unique_ptr<OnlinePolicy> make_affinity_eager();

}  // namespace espalier
