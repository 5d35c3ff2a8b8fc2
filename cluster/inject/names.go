package inject

// Variables of the environment.
const (
	PointVariable  = "MODELGATEWAY_FAILPOINT" // names the point that the process dies at
	DefectVariable = "MODELGATEWAY_DEFECT"    // names the bug
)

// Defects returns every bug.
func Defects() []string {
	return []string{
		"no_dedup",                // events that were posted before are posted again
		"gap_accepted",            // a run that leaves out events is posted
		"ack_before_commit",       // the journal forgets events before they are posted
		"nosync",                  // a batch is reported as committed before it is synced
		"leases_ignore_others",    // a grant ignores the leases of other nodes
		"late_in_window",          // spend of an expired window counts in the next one
		"hold_leak",               // a canceled request does not release its reservation
		"charge_once_per_request", // only the last attempt of a request is settled
		"chain_without_internal",  // a record's hash does not cover its internal fields
		"verify_ends_only",        // the verifier looks at the ends of a chain only
		"event_before_settle",     // the last byte is sent before its cost is synced
		"posting_missing",         // the index of a block lacks the first of its values
		"filter_short",            // the filter of a block lacks half of the request ids
		"copy_unchecked",          // a file of sealed records is not compared with its sum
		"seal_unplaced",           // records leave the state before their file is durable elsewhere
		"sealed_posting_missing",  // a sealed segment lacks the first of its postings
		"peak_forgotten",          // a block's directory entry knows nothing of the blocks before it
		"block_unchecked",         // the checksum of a block is not compared
		"packed_kept",             // a record that is packed also stays where it was
	}
}

// Points returns every point. The prefix of a name is its owner.
func Points() []string {
	return []string{
		// extproc.
		"request.admitted",   // money is reserved for a request, and nothing is written
		"request.dispatched", // Envoy has the request; its intent may not be synced
		"request.answered",   // the provider's response begins
		"request.settled",    // its cost is synced, and the caller lacks the end of the response

		// cluster/journal. A group that has intents and events passes both pairs.
		"journal.intent.before", // before the commit of a group that has intents
		"journal.intent.after",  // they are synced, and no waiter is notified
		"journal.settle.before", // before the commit of a group that has events
		"journal.settle.synced", // they are synced, and no waiter is notified
		"journal.settle.told",   // the waiters are notified
		"journal.repair.before", // Open has found attempts of a dead process
		"journal.repair.after",  // and has written events for them
		"journal.trim.before",   // before posted events are deleted
		"journal.trim.after",    // they are deleted

		// cluster.
		"ship.before",       // before a run of events is proposed
		"ship.acknowledged", // this node's state has it
		"ack.trimmed",       // and the journal has forgotten it
		"post.before",       // before the batch that posts a run, on every node
		"post.committed",    // it is committed, and no response was sent
		"lease.before",      // before leases are moved
		"lease.moved",       // they are moved

		"restore.staged",    // the last piece of a backup is stored, and nothing is changed
		"restore.before",    // before the batch that restores, on every node
		"restore.committed", // it is committed, and no response was sent

		"window.before", // before the windows of budgets restart
		"window.rolled", // they have restarted

		"audit.signer.kept",       // the key that signs checkpoints is stored
		"audit.checkpoint.before", // a checkpoint is signed and not committed
		"audit.checkpoint.kept",   // it is committed

		// auditsink.
		"deliver.post.before", // before the webhook gets a record
		"deliver.post.taken",  // it has accepted the record, and no position is stored
		"deliver.save.before", // before the position of a target is stored
		"deliver.save.after",  // it is stored
	}
}
