// Package bootstrap writes the static half of Envoy's configuration: where it
// listens, how it is hardened, which filters a request passes and where the
// gateway's own process is found. The other half, routes and provider clusters,
// comes from xds.
//
// It guarantees that the result has no secret in it, that every value is quoted
// so that no configured text can become configuration, that Envoy answers on its
// own only in the shape of the gateway's errors, and that no client can make
// Envoy hold more than the limits in Config. It leaves starting Envoy to launch.
package bootstrap
