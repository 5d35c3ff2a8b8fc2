// Package kms connects a vault.Ring with key-management services: AWS KMS, Google Cloud KMS,
// Azure Key Vault, and the Transit engine of HashiCorp Vault.
//
// A URI names the service and the key, as in gocloud.dev:
//
//	awskms:///arn:aws:kms:eu-central-1:111122223333:key/KEY?region=eu-central-1
//	gcpkms://projects/P/locations/L/keyRings/R/cryptoKeys/K
//	azurekeyvault://VAULT.vault.azure.net/keys/KEY
//	hashivault://KEY, or hashivault://KEY?engine=MOUNT
//
// It contains no credentials. The libraries of the services read them from their usual places:
// environment variables, a file, or the identity of the instance. For HashiCorp Vault these are
// VAULT_ADDR, VAULT_TOKEN, VAULT_NAMESPACE and VAULT_CACERT.
//
// Guarantees: a call ends when its context ends. An error contains neither the value to wrap
// nor the token, and has a limited length.
//
// Transit is implemented here and not by gocloud.dev's package, whose calls do not end with
// their context and which panics on unexpected responses. Google's credentials are looked up at
// each Open, because gocloud.dev looks them up once and caches the failure.
package kms
