// Package googletoken gets access tokens of Google Cloud: of service accounts, users, federated identities, and of
// the service account of the gateway's machine.
package googletoken
