// The provider edge of profile two-threshold for chips: as fcn, and two thresholds, but for the treatment of lightly
// congested flows (PEC-1, PEC-2, PEC-4, PEC-5).
#define HAS_TWO_THRESHOLD 1
#define HAS_FLOW_CONTROL 0
#define HAS_FANTEL 0
#include "../../../base/tna/externs.p4"
#include "../../../base/metadata.p4"
#include "../../../two_threshold/tna/curve_marking.p4"
#include "../../../two_threshold/tna/light_notified.p4"
#include "../../pe.p4"
