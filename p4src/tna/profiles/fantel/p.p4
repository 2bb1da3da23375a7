// The transit node of profile fantel for chips: as fcn, and it tells PEs of congested paths (FAN-6).
#define HAS_TWO_THRESHOLD 0
#define HAS_FLOW_CONTROL 0
#define HAS_FANTEL 1
#include "../../../base/tna/externs.p4"
#include "../../../base/metadata.p4"
#include "../../../two_threshold/tna/off.p4"
#include "../../../flow_control/tna/off.p4"
#include "../../../fantel/tna/p.p4"
#include "../../p.p4"
