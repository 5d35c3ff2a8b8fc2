// Package awstoken gets the keys with which requests to AWS are signed: static keys, and temporary keys of assumed
// roles, web identities, profiles, and of the role of the gateway's machine.
package awstoken
