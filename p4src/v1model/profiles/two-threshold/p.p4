// The transit node of profile two-threshold: as fcn, and two thresholds (PEC-1 to PEC-5).
#define HAS_TWO_THRESHOLD 1
#define HAS_FLOW_CONTROL 0
#define HAS_FANTEL 0
#include "../../../base/v1model/p.p4"
#include "../../../two_threshold/v1model/curve_marking.p4"
#include "../../../flow_control/v1model/off.p4"
#include "../../../fantel/v1model/off.p4"
#include "../../p.p4"
