// Package discover asks providers which models an account can reach.
//
// Guarantees: a request goes only to an address that the operator allows, redirects are not followed,
// and a list has bounds for its time, its pages and its bytes. Errors name the provider's reason, and
// neither the address nor a credential.
package discover
