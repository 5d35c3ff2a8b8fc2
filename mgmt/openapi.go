package mgmt

import "net/http"

// shows makes a handler of a part of the API's description.
func (s *Server) shows(part func(w http.ResponseWriter, r *http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := part(w, r); err != nil {
			s.refuse(w, r, err)
		}
	}
}
