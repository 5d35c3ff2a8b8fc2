package mgmt

import (
	"log/slog"
	"mime"
	"net/http"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/proto/gen/gateway/surface"
)

// headerConfirm says the same as the parameter confirm.
const headerConfirm = "x-gateway-confirm"

// confirmed is what both must say.
const confirmed = "yes"

// Parameters of a restore that say yes, or are left out.
const (
	paramFull     = "full"
	paramUnusable = "accept_unusable"
)

// snapshot sends the whole agreed state as one file. It is made while it is sent,
// so that it needs no memory; an error after its first byte cuts the connection,
// for there is no other way left to say that the file is not whole.
func (s *Server) snapshot(w http.ResponseWriter, r *http.Request) {
	out := &download{w: w}
	err := s.cfg.State.Backups.Backup(r.Context(), out)
	switch {
	case err == nil:
		out.begin() // also a file of no bytes has headers
	case !out.begun:
		s.refuse(w, r, timely(r.Context(), surface.Change, err))
	default:
		s.cfg.Logger.LogAttrs(r.Context(), slog.LevelError, "snapshot broke off",
			slog.String("request_id", w.Header().Get(headerRequestID)), slog.String("error", err.Error()))
		panic(http.ErrAbortHandler)
	}
}

// download is a response that becomes a file with its first byte.
type download struct {
	w     http.ResponseWriter
	begun bool
}

func (d *download) begin() {
	if d.begun {
		return
	}
	d.begun = true
	h := d.w.Header()
	h.Set("Content-Type", binaryType)
	h.Set("Content-Disposition", `attachment; filename="modelgateway.snapshot"`)
	h.Set("Cache-Control", "no-store")
	d.w.WriteHeader(http.StatusOK)
}

// Write sends a piece.
func (d *download) Write(p []byte) (int, error) {
	d.begin()
	return d.w.Write(p)
}

func checkRestore(r *http.Request) error {
	if r.URL.Query().Get("confirm") != confirmed && r.Header.Get(headerConfirm) != confirmed {
		return fault.Field("confirm", "confirmation_required", "This makes the keys, models and settings of every node those of the snapshot. Add ?confirm=yes if that is meant.")
	}
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || media != binaryType || r.Header.Get("Content-Encoding") != "" {
		return fault.New(fault.MediaType, "", "Send the snapshot as it was downloaded, as %s.", binaryType)
	}
	for name, values := range r.URL.Query() {
		switch name {
		case "confirm":
		case paramFull, paramUnusable:
			if len(values) > 1 || values[0] != confirmed {
				return fault.Field(name, "invalid_value", "%s must be yes, or be left out.", name)
			}
		default:
			return fault.Field(name, "unknown_field", "There is no parameter %s; confirm, %s and %s are known.", name, paramFull, paramUnusable)
		}
	}
	if r.ContentLength == 0 {
		return fault.New(fault.Malformed, "invalid_snapshot", "The body is empty; send the snapshot.")
	}
	return nil
}
