// The transit node of profile fcn: Fast CNP and CNP by way of END.CON.
#define HAS_TWO_THRESHOLD 0
#define HAS_FLOW_CONTROL 0
#define HAS_FANTEL 0
#include "../../../two_threshold/off/p.p4"
#include "../../../flow_control/off/p.p4"
#include "../../../fantel/off/p.p4"
#include "../../p.p4"
