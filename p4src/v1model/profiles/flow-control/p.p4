// The transit node of profile flow-control: as fcn, and precise flow control (SRF-5 to SRF-9).
#define HAS_TWO_THRESHOLD 0
#define HAS_FLOW_CONTROL 1
#define HAS_FANTEL 0
#include "../../../two_threshold/off/p.p4"
#include "../../../flow_control/v1model/p.p4"
#include "../../../fantel/off/p.p4"
#include "../../p.p4"
