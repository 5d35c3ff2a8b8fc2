# net/http/httputil.ReverseProxy: the lower bound of a gateway in plain Go.
PORT=8206
VERSION="httputil.ReverseProxy, $(go env GOVERSION)"
CMD=("$BIN/revproxy" -addr 127.0.0.1:$PORT -to "$MOCK")
