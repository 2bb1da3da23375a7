#ifndef FCN_VLAN_TAG_P4
#define FCN_VLAN_TAG_P4

#include "../base/headers.p4"
#include "../base/pe_metadata.p4"

// VlanTag: the 802.1Q tag of a host behind a tagged DC port.
// Reads:  meta.egress_vlan_id (0 when untagged).
// Writes: VLAN tag, EtherType.
// When:   VrfRouting has found the host.
control VlanTag(inout ethernet_h ethernet, inout vlan_h vlan, in pe_meta_t meta) {
    apply {
        if (meta.egress_vlan_id != 0) {
            vlan.setValid();
            vlan.pcp = 0;
            vlan.dei = 0;
            vlan.vlan_id = meta.egress_vlan_id;
            vlan.ether_type = ethernet.ether_type;
            ethernet.ether_type = EtherType.VLAN;
        }
    }
}

#endif
