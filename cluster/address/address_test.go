package address_test

import (
	"testing"

	"github.com/modelgateway/modelgateway/cluster/address"
)

// TestOfHost has the spellings of one address, and what names say of themselves.
func TestOfHost(t *testing.T) {
	t.Parallel()
	for want, hosts := range map[address.Class][]string{
		address.Forbidden: {
			"169.254.169.254", "169.254.0.1", "::ffff:169.254.169.254", "::ffff:a9fe:a9fe", "::a9fe:a9fe", "64:ff9b::a9fe:a9fe", "2002:a9fe:a9fe::1",
			"fe80::1", "fe80::1%eth0", "fd00:ec2::254", "fd20:ce::254", "100.100.100.200", "168.63.129.16", "192.0.0.192",
			"2852039166", "0xa9fea9fe", "0xA9.0xFE.0xA9.0xFE", "0251.0376.0251.0376", "169.254.43518", "169.254.169.254.", "127.1",
			"0.0.0.0", "::", "224.0.0.1", "255.255.255.255", "metadata.google.internal", "Metadata.Google.Internal.", "metadata", "metadata.goog", "instance-data",
		},
		address.Private: {
			"127.0.0.1", "::1", "::ffff:127.0.0.1", "::7f00:1", "10.0.0.20", "172.31.255.255", "192.168.1.1", "100.64.0.1", "fc00::1", "64:ff9b:1::1",
			"64:ff9b::a00:1", "2002:a00:1::", "2002:808:808::", "::808:808", "localhost", "vllm", "vllm.internal", "printer.local", "a.home.arpa",
		},
		address.Public: {"8.8.8.8", "172.32.0.1", "169.253.0.1", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808", "api.openai.com", "0x.org", "10.0.0.1.nip.io"},
	} {
		for _, host := range hosts {
			if got := address.OfHost(host); got != want {
				t.Errorf("%s has class %d, want %d", host, got, want)
			}
		}
	}
}
