// Package token keeps the tokens of deployments at clouds.
//
//   - Deployments with equal credentials share one source. Its first token is fetched when the credential appears
//     in the View. A token is fetched again when four fifths of its life have passed, and after a failure with
//     exponential backoff. All of that happens in the background, in Run.
//   - Token never blocks. Await waits for first tokens: a source makes requests wait for one second at most, which
//     begins with the first of them, and never again after it has answered.
//   - When a credential changes or its last deployment is deleted, its source ends and its token is dropped.
//   - An expired token is never given out. A failed fetch keeps the token that is there until it expires.
//   - The reason why a credential has no token is in Reason, in the node's problems, and once in the log. It holds
//     no secret.
package token
