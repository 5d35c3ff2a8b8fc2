// Package credential defines the form of API keys and reads them from requests.
//
// Generate makes a key, and CheckCustom checks one that a caller chose. Presented collects the
// credentials of a request's headers, and Parse returns the only one or an error. The package
// knows no stored keys: package tenancy decides whose a credential is.
//
// No error repeats a credential.
package credential
