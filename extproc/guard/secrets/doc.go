// Package secrets is the engine detect_secret of guardrails: it finds credentials by the forms that vendors give
// theirs, by words before them, by checksums and what they encode, and last by their entropy. Entities of its
// findings are the names of its detectors.
//
// # What is found
//
//   - By form, wherever they are: artifactory (API keys AKC…, reference tokens, encrypted passwords), aws (access key
//     ids), azure (client secrets of Entra, keys of AI services), discord (bot tokens whose first part is a number in base64), github (all
//     tokens), jwt (whose first part is JSON with an algorithm), mailchimp, model_provider (keys of OpenAI, Anthropic, Google and
//     others that have a form; keys of this gateway and of others that begin with sk-), npm, sendgrid, slack (tokens, webhooks), square, stripe
//     (secret and restricted keys, signing secrets of webhooks), twilio (account and key SIDs).
//   - By form and a word before them, at most contextSize bytes away: aws (secret keys), azure (account keys, shared access
//     keys, signatures), cloudant, ibm_cos, ibm_iam, model_provider (keys of Cohere and Mistral), npm (_authToken), softlayer, twilio (tokens).
//   - basic_auth: the password in scheme://user:password@host.
//   - private_key: from the first line of a PEM or PGP key to its last one, also within a string of JSON or code. A key that was cut ends where
//     its lines of base64 do.
//   - hex_entropy and base64_entropy: 20 characters and more in quotes, or after = or :, with more than 3.0 and 4.5
//     bits of entropy a character, as in detect-secrets.
//
// # What is not found
//
//   - Passwords and other values without a form. That is why there are content_filter and patterns.
//   - Publishable keys (pk_live_…), hashes and numbers that a word before them names (sha256, commit, trace, etag …),
//     UUIDs, numbers, placeholders such as xxxx.
//   - Secrets with spaces or line ends inside, that are encoded once more, or split over several texts.
//
// # How
//
// A text is read in runs of characters that secrets have. Most runs of prose are too short, and are skipped with
// one look at a table for each byte. In the others, tokens that begin where no letter or digit is before are compared
// with forms.
//
// # Streams
//
// A run is decided when its end is known, or on its first window bytes. Of these, what begins in the first half is
// decided, and the rest is another run, so what is found does not depend on how a text is cut. A secret that fills the window,
// and a private key after its first line, are masked to their end as they come; nothing of them is held back.
//
// # Compared with gitleaks
//
// A test generates values for each of gitleaks' rules about secrets of these detectors (testdata/gitleaks), and finds all of them, but for
// those where this package wants more: of jwt (a first part that can be decoded), artifactory-reference-token (the whole word that
// is encoded at its beginning), mailchimp, npm and slack-app tokens (lower case, as vendors issue them), stripe (16 characters, not 10), square
// (EAAA and 60 characters, not 22 to 60), and the other tokens of Slack (16 characters). gitleaks finds nothing in the texts without
// secrets, and has no rule for basic_auth, bot tokens of Discord, and SIDs of Twilio accounts. Values that gitleaks finds only because of a
// word before them (generic-api-key, discord-client-secret) are the business of the detectors of entropy.
package secrets
