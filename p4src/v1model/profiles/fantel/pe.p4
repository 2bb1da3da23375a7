// The provider edge of profile fantel: as fcn, and links and paths (FAN-1 to FAN-8).
#define HAS_TWO_THRESHOLD 0
#define HAS_FLOW_CONTROL 0
#define HAS_FANTEL 1
#include "../../../base/v1model/pe.p4"
#include "../../../two_threshold/v1model/off.p4"
#include "../../../flow_control/v1model/off.p4"
#include "../../../fantel/v1model/pe.p4"
#include "../../pe.p4"
