// The provider edge of profile two-threshold: as fcn, and two thresholds (PEC-1 to PEC-5).
#define HAS_TWO_THRESHOLD 1
#define HAS_FLOW_CONTROL 0
#define HAS_FANTEL 0
#include "../../../base/v1model/pe.p4"
#include "../../../two_threshold/v1model/pe.p4"
#include "../../../flow_control/v1model/off.p4"
#include "../../../fantel/v1model/off.p4"
#include "../../pe.p4"
