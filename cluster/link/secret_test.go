package link_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/link"
	"github.com/modelgateway/modelgateway/cluster/vault"
)

// TestGossipKey is one for each secret, wherever it is made, and the same in every
// version: nodes of two versions have to understand each other.
func TestGossipKey(t *testing.T) {
	key := member(t, 1).GossipKey()
	if !bytes.Equal(key, member(t, 2).GossipKey()) || bytes.Equal(key, identity(t, theirSecret, 1).GossipKey()) {
		t.Error("the key is not the secret's")
	}
	if got, want := hex.EncodeToString(key), "6a6ad6f44edac545d32aca807dfba61a004aa97f81971c4368e46ac53458d94d"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	clear(key)
	if bytes.Equal(key, member(t, 1).GossipKey()) {
		t.Error("the key can be changed by who reads it")
	}
}

// TestWeakSecrets are refused, and the refusal shows nothing of them.
func TestWeakSecrets(t *testing.T) {
	for _, secret := range []string{"", "hunter2", strings.Repeat("x", 31), strings.Repeat("abc", 20), strings.Repeat("hunter2", 20)} {
		_, err := link.FromSecret(vault.NewSecret(secret), nodeID(1))
		wantFault(t, err, "cluster_secret", "openssl rand -hex 32")
		_, ferr := link.FromFiles(link.Files{GossipKey: vault.NewSecret(secret)}, nodeID(1))
		wantFault(t, ferr, "cluster_secret", "openssl rand -hex 32")
		for _, err := range []error{err, ferr} {
			if secret != "" && strings.Contains(err.Error(), secret) {
				t.Errorf("the error shows the secret: %v", err)
			}
		}
	}
}

// TestNoNode refuses to make an identity for what is no node's id: others would
// refuse its certificate.
func TestNoNode(t *testing.T) {
	for _, node := range []id.Node{"", "a", id.Node(strings.Repeat("A", 32)), id.Node(strings.Repeat("/", 32)), nodeID(1) + "0"} {
		if _, err := link.FromSecret(vault.NewSecret(ourSecret), node); err == nil {
			t.Errorf("%q", node)
		}
		if _, err := link.FromFiles(link.Files{GossipKey: vault.NewSecret(ourSecret)}, node); err == nil {
			t.Errorf("%q", node)
		}
	}
}

// TestIdentityCannotBePrinted tries everything that prints.
func TestIdentityCannotBePrinted(t *testing.T) {
	i := member(t, 1)
	var out bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%o", "%c"} {
		for _, value := range []any{i, link.Config{Identity: i}, &link.Config{Identity: i}, []*link.Identity{i}} {
			_, _ = fmt.Fprintf(&out, verb+"\n", value) // a buffer takes it
		}
	}
	for _, handler := range []slog.Handler{slog.NewTextHandler(&out, nil), slog.NewJSONHandler(&out, nil)} {
		slog.New(handler).InfoContext(t.Context(), "identity", slog.Any("identity", i))
	}
	key := i.GossipKey()
	for _, format := range []string{"%x", "%X", "%d", "%o", "%s", "%v"} {
		if shown := strings.Trim(fmt.Sprintf(format, key[:4]), "[]"); strings.Contains(out.String(), shown) {
			t.Errorf("shown in %s", format)
		}
	}
	if strings.Contains(out.String(), ourSecret) {
		t.Error("the secret is shown")
	}
}

// TestRenewal uses two identities for a month: each day the nodes still let each
// other in, with certificates that have a day left and are not made again all the
// time.
func TestRenewal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two := member(t, 1), member(t, 2)
		seen := map[string]bool{}
		for range 30 {
			<-time.After(24 * time.Hour)
			a := bind(t, link.Config{Identity: one})
			b := bind(t, link.Config{Identity: two})
			stop := run(t, b) // and ends, for time stands still while it waits for connections
			for range 2 {
				conn, err := a.DialNode(t.Context(), b.Address(), nodeID(2), link.Raft)
				if err != nil {
					t.Fatal(err)
				}
				leaf := conn.(*link.Conn).ConnectionState().PeerCertificates[0]
				if left := time.Until(leaf.NotAfter); left < 24*time.Hour {
					t.Errorf("%s are left", left)
				}
				seen[leaf.SerialNumber.String()] = true
				_ = conn.Close()
			}
			stop()
		}
		if len(seen) != 16 {
			t.Errorf("%d certificates in 30 days, want the first and one each two days", len(seen))
		}
	})
}

// TestClockSetBack makes a certificate again when this node's own clock was wrong
// before: others would say that it does not count yet.
func TestClockSetBack(t *testing.T) {
	ahead := member(t, 1)
	synctest.Test(t, func(t *testing.T) { // where it is the year 2000
		a, b := start(t, link.Config{Identity: ahead}), start(t, link.Config{Identity: member(t, 2)})
		mustDial(t, a, b.Address(), link.Raft)
		mustDial(t, b, a.Address(), link.Raft)
	})
}
