// The provider edge of profile full: every mode beside every other.
#define HAS_TWO_THRESHOLD 1
#define HAS_FLOW_CONTROL 1
#define HAS_FANTEL 1
#include "../../../base/v1model/pe.p4"
#include "../../../two_threshold/v1model/pe.p4"
#include "../../../flow_control/v1model/pe.p4"
#include "../../../fantel/v1model/pe.p4"
#include "../../pe.p4"
