package defect

// Variable is the environment variable that names the bug.
const Variable = "MODELGATEWAY_DEFECT"

// Names returns every bug.
func Names() []string {
	return []string{
		"no_dedup",                // events that were posted before are posted again
		"gap_accepted",            // a run that leaves out events is posted
		"ack_before_commit",       // the journal forgets events before they are posted
		"nosync",                  // a batch is committed before it is on the disk
		"leases_ignore_others",    // a grant takes no notice of what others have leased
		"late_in_window",          // spend of a window that is over counts in the next one
		"hold_leak",               // what a request has reserved stays reserved when it is canceled
		"charge_once_per_request", // only the last attempt of a request is settled
		"chain_without_internal",  // a record's hash does not cover its internal fields
		"verify_ends_only",        // the verifier looks at the ends of a chain only
		"event_before_settle",     // the last byte goes before its cost is on the disk
	}
}
