package link

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net"
	"os"
	"sync"
	"time"
)

// Reason is the cause of a rejection in logs and metrics.
type Reason string

// The reasons.
const (
	ReasonNotTLS       Reason = "not_tls"           // another protocol, such as HTTP
	ReasonOldTLS       Reason = "old_tls"           // at most TLS 1.2
	ReasonProtocol     Reason = "unknown_protocol"  // no known ALPN name
	ReasonNoCert       Reason = "no_certificate"    // the other side sent no certificate
	ReasonStranger     Reason = "unknown_authority" // its certificate is not of the cluster's authority
	ReasonBadCert      Reason = "bad_certificate"   // of the cluster's authority, but expired, for another use or misnamed
	ReasonRejected     Reason = "rejected_by_peer"  // the other side does not trust this one
	ReasonTooLarge     Reason = "too_large"         // more bytes than a handshake needs
	ReasonTimeout      Reason = "timeout"           // it took too long
	ReasonGone         Reason = "gone"              // the other side closed the connection
	ReasonHandshake    Reason = "handshake"         // TLS, but malformed
	ReasonTooMany      Reason = "too_many"          // evicted by a newer connection: too many unverified connections
	ReasonBusy         Reason = "busy"              // no free slot for connections of that protocol
	ReasonSystem       Reason = "system"            // the operating system could not accept
	ReasonCertificates Reason = "own_certificate"   // no connection was rejected: this node's new certificate cannot be made or read
)

// refusal is a rejected connection. As an error it is the cause.
type refusal struct {
	reason Reason
	from   net.Addr // nil if this node itself is the cause
	err    error
}

// Error implements error.
func (r *refusal) Error() string { return string(r.reason) + ": " + r.err.Error() }

// Unwrap returns the cause.
func (r *refusal) Unwrap() error { return r.err }

// classified stores the reason with an error, for callers without the hint.
func classified(err error, hint Reason) error {
	if _, ok := errors.AsType[*refusal](err); ok {
		return err
	}
	return &refusal{reason: reasonOf(err, hint), err: err}
}

// reasonOf classifies the error of a handshake. hint is the reason that the handshake itself
// noticed; it applies to TLS errors without a type.
func reasonOf(err error, hint Reason) Reason {
	if known, ok := errors.AsType[*refusal](err); ok {
		return known.reason
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return ReasonNotTLS
	}
	op, isOp := errors.AsType[*net.OpError](err)
	switch {
	case errors.Is(err, errTooMuch):
		return ReasonTooLarge
	case isOp && op.Op == "remote error": // the form of a TLS alert from the other side
		return reasonOfAlert(op.Err)
	case isOp && op.Op == "local error": // the form of a TLS alert that this side sent
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded):
		return ReasonTimeout
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), isOp, errors.Is(err, context.Canceled):
		return ReasonGone
	}
	if hint != "" {
		return hint
	}
	return ReasonHandshake
}

// reasonOfAlert returns the reason for which the other side rejected this one. Package tls has
// the numbers of RFC 8446 but no type for received alerts; their texts are equal.
func reasonOfAlert(err error) Reason {
	for _, known := range []struct {
		reason Reason
		alerts []tls.AlertError
	}{
		// Bad, unsupported, revoked, expired, unknown for another reason, unknown authority,
		// access denied, required.
		{ReasonRejected, []tls.AlertError{42, 43, 44, 45, 46, 48, 49, 116}},
		{ReasonProtocol, []tls.AlertError{120}}, // no application protocol
		{ReasonOldTLS, []tls.AlertError{70}},    // protocol version
	} {
		for _, alert := range known.alerts {
			if err.Error() == alert.Error() {
				return known.reason
			}
		}
	}
	return ReasonHandshake
}

// logEvery is the shortest interval between two lines for a reason. A flood of connections must
// not cause a flood of lines; the counters continue.
const logEvery = time.Second

// maxLogged truncates the logged text of an error, because the other side can influence it.
const maxLogged = 300

// refusals counts and logs rejected connections.
type refusals struct {
	logger *slog.Logger
	mu     struct {
		sync.Mutex
		counts map[Reason]uint64
		logged map[Reason]time.Time
	}
}

func (r *refusals) init(logger *slog.Logger) {
	r.logger = logger
	r.mu.counts, r.mu.logged = map[Reason]uint64{}, map[Reason]time.Time{}
}

// counted returns the counters by reason.
func (r *refusals) counted() map[Reason]uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.mu.counts)
}

// add counts a rejection, and logs it unless one with its reason was logged recently.
func (r *refusals) add(ctx context.Context, one refusal) {
	now := time.Now()
	r.mu.Lock()
	r.mu.counts[one.reason]++
	count, last := r.mu.counts[one.reason], r.mu.logged[one.reason]
	due := last.IsZero() || now.Sub(last) >= logEvery
	if due {
		r.mu.logged[one.reason] = now
	}
	r.mu.Unlock()
	if !due {
		return
	}
	text := one.err.Error()
	if one.from == nil { // caused by this node
		r.logger.WarnContext(ctx, "a node connection failed on this node; it will retry",
			slog.String("reason", string(one.reason)), slog.Uint64("so_far", count), slog.String("error", text))
		return
	}
	r.logger.WarnContext(ctx, "a node connection was rejected",
		slog.String("reason", string(one.reason)), slog.Uint64("refused_so_far", count),
		slog.String("from", one.from.String()), slog.String("error", text[:min(len(text), maxLogged)]))
}
