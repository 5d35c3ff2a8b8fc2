package inbound

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
)

// maxTags bounds the tags of one request, because they are kept with its usage.
const maxTags = 64

// seconds reads a positive number of seconds, fractions included.
func seconds(b []byte) (time.Duration, bool) {
	f, err := strconv.ParseFloat(string(b), 64)
	if err != nil || !(f > 0) || f > maxTimeout.Seconds() { // the negation also rejects NaN
		return 0, false
	}
	return max(time.Duration(f*float64(time.Second)), time.Millisecond), true
}

// retries reads a number of retries.
func retries(b []byte) (int, bool) {
	n, err := strconv.Atoi(string(b))
	return n, err == nil && n >= 0 && n <= maxRetries
}

var errTooMany = errors.New("too many")

func stringList(b []byte) ([]string, error) {
	var out []string
	if err := json.Unmarshal(b, &out); err != nil {
		return nil, err
	}
	if len(out) > maxTags {
		return nil, errTooMany
	}
	return out, nil
}

// maxLabel bounds a caller's label that is kept with its usage, in bytes.
const maxLabel = 256

// TruncatedLabel shortens a label that is too long to keep. It is not an error: the
// field is the provider's as well, and may be longer there.
func TruncatedLabel(s string) string {
	if len(s) <= maxLabel {
		return s
	}
	return strings.ToValidUTF8(s[:maxLabel], "")
}
