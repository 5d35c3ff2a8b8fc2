// Package entratoken gets access tokens of Microsoft Entra ID: of applications with a secret, a certificate or a
// federated token, and of managed identities. A token that the settings have themselves is passed on.
package entratoken
