package xds

import (
	"os"

	"github.com/modelgateway/modelgateway/cluster/fault"
)

// FindCAFile finds the system's certificate authorities for Input.CAFile: the file asked (the
// value of $SSL_CERT_FILE) if it is not empty, else the first existing default location of
// Linux and BSD systems.
func FindCAFile(asked string) (string, error) {
	if asked != "" {
		if _, err := os.Stat(asked); err != nil {
			return "", &fault.Error{
				Op: "xds", Kind: fault.Unavailable, Code: "ca_file_not_found", Param: "SSL_CERT_FILE", Err: err,
				Detail: "SSL_CERT_FILE names a file that cannot be read; correct it or leave it empty",
			}
		}
		return asked, nil
	}
	for _, path := range []string{
		"/etc/ssl/certs/ca-certificates.crt",                // Debian, Ubuntu, Alpine, Arch
		"/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", // Fedora, RHEL 7 and later
		"/etc/pki/tls/certs/ca-bundle.crt",                  // RHEL 6
		"/etc/ssl/ca-bundle.pem",                            // openSUSE
		"/etc/ssl/cert.pem",                                 // Alpine, macOS, OpenBSD
		"/usr/local/share/certs/ca-root-nss.crt",            // FreeBSD
	} {
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
	}
	return "", fault.New(fault.Unavailable, "ca_file_not_found",
		"no file of certificate authorities was found; install ca-certificates or set SSL_CERT_FILE")
}
