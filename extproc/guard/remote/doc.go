// Package remote has the engines that ask a service over HTTP: an analyzer of Microsoft Presidio, and
// checkers of the operator.
//
// A text goes to the service in parts, which end where sentences do. Where a part ends depends on the text
// alone, and not on how it was cut, so a stream has the same parts as a whole response. A part of a response has at
// most engine.Ahead bytes: that is the most that a stream holds back. Requests never come in pieces, and have
// longer parts.
//
// Whatever the service does that it should not do (no response, a late one, a redirect, another status than 200, a body
// that is too large, JSON of another form, places that the text does not have) is a failure of the engine. Errors name no
// text, no secret and nothing of what the service has sent.
package remote
