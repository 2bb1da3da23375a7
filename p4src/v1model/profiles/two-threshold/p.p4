// The transit node of profile two-threshold: as fcn, and two thresholds (PEC-1 to PEC-5).
#define HAS_TWO_THRESHOLD 1
#define HAS_FLOW_CONTROL 0
#define HAS_FANTEL 0
#include "../../../two_threshold/v1model/p.p4"
#include "../../../flow_control/off/p.p4"
#include "../../../fantel/off/p.p4"
#include "../../p.p4"
