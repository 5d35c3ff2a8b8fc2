// What applications do with the SDKs for JavaScript, pointed at the gateway.
import assert from "node:assert/strict";
import Anthropic from "@anthropic-ai/sdk";
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, isStepCount, Output, tool } from "ai";
import OpenAI from "openai";
import { z } from "zod";

const url = process.env.GATEWAY_URL ?? "http://127.0.0.1:8080";
const apiKey = process.env.GATEWAY_KEY;
if (!apiKey) {
  console.error("chat.mjs: set GATEWAY_KEY to the key that make run printed");
  process.exit(1);
}
const model = process.env.MODEL ?? "fast";
const question = "What is the weather in Oslo?";

const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey });
const anthropic = new Anthropic({ baseURL: url, apiKey });
const vercel = createOpenAI({ baseURL: `${url}/v1`, apiKey });

const response = await openai.responses.create({ model, input: question });
console.log("response:", response.output_text);
assert.equal(response.status, "completed");

let text = "";
for await (const chunk of await openai.chat.completions.create({ model, messages: [{ role: "user", content: question }], stream: true })) {
  text += chunk.choices[0]?.delta.content ?? "";
}
console.log("stream:", text);
assert.ok(text);

const embeddings = await openai.embeddings.create({ model: process.env.EMBEDDING_MODEL ?? "embed", input: [question, "Ships in the fjord"] });
console.log("embeddings:", embeddings.data.length, "of", embeddings.data[0].embedding.length, "numbers");
assert.equal(embeddings.data.length, 2);

const message = await anthropic.messages.create({ model, max_tokens: 200, messages: [{ role: "user", content: question }] });
console.log("message:", message.content[0].text);
assert.equal(message.stop_reason, "end_turn");

// The AI SDK's own default is responses; store: false fits models of every provider.
const weather = tool({
  description: "the weather of a city",
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }) => `rain in ${city}`,
});
const run = await generateText({
  model: vercel(model),
  prompt: question,
  tools: { weather },
  stopWhen: isStepCount(5),
  providerOptions: { openai: { store: false } },
});
console.log("tool:", run.text);
assert.match(run.text, /rain/);

const report = await generateText({
  model: vercel(model),
  prompt: question,
  output: Output.object({ schema: z.object({ city: z.string(), degrees: z.number() }) }),
});
console.log("parsed:", report.output);
assert.equal(typeof report.output.degrees, "number");

try {
  await openai.chat.completions.create({ model: "no-such-model", messages: [{ role: "user", content: question }] });
  assert.fail("an unknown model was answered");
} catch (error) {
  assert.ok(error instanceof OpenAI.NotFoundError, error);
  console.log("refused:", error.status, error.code);
}
console.log("all went well");
