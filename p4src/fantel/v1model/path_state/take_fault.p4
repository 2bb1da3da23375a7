#ifndef FCN_TAKE_FAULT_P4
#define FCN_TAKE_FAULT_P4

#include "../../../base/v1model/pe.p4"
#include "path_registers.p4"

// Who says that a path has failed (path_cell_t ++ 0), and who that it is congested (path_cell_t ++ 1)
register<reporter_set_t, path_fault_cell_t>(PATH_FAULT_CELLS) path_faults;

// TakeFault: a path is faulty as soon as one reports so, and well again when all who did have taken it back (FAN-4, FAN-6).
// Reads:  the report, is_bad: FAILED or CONGESTED; the path, and its cell.
// Writes: failed, congested: of the policy's paths; path_faults.
// When:   anything but a load is reported.
control TakeFault(
        in path_report_h update, in bool is_bad, in path_cell_t cell, in path_set_t path, inout path_set_t failed,
        inout path_set_t congested) {
    apply {
        bool is_failure = update.report == PathReport.FAILED || update.report == PathReport.WELL;
        path_set_t faulty = is_failure ? failed : congested;
        path_fault_cell_t fault_cell = cell ++ (is_failure ? 1w0 : 1w1);
        reporter_set_t reporters;
        path_faults.read(reporters, fault_cell);
        if (is_bad) {
            reporters = reporters | update.reporter;
            faulty = faulty | path;
        } else {
            reporters = reporters & ~update.reporter;
            if (reporters == 0) {
                faulty = faulty & ~path;
            }
        }
        path_faults.write(fault_cell, reporters);
        if (is_failure) {
            failed = faulty;
        } else {
            congested = faulty;
        }
    }
}

#endif
