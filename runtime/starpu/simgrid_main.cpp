/// Entry of espalier-simgrid. SimGrid's main starts first and calls the one of the program: starpu.h gives
/// that another name, so it has to be included where main is written.
#include "runtime/starpu/starpu_detail.hpp"

namespace espalier {
int espalier_simgrid(int argc, char** argv);
}

int main(int argc, char** argv) {
  return espalier::espalier_simgrid(argc, argv);
}
