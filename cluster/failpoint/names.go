package failpoint

// Variable is the environment variable that names the point to be killed at.
const Variable = "MODELGATEWAY_FAILPOINT"

// Names returns every point. What they begin with says whose they are.
func Names() []string {
	return []string{
		// extproc.
		"request.admitted",   // money is set aside for a request, and nothing is written
		"request.dispatched", // Envoy has it; what is written may not be synced
		"request.answered",   // the provider's answer begins
		"request.settled",    // its cost is synced, and the caller lacks the end of it

		// cluster/journal. A group that has intents and events passes both pairs.
		"journal.intent.before", // before the commit of a group that has intents
		"journal.intent.after",  // they are synced, and who waits has not heard
		"journal.settle.before", // before the commit of a group that has events
		"journal.settle.synced", // they are synced, and who waits has not heard
		"journal.settle.told",   // who waits has heard
		"journal.repair.before", // Open has found attempts of a dead process
		"journal.repair.after",  // and has made events of them
		"journal.trim.before",   // before posted events are deleted
		"journal.trim.after",    // they are deleted

		// cluster.
		"ship.before",       // before a run of events is proposed
		"ship.acknowledged", // this node's state has it
		"ack.trimmed",       // and the journal has forgotten it
		"post.before",       // before the batch that posts a run, on every node
		"post.committed",    // it is made, and no response was sent
		"lease.before",      // before leases are moved
		"lease.moved",       // they are moved

		"restore.staged",    // the last piece of a backup is kept, and nothing is changed
		"restore.before",    // before the batch that restores, on every node
		"restore.committed", // it is made, and no response was sent

		"window.before", // before budgets' windows begin anew
		"window.rolled", // they have

		"audit.signer.kept",       // the key is made that checkpoints are signed with
		"audit.checkpoint.before", // a checkpoint is signed and not committed
		"audit.checkpoint.kept",   // it is committed

		// mgmt/deliver.
		"deliver.post.before", // before the webhook gets a record
		"deliver.post.taken",  // it has taken it, and nobody has noted that
		"deliver.save.before", // before it is noted how far a place has got
		"deliver.save.after",  // it is noted
	}
}

// Families returns what names may begin with.
func Families() []string {
	return []string{"ack.", "audit.", "deliver.", "journal.", "lease.", "post.", "request.", "restore.", "ship.", "window."}
}
