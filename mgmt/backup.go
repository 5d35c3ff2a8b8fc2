package mgmt

import (
	"log/slog"
	"mime"
	"net/http"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/mgmt/operation"
	"github.com/modelgateway/modelgateway/mgmt/rest"
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

// snapshot sends the whole agreed state as one file. It is made while it is sent, so
// that it needs no memory.
func (s *Server) snapshot(w http.ResponseWriter, r *http.Request) {
	out := &file{w: w, media: rest.BinaryType, name: "modelgateway.snapshot"}
	err := out.send(r, surface.Change, func() error {
		err := s.cfg.State.Backups.Backup(r.Context(), out)
		if err != nil && out.begun {
			s.cfg.Logger.LogAttrs(r.Context(), slog.LevelError, "snapshot broke off",
				slog.String("request_id", w.Header().Get(headerRequestID)), slog.String("error", err.Error()))
		}
		return err
	})
	if err != nil {
		s.refuse(w, r, err)
	}
}

// file is a response that becomes a file with its first byte. Until then an error can
// be sent.
type file struct {
	w           http.ResponseWriter
	media, name string
	begun       bool
}

// send sends what write writes. It returns an error if the file has not begun. Later it
// cuts the connection, so that the caller does not take a part for the whole.
func (f *file) send(r *http.Request, effect surface.Effect, write func() error) error {
	err := write()
	switch {
	case err == nil:
		f.begin() // a file without bytes has headers, too
	case !f.begun:
		return operation.Timely(r.Context(), effect, err)
	default:
		panic(http.ErrAbortHandler)
	}
	return nil
}

func (f *file) begin() {
	if f.begun {
		return
	}
	f.begun = true
	h := f.w.Header()
	h.Set("Content-Type", f.media)
	h.Set("Content-Disposition", `attachment; filename="`+f.name+`"`)
	h.Set("Cache-Control", "no-store")
	f.w.WriteHeader(http.StatusOK)
}

// Write sends a piece.
func (f *file) Write(p []byte) (int, error) {
	f.begin()
	return f.w.Write(p)
}

func checkRestore(r *http.Request) error {
	if r.URL.Query().Get("confirm") != confirmed && r.Header.Get(headerConfirm) != confirmed {
		return fault.Field("confirm", "confirmation_required", "This makes the keys, models and settings of every node those of the snapshot. Add ?confirm=yes if that is meant.")
	}
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || media != rest.BinaryType || r.Header.Get("Content-Encoding") != "" {
		return fault.New(fault.MediaType, "", "Send the snapshot as it was downloaded, as %s.", rest.BinaryType)
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
