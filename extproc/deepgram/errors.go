package deepgram

import (
	"cmp"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// apiError is an error of Deepgram's. Parts of the API name its members differently.
type apiError struct {
	Code     jsontext.Value `json:"err_code"`
	Message  jsontext.Value `json:"err_msg"`
	Category jsontext.Value `json:"category"`
	Text     jsontext.Value `json:"message"`
	Details  jsontext.Value `json:"details"`
}

// errorClass is what an error means that its status does not tell. An empty field matches any.
type errorClass struct {
	word  string // its code or category
	says  string // in the message, in lower case
	as    int    // status of the class
	code  string // of the class; one of OpenAI's if package driver knows it
	param string
}

// errorClasses is the table of Deepgram's errors. The first row that matches counts.
// See https://developers.deepgram.com/docs/errors.
func errorClasses() []errorClass {
	return []errorClass{
		{word: "INVALID_AUTH", as: http.StatusUnauthorized},
		{word: "ASR_PAYMENT_REQUIRED", as: http.StatusPaymentRequired, code: "insufficient_quota"},
		{word: "INSUFFICIENT_PERMISSIONS", says: "model", as: http.StatusNotFound, code: "model_not_found", param: "model"},
		{says: "no such model", as: http.StatusNotFound, code: "model_not_found", param: "model"},
		{says: "does not have access to the requested model", as: http.StatusNotFound, code: "model_not_found", param: "model"},
		{says: "corrupt or unsupported data", as: http.StatusBadRequest, code: "invalid_file", param: file},
		{says: "failed to process audio", as: http.StatusBadRequest, code: "invalid_file", param: file},
		{says: "input text exceeds", as: http.StatusRequestEntityTooLarge, code: "input_too_long", param: "input"},
		{word: "INSUFFICIENT_PERMISSIONS", as: http.StatusForbidden},
		{word: "TOO_MANY_REQUESTS", as: http.StatusTooManyRequests},
	}
}

// Classify reads Deepgram's errors.
func (Driver) Classify(status int, header func(string) string, body []byte) *wire.Failure {
	var e apiError
	if driver.DecodeLoose(body, &e) != nil || len(e.Code)+len(e.Message)+len(e.Category)+len(e.Details) == 0 {
		return driver.Classify(status, header, body)
	}
	word := cmp.Or(driver.Text(e.Code), driver.Text(e.Category))
	problem := driver.Problem{Status: status, Code: strings.ToLower(strings.ReplaceAll(word, " ", "_")), Message: cmp.Or(driver.Text(e.Message), driver.Text(e.Text))}
	if details := driver.Text(e.Details); details != "" {
		problem.Message = strings.TrimSpace(problem.Message + " " + details)
	}
	message := strings.ToLower(problem.Message)
	for _, c := range errorClasses() {
		if (c.word == "" || c.word == word) && strings.Contains(message, c.says) {
			problem.Status, problem.Code, problem.Param = c.as, c.code, c.param
			break
		}
	}
	f := problem.Failure()
	f.RetryAfter = driver.RetryAfter(header)
	return f
}

// failureIn classifies an error that came with status 200.
func failureIn(body []byte) *wire.Failure {
	return Driver{}.Classify(http.StatusInternalServerError, nil, body)
}
