package ledger

import (
	"encoding/binary"
	"errors"
	"strings"
	"time"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/record"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// errKey reports a key that does not have the format of its space.
var errKey = errors.New("malformed key")

// clean makes a name usable in a key, where a zero byte ends each part. Callers choose the
// names of end users.
func clean(name string) string { return strings.ReplaceAll(name, "\x00", "\uFFFD") }

// appendAccount appends the key of an account: kind, owner, 0, part.
func appendAccount(to []byte, a id.Account) []byte {
	to = append(to, byte(a.Kind))
	to = append(to, a.Owner...)
	to = append(to, 0)
	return append(to, a.Part...)
}

// parseAccount decodes the key of an account.
func parseAccount(key []byte) (id.Account, error) {
	if len(key) == 0 {
		return id.Account{}, errKey
	}
	owner, part, ok := strings.Cut(string(key[1:]), "\x00")
	if !ok {
		return id.Account{}, errKey
	}
	return id.Account{Kind: id.AccountKind(key[0]), Owner: owner, Part: part}, nil
}

// accountOf decodes the name of an account in a command.
func accountOf(m *clusterv1.AccountID) (id.Account, *fault.Error) {
	if m.GetKind() <= 0 || m.GetKind() > 0xff {
		return id.Account{}, fault.Field("account.kind", "invalid_value", "account.kind is not a kind of account.")
	}
	return id.Account{Kind: id.AccountKind(m.GetKind()), Owner: clean(m.GetOwner()), Part: clean(m.GetPart())}, nil
}

// momentSize is the length of a time in keys.
const momentSize = 8

// appendMoment appends a time in the format of keys. Times before 1970 become 1970.
func appendMoment(to []byte, nanos int64) []byte {
	return binary.BigEndian.AppendUint64(to, uint64(max(nanos, 0)))
}

// momentOf decodes the time at the start of a key.
func momentOf(key []byte) int64 {
	if len(key) < momentSize {
		return 0
	}
	return int64(binary.BigEndian.Uint64(key))
}

// endKey returns the key of an account in the index of window ends.
func endKey(resets int64, a id.Account) []byte {
	return appendAccount(appendMoment(nil, resets), a)
}

// shippedKey returns the key of the posting progress of an epoch of a node's journal.
func shippedKey(node string, epoch uint64) []byte {
	return binary.BigEndian.AppendUint64(append([]byte(node), 0), epoch)
}

// appendUsage appends the key of a usage record.
func appendUsage(to []byte, end int64, node string, epoch, seq uint64) []byte {
	to = appendMoment(to, end)
	to = append(to, node...)
	to = append(to, 0)
	to = binary.BigEndian.AppendUint64(to, epoch)
	return binary.BigEndian.AppendUint64(to, seq)
}

// The first bytes of keys in the index of usage records.
const (
	indexKey     = 'k'
	indexRequest = 'r'
	indexAccount = 'a'
)

// appendAccountIndex appends the index key for the account of another key that this key has
// used.
func appendAccountIndex(to []byte, hash id.KeyHash) []byte {
	return append(append(to, indexAccount), hash[:]...)
}

// appendKeyIndex appends the index prefix of the records of a key's account.
func appendKeyIndex(to []byte, hash id.KeyHash) []byte {
	return append(append(to, indexKey), hash[:]...)
}

// appendRequestIndex appends the index prefix of a request's records.
func appendRequestIndex(to []byte, request string) []byte {
	return append(append(append(to, indexRequest), clean(request)...), 0)
}

// endOf returns the end of an event, or its start if it has no end.
func endOf(e *clusterv1.UsageEvent) int64 {
	if e.GetEndUnixNano() != 0 {
		return e.GetEndUnixNano()
	}
	return e.GetStartUnixNano()
}

// dayLayout is the day format of keys.
const dayLayout = "20060102"

// dayOf returns the day (UTC) of an instant.
func dayOf(nanos int64) string { return time.Unix(0, nanos).UTC().Format(dayLayout) }

// appendDaily appends the prefix of an account's rows of a day.
func appendDaily(to []byte, of id.Account, day string) []byte {
	return append(appendDays(to, of), day...)
}

// appendDays appends the prefix of all rows of an account: kind, owner, 0 and, for an end user
// of an organization, another 0, the organization and a 0. A day follows, which begins with a
// digit, so the prefixes of two accounts never collide.
func appendDays(to []byte, of id.Account) []byte {
	to = append(to, byte(of.Kind))
	to = append(to, of.Owner...)
	to = append(to, 0)
	if of.Part == "" {
		return to
	}
	to = append(to, 0)
	to = append(to, of.Part...)
	return append(to, 0)
}

// parseDaily decodes the account and the day from the key of a row.
func parseDaily(key []byte) (of id.Account, day string, err error) {
	n := len(key) - digestSize - len(dayLayout)
	if n < 2 || key[n-1] != 0 {
		return id.Account{}, "", errKey
	}
	owner, part, _ := strings.Cut(string(key[1:n-1]), "\x00\x00")
	return id.Account{Kind: id.AccountKind(key[0]), Owner: owner, Part: part}, string(key[n : n+len(dayLayout)]), nil
}

// unreadable returns the error for state that cannot be read.
func unreadable(err error) *fault.Error { return record.Unreadable(err) }
