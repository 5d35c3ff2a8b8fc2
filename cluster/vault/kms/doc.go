// Package kms reaches the key-management services that a vault.Ring has its keys
// from: AWS KMS, Google Cloud KMS, Azure Key Vault, and the Transit engine of
// HashiCorp Vault.
//
// A URI names the service and the key, as gocloud.dev has it:
//
//	awskms:///arn:aws:kms:eu-central-1:111122223333:key/KEY?region=eu-central-1
//	gcpkms://projects/P/locations/L/keyRings/R/cryptoKeys/K
//	azurekeyvault://VAULT.vault.azure.net/keys/KEY
//	hashivault://KEY, or hashivault://KEY?engine=MOUNT
//
// What one signs in with is no part of it. The services' own libraries take that
// from where they always do: the variables of the environment, a file, the
// instance's identity. For HashiCorp Vault these are VAULT_ADDR, VAULT_TOKEN,
// VAULT_NAMESPACE and VAULT_CACERT.
//
// What is guaranteed: a question ends when its context does; an error shows
// neither what was to be wrapped nor the token that was signed in with, and is of
// bounded length.
//
// Transit is spoken to here rather than by gocloud.dev's package for it, whose
// questions do not end with their context and which panics at answers that it does
// not expect. Google's credentials are looked for at each Open, because gocloud.dev
// looks once and keeps the failure.
package kms
