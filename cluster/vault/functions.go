package vault

// Seal encrypts a secret for the replicated state. The context names the owner: the
// sealed secret opens under that context only, so it is of no use in another record.
// The empty secret is sealed to nothing.
type Seal func(plain Secret, context string) ([]byte, error)

// Open is the reverse of Seal.
type Open func(sealed []byte, context string) (Secret, error)
