// Package outbound calls the token services of clouds.
//
// Clients connect only to addresses that a credential may lead to. A credential that a request to the
// management API brought leads to the public Internet only, or also to private networks where
// general_settings.allow_private_endpoints permits it. One of the configuration file may also lead to private
// networks. Metadata services, which hand out the identity of the gateway's machine, are called with a client of
// their own, and for credentials of the configuration file only. The address is checked when the connection is
// made, so a name cannot resolve to another one later. No proxy is used and no redirect is followed.
//
// Scrub removes what may be secret from the texts of errors.
package outbound
