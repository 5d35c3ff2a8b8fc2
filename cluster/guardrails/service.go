package guardrails

import (
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/record"
)

// checkerKind is the kind of engine that asks a checker of the operator. All kinds have the common settings.
func checkerKind(common ...Setting) Kind {
	return Kind{
		Name: httpChecker, Hooks: []string{PreCall, PostCall},
		Description: "Asks a checker of one's own over HTTP, in signed requests, and does what it says.",
		Settings: append(append(service(),
			Setting{Name: "action", Type: "string", Values: []string{block, flag}, Description: "What is done with all that is found. Without it, what the checker says: anonymize, block or flag."},
			Setting{Name: "signing_secret", Type: "string", Description: "What requests are signed with. It is required, and never shown."},
		), common...),
	}
}

// remoteKind is the kind of engine that asks an analyzer.
func remoteKind(common ...Setting) Kind {
	return Kind{
		Name: "presidio_remote", Hooks: []string{PreCall, PostCall},
		Description: "Asks an analyzer of Microsoft Presidio, for its models and languages.",
		Settings: append(append(service(),
			action(anonymize, block, flag),
			Setting{Name: "allow_list", Type: "array", Description: "Values that are left as they are, in any case."},
			Setting{Name: "entities", Type: "array", Description: "The sorts of data to look for; none means all that the analyzer knows."},
			Setting{Name: "language", Type: "string", Default: "en", Description: "The language of the text."},
			threshold(0.5),
		), common...),
	}
}

// service returns the settings of engines that ask a service.
func service() []Setting {
	return []Setting{
		{Name: "api_base", Type: "string", Description: "The address of the service. It is required."},
		{Name: "api_key", Type: "string", Description: "What the service gets as a bearer token. It is never shown."},
		{Name: "max_parallel_requests", Type: "number", Default: 16, Description: "The most calls at a time, on each node. More wait for a place."},
		{Name: "timeout", Type: "number", Default: 2, Description: "How long one call may take, with the wait for a place, in seconds."},
	}
}

// The secrets that an engine can have.
const (
	KeySecret     = "api_key"
	SigningSecret = "signing_secret"
)

// SecretContext returns what a secret is bound to when it is sealed: its guardrail and the address that it is for.
func (e *Engine) SecretContext(secret string) string {
	return "guardrail/" + e.Of + "/" + e.Name + "/" + secret + "/" + e.APIBase
}

// Bounds of calls to services.
const (
	minTimeout  = 50 // milliseconds
	maxTimeout  = 30_000
	maxParallel = 256
)

// checkService checks how the service of an engine is called. Whether its address may be called is for
// callers to check: it depends on the configuration.
func (e *Engine) checkService(at string, kind Kind) (errs []error) {
	if _, has := kind.setting("api_base"); !has {
		return nil
	}
	if e.APIBase == "" {
		errs = append(errs, fault.Field(at+"config.api_base", "missing_required_parameter", "The engine %s asks a service. Give its address as api_base.", kind.Name))
	}
	if e.Name == httpChecker && len(e.SealedSecret) == 0 {
		errs = append(errs, fault.Field(at+"config.signing_secret", "missing_required_parameter", "Requests to a checker are signed. Give signing_secret, also if api_base changes."))
	}
	if n := e.TimeoutMillis; n != 0 && (n < minTimeout || n > maxTimeout) {
		errs = append(errs, fault.Field(at+"config.timeout", "invalid_value", "timeout must be from 0.05 to 30 seconds."))
	}
	if e.MaxParallel > maxParallel {
		errs = append(errs, fault.Field(at+"config.max_parallel_requests", "invalid_value", "max_parallel_requests must be from 1 to %d.", maxParallel))
	}
	return errs
}

// Resealed is what Reseal did.
type Resealed struct {
	Done    int  // secrets that it sealed again
	Already int  // secrets that needed nothing, of those that it looked at
	More    bool // there may be others: it is to be called again
}

// maxResealed bounds what one transaction writes, in bytes; an entry of the log may be about twice as large.
const maxResealed = 400 << 10

// Reseal seals the secrets of guardrails again that another key than the one in use has sealed, as many as one transaction
// may hold. It is Conflict for one that cannot be opened.
func Reseal(s *Set, tx *record.Txn, reseal func(sealed []byte, context string) (again []byte, changed bool, err error)) (Resealed, error) {
	var out Resealed
	written := 0
	for g := range s.All() {
		if written >= maxResealed {
			out.More = true
			break
		}
		next, before := *g, out.Done
		next.Engines = slices.Clone(g.Engines)
		for i := range next.Engines {
			e := &next.Engines[i]
			for _, secret := range []struct {
				sealed *[]byte
				name   string
			}{{&e.SealedKey, KeySecret}, {&e.SealedSecret, SigningSecret}} {
				if len(*secret.sealed) == 0 {
					continue
				}
				again, changed, err := reseal(*secret.sealed, e.SecretContext(secret.name))
				switch {
				case err != nil:
					return out, &fault.Error{
						Op: "guardrails.reseal", Kind: fault.Conflict, Code: "cannot_open", Err: err,
						Detail: "The " + secret.name + " of a guardrail cannot be opened by this node; send it again with PATCH /guardrail/" + g.ID + ", or delete the guardrail.",
					}
				case changed:
					*secret.sealed = again
					out.Done++
				default:
					out.Already++
				}
			}
		}
		if out.Done > before {
			s.Rewrite(tx, &next)
			written += proto.Size(next.record())
		}
	}
	return out, nil
}
