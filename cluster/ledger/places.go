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

// errKey is a key that is not of the form that its space has.
var errKey = errors.New("malformed key")

// clean makes a name fit for a key, whose parts a zero byte ends. Callers choose
// the names of end users.
func clean(name string) string { return strings.ReplaceAll(name, "\x00", "\uFFFD") }

// appendAccount appends the key of an account: kind, owner, 0, part.
func appendAccount(to []byte, a id.Account) []byte {
	to = append(to, byte(a.Kind))
	to = append(to, a.Owner...)
	to = append(to, 0)
	return append(to, a.Part...)
}

// parseAccount reads the key of an account.
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

// accountOf reads the name of an account in a command.
func accountOf(m *clusterv1.AccountID) (id.Account, *fault.Error) {
	if m.GetKind() <= 0 || m.GetKind() > 0xff {
		return id.Account{}, fault.Field("account.kind", "invalid_value", "account.kind is not a kind of account.")
	}
	return id.Account{Kind: id.AccountKind(m.GetKind()), Owner: clean(m.GetOwner()), Part: clean(m.GetPart())}, nil
}

// momentSize is the length of a time in keys.
const momentSize = 8

// appendMoment appends a time as keys have it: those before 1970 are as early as can be.
func appendMoment(to []byte, nanos int64) []byte {
	return binary.BigEndian.AppendUint64(to, uint64(max(nanos, 0)))
}

// endKey is the key of an account in the order of when windows end.
func endKey(resets int64, a id.Account) []byte {
	return appendAccount(appendMoment(nil, resets), a)
}

// shippedKey is the key of how far an epoch of a node's journal has been posted.
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

// appendAccountIndex appends where the index says which account a key has used that is
// not its own.
func appendAccountIndex(to []byte, hash id.KeyHash) []byte {
	return append(append(to, indexAccount), hash[:]...)
}

// appendKeyIndex appends what the index has before the places of the records of a
// key's account.
func appendKeyIndex(to []byte, hash id.KeyHash) []byte {
	return append(append(to, indexKey), hash[:]...)
}

// appendRequestIndex appends what the index has before the places of a request's records.
func appendRequestIndex(to []byte, request string) []byte {
	return append(append(append(to, indexRequest), clean(request)...), 0)
}

// endOf is when an event ended; of one that does not say, when it began.
func endOf(e *clusterv1.UsageEvent) int64 {
	if e.GetEndUnixNano() != 0 {
		return e.GetEndUnixNano()
	}
	return e.GetStartUnixNano()
}

// dayLayout is a day as keys have it.
const dayLayout = "20060102"

// dayOf is the day (UTC) of an instant.
func dayOf(nanos int64) string { return time.Unix(0, nanos).UTC().Format(dayLayout) }

// appendDaily appends what the keys of an account's rows of a day begin with.
func appendDaily(to []byte, of id.Account, day string) []byte {
	return append(appendDays(to, of), day...)
}

// appendDays appends what the keys of all rows of an account begin with: kind, owner, 0
// and, for an end user of an organization, another 0, the organization and a 0. A day
// follows, which begins with a digit, so no two accounts have the same.
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

// parseDaily reads the key of a row: whose it is, and its day.
func parseDaily(key []byte) (of id.Account, day string, err error) {
	n := len(key) - digestSize - len(dayLayout)
	if n < 2 || key[n-1] != 0 {
		return id.Account{}, "", errKey
	}
	owner, part, _ := strings.Cut(string(key[1:n-1]), "\x00\x00")
	return id.Account{Kind: id.AccountKind(key[0]), Owner: owner, Part: part}, string(key[n : n+len(dayLayout)]), nil
}

// unreadable is the fault of a state that cannot be read.
func unreadable(err error) *fault.Error { return record.Unreadable(err) }
