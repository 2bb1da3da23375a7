// The transit node of profile two-threshold for chips: as fcn, and two thresholds (PEC-1 to PEC-5).
#define HAS_TWO_THRESHOLD 1
#define HAS_FLOW_CONTROL 0
#define HAS_FANTEL 0
#define HAS_LINKS 0
#include "../../../base/tna/externs.p4"
#include "../../../base/metadata.p4"
#include "../../../two_threshold/tna/curve_marking.p4"
#include "../../../flow_control/tna/off.p4"
#include "../../../fantel/tna/off.p4"
#include "../../p.p4"
