package main

// drawn returns the flags for property tests: write no file for a failure, and spend little
// time on shrinking it.
func drawn() []string { return []string{"-rapid.nofailfile", "-rapid.shrinktime=1s"} }

// trial is a test that must detect a bug.
type trial struct {
	defect string
	pkg    string
	test   string
	flags  []string // of the test binary
	says   string   // the expected text of the failure; empty: any failure
}

// name names the test.
func (t *trial) name() string { return t.pkg + " " + t.test }

// trials returns the tests. A bug that is detected both where it is made and where it does harm
// has two of them.
func trials() []trial {
	return []trial{
		{"nosync", "cluster/store", "TestCrashAtEveryWrite", nil, ""},
		{"nosync", "cluster/journal", "TestCrashAtEveryWrite", nil, "was confirmed; found unknown"},
		{"no_dedup", "cluster/ledger", "TestPostOnce", nil, ""},
		{"no_dedup", "cluster/ledger", "TestLedgerEqualsTheModel", drawn(), ""},
		{"gap_accepted", "cluster/ledger", "TestPostOnce", nil, ""},
		{"late_in_window", "cluster/ledger", "TestCrossings", nil, ""},
		{"late_in_window", "cluster/ledger", "TestLedgerEqualsTheModel", drawn(), ""},
		{"leases_ignore_others", "cluster/ledger", "TestLedgerEqualsTheModel", drawn(), ""},
		{"leases_ignore_others", "cluster/lease", "TestNoScheduleSpendsMoreThanTheBudget", drawn(), ""},
		{"hold_leak", "cluster/lease", "TestNoScheduleSpendsMoreThanTheBudget", drawn(), ""},
		{"chain_without_internal", "cluster/audit", "TestAnyBitFlipped", nil, ""},
		{"chain_without_internal", "cluster/audit", "TestExportTampered", nil, ""},
		{"verify_ends_only", "cluster/audit", "TestAnyBitFlipped", nil, ""},
		{"verify_ends_only", "cluster/audit", "TestExportTampered", nil, ""},
		{"charge_once_per_request", "extproc", "TestChargesEveryAttempt", nil, ""},
		{"charge_once_per_request", "extproc", "TestEveryRequestIsSettledOnce", drawn(), ""},
		{"event_before_settle", "extproc", "TestHoldsTheAnswerUntilItIsRecorded", nil, ""},
		{"event_before_settle", "extproc", "TestHoldsTheEndOfAStreamUntilItIsRecorded", nil, ""},
		{"posting_missing", "cluster/block", "TestLogEqualsTheModel", drawn(), ""},
		{"posting_missing", "cluster/audit", "TestOlderRecordsArePacked", nil, ""},
		{"filter_short", "cluster/block", "TestLogEqualsTheModel", drawn(), ""},
		{"peak_forgotten", "cluster/block", "TestLateRecordsAreFound", nil, ""},
		{"block_unchecked", "cluster/block", "TestDamageIsFound", nil, ""},
		{"sealed_posting_missing", "cluster/block", "TestSealedRecordsAreFound", nil, ""},
		{"copy_unchecked", "cluster/segment", "TestFilesOfOthersAreCompared", nil, ""},
		{"seal_unplaced", "cluster", "TestSealingIntoABucket", nil, "the bucket does not have them"},
		{"packed_kept", "cluster/audit", "TestOlderRecordsArePacked", nil, ""},
		{"no_dedup", "cluster", "TestRandomSchedules", []string{"-cluster.seeds=8"}, " is posted 2 times"},
		{"leases_ignore_others", "cluster", "TestRandomSchedules", []string{"-cluster.seeds=2"}, " were spent of "},
		{"ack_before_commit", "cluster", "TestRandomSchedules", []string{"-cluster.seeds=2"}, " is not posted"},
	}
}
