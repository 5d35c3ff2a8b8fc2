// Package delivery keeps where the audit log is delivered to: the webhook's settings
// and, for each place, how far it has been delivered. It also has the Guard, which
// says what a webhook may reach.
//
// Settings are a value: With makes others of them as the replicated state changes,
// and Set is an operation that collects what it writes in a transaction. Secrets are
// sealed before they get there. The delivering itself is not here.
package delivery
