// Package voyage is the language of Voyage's embeddings and rankings, for providers.
//
// What is different from OpenAI's embeddings and Cohere's rankings, and where it is handled:
//
//   - the size of embeddings and the number of ranks have other names, and a format of numbers is base64 or
//     none (embed.go, rank.go);
//   - models that embed a text among others of its document, and models that embed pictures, have endpoints
//     and shapes of their own. Their embeddings come back as OpenAI's (embed.go);
//   - documents of a ranking are texts (rank.go);
//   - usage is a total of tokens.
package voyage
