// The provider edge of profile fcn: Fast CNP and CNP by way of END.CON.
#define HAS_TWO_THRESHOLD 0
#define HAS_FLOW_CONTROL 0
#define HAS_FANTEL 0
#include "../../../base/v1model/pe.p4"
#include "../../../two_threshold/v1model/off.p4"
#include "../../../flow_control/v1model/off.p4"
#include "../../../fantel/v1model/off.p4"
#include "../../pe.p4"
