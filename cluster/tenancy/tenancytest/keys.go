package tenancytest

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/credential"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/store"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// Refusal is the param and the code of a fault; empty for none.
func Refusal(err error) string {
	if err == nil {
		return ""
	}
	f := fault.From(err)
	return strings.TrimSpace(f.Param + " " + f.Code)
}

// HashOf returns the hash of the key of a name.
func HashOf(name string) id.KeyHash { return id.HashKey("sk-" + name) }

// Called is a key of a name, which tests know it by.
func Called(name string, change func(*tenancy.Key)) tenancy.Key {
	k := tenancy.Key{Hash: HashOf(name), Name: "sk-..." + name}
	if change != nil {
		change(&k)
	}
	return k
}

// Numbered is one of many keys, as the state has it.
func Numbered(tb testing.TB, n int) record.Change {
	tb.Helper()
	h := sha256.Sum256(binary.BigEndian.AppendUint64(nil, uint64(n)))
	r := &clusterv1.VirtualKey{
		Hash: h[:], Name: "sk-...0000", Alias: fmt.Sprintf("key %06d", n), Models: []string{"gpt-4o"}, Blocked: n%10 == 0,
		ExpiresUnixNano: Now().Add(time.Duration(n*7919%100_003+1) * time.Minute).UnixNano(),
		Stamp:           &clusterv1.Stamp{CreatedUnixNano: Now().Add(time.Duration(n) * time.Second).UnixNano(), CreatedBy: "admin", Revision: uint64(n + 1)},
	}
	value, err := proto.Marshal(r)
	if err != nil {
		tb.Fatal(err)
	}
	return record.Change{Space: store.SpaceKey, Key: h[:], Value: value}
}

// ManyKeys is a set of n keys of the state, all different.
func ManyKeys(tb testing.TB, n int) *tenancy.Set {
	tb.Helper()
	changes := make([]record.Change, n)
	for i := range changes {
		changes[i] = Numbered(tb, i)
	}
	s, broken := NewOffice(tb).Set.With(changes)
	if len(broken) > 0 || s.Len() != n {
		tb.Fatalf("%d keys, errors %v", s.Len(), broken)
	}
	return s
}

// TheOne returns the first key of an alias.
func TheOne(s *tenancy.Set, alias string) (*tenancy.Key, bool) {
	for k := range s.ByAlias(alias) {
		return k, true
	}
	return nil, false
}

// Now is the time of every test.
func Now() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) }

// Master is the master key of every office.
const Master = "sk-master-0123456789"

// Present makes credentials of alternating names and values.
func Present(headers ...string) credential.Presented {
	var p credential.Presented
	for ; len(headers) > 1; headers = headers[2:] {
		p.Add(headers[0], headers[1])
	}
	return p
}
