#ifndef FCN_DOMAIN_MODE_P4
#define FCN_DOMAIN_MODE_P4

#include "../base/metadata.p4"

// DomainMode: what this node does about congestion in the domain (FCN-16). One table entry sets the fields
// that the other controls read.
// Writes: meta.mode.
// When:   before a control that reads meta.mode.
control DomainMode(inout base_meta_t meta) {
    action set_mode(NotificationKind congestion_kind, NotificationKind translates) {
        meta.mode.congestion_kind = congestion_kind;
        meta.mode.translates = translates;
    }

    PLACED(domain_mode) @name(".domain_mode")
    table domain_mode {
        actions = {
            set_mode;
        }
        default_action = set_mode(NotificationKind.NONE, NotificationKind.NONE);
    }

    apply {
        domain_mode.apply();
    }
}

#endif
