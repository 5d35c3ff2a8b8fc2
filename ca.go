package main

import "os"

// certificateFiles are where systems keep the certificates that they trust; the
// list is that of Go's crypto/x509.
func certificateFiles() []string {
	return []string{
		"/etc/ssl/certs/ca-certificates.crt",                // Debian, Ubuntu, Arch, Alpine
		"/etc/pki/tls/certs/ca-bundle.crt",                  // Fedora, RHEL 6
		"/etc/ssl/ca-bundle.pem",                            // openSUSE
		"/etc/pki/tls/cacert.pem",                           // OpenELEC
		"/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", // CentOS, RHEL 7 and later
		"/etc/ssl/cert.pem",                                 // Alpine, macOS
	}
}

// certificates is the file by which https providers are verified: SSL_CERT_FILE,
// or the system's; empty if there is none.
func certificates() string {
	if file := os.Getenv("SSL_CERT_FILE"); file != "" {
		return file
	}
	for _, file := range certificateFiles() {
		if _, err := os.Stat(file); err == nil {
			return file
		}
	}
	return ""
}
