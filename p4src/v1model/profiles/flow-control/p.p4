// The transit node of profile flow-control: as fcn, and precise flow control (SRF-5 to SRF-9).
#define HAS_TWO_THRESHOLD 0
#define HAS_FLOW_CONTROL 1
#define HAS_FANTEL 0
#include "../../../base/v1model/p.p4"
#include "../../../two_threshold/v1model/off.p4"
#include "../../../flow_control/v1model/p.p4"
#include "../../../fantel/v1model/off.p4"
#include "../../p.p4"
