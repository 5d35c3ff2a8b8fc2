// Vercel's AI SDK, with its providers for OpenAI's chats, OpenAI's responses and Anthropic's messages.
import assert from "node:assert/strict";
import { APICallError, embedMany, generateText, isStepCount, Output, streamText, tool } from "ai";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { z } from "zod";
import { ask, badKey, key, limitedKey, pixel, rejects, run, url } from "./cases.mjs";

const openai = createOpenAI({ baseURL: `${url}/v1`, apiKey: key });
const anthropic = createAnthropic({ baseURL: `${url}/v1`, apiKey: key });
const weather = tool({ description: "of a city", inputSchema: z.object({ city: z.string() }), execute: async () => "sunny" });
const low = { openai: { reasoningEffort: "low", reasoningSummary: "auto", forceReasoning: true }, anthropic: { thinking: { type: "enabled", budgetTokens: 1024 } } };

// cases returns what is tested with models that of makes.
const cases = (of) => ({
  async whole(model) {
    const r = await generateText({ model: of(model), prompt: ask, system: "Be brief.", maxRetries: 0 });
    assert.ok(r.text);
    assert.equal(r.finishReason, "stop");
    assert.ok(r.usage.inputTokens > 0 && r.usage.outputTokens > 0);
  },

  async streamed(model) {
    let text = "";
    const r = streamText({ model: of(model), prompt: ask, maxRetries: 0 });
    for await (const t of r.textStream) text += t;
    assert.ok(text);
    assert.equal(await r.finishReason, "stop");
    assert.ok((await r.usage).outputTokens > 0);
  },

  async tools(model) {
    const r = await generateText({ model: of(model), prompt: ask, tools: { weather }, stopWhen: isStepCount(4), maxRetries: 0 });
    assert.equal(r.steps.length, 2);
    assert.match(r.text, /sunny/);
  },

  async toolsStreamed(model) {
    const r = streamText({ model: of(model), prompt: ask, tools: { weather }, stopWhen: isStepCount(4), maxRetries: 0 });
    let text = "";
    for await (const t of r.textStream) text += t;
    assert.match(text, /sunny/);
    assert.equal((await r.steps).length, 2);
  },

  async picture(model) {
    const content = [
      { type: "text", text: "What is this?" },
      { type: "image", image: Buffer.from(pixel, "base64") },
    ];
    const r = await generateText({ model: of(model), messages: [{ role: "user", content }], maxRetries: 0 });
    assert.match(r.text, /What is this/);
    assert.ok(r.usage.inputTokens > 85);
  },

  async structured(model) {
    const output = Output.object({ schema: z.object({ city: z.string() }) });
    const r = await generateText({ model: of(model), prompt: ask, output, maxRetries: 0 });
    assert.equal(typeof r.output.city, "string");
  },

  async reasoningWithTools(language) {
    const r = streamText({
      model: of(`thinking-${language}`), prompt: ask, tools: { weather }, stopWhen: isStepCount(4), providerOptions: low, maxRetries: 0,
    });
    let text = "";
    for await (const t of r.textStream) text += t;
    assert.match(text, /sunny/);
    const steps = await r.steps;
    assert.equal(steps.length, 2);
    return steps[0].reasoningText;
  },

  async errors(language) {
    const failed = await rejects(() => generateText({ model: of(`failing-${language}`), prompt: ask, maxRetries: 0 }), APICallError);
    assert.ok(failed.statusCode >= 500 && failed.isRetryable && failed.message);
    const none = await rejects(() => generateText({ model: of("nobody"), prompt: ask, maxRetries: 0 }), APICallError);
    assert.equal(none.statusCode, 404);
    assert.match(none.message, /no model of that name/);
  },

  async disconnect(language) {
    const abort = new AbortController();
    const r = streamText({ model: of(`paced-${language}`), prompt: ask, abortSignal: abort.signal, maxRetries: 0 });
    let pieces = 0;
    const ends = [];
    for await (const part of r.fullStream) {
      if (part.type === "text-delta" && ++pieces === 3) abort.abort();
      ends.push(part.type);
    }
    assert.equal(ends.at(-1), "abort");
  },
});

// withThoughts also asks for the text of the reasoning, which this SDK does not read from chats, and
// goes on with a conversation. With responses the SDK refers to what it takes for stored; only a
// provider that stores has it, so for others applications switch that off.
const withThoughts = (of) => {
  const all = cases(of);
  return {
    ...all,
    async conversation(language) {
      const messages = [{ role: "user", content: "My name is Ada." }];
      const model = of(language);
      const providerOptions = { openai: { store: language === "responses" } };
      const first = await generateText({ model, messages, providerOptions, maxRetries: 0 });
      messages.push(...first.response.messages, { role: "user", content: "And again." });
      const after = await generateText({ model, messages, providerOptions, maxRetries: 0 });
      assert.match(after.text, /again/);
    },
    async reasoningWithTools(language) {
      assert.match(await all.reasoningWithTools(language), /deserves an answer/);
    },
  };
};

const once = {
  async embeddings() {
    const r = await embedMany({ model: openai.embedding("embedding"), values: ["red fox", "blue whale"], maxRetries: 0 });
    assert.equal(r.embeddings.length, 2);
    assert.equal(r.embeddings[0].length, 8);
    assert.ok(r.usage.tokens > 0);
  },

  async callers() {
    for (const [apiKey, status] of [[badKey, 401], [limitedKey, 429]]) {
      const other = createOpenAI({ baseURL: `${url}/v1`, apiKey });
      const e = await rejects(() => generateText({ model: other.chat("chat"), prompt: ask, maxRetries: 0 }), APICallError);
      assert.equal(e.statusCode, status);
    }
  },
};

await run("vercel-chat", cases((m) => openai.chat(m)), once);
const failed = process.exitCode;
await run("vercel-responses", withThoughts((m) => openai.responses(m)), {
  // Two deployments of one account: what one has stored, the other has.
  async account() {
    const r = await generateText({
      model: openai.responses("mates"), prompt: ask, tools: { weather }, stopWhen: isStepCount(4), providerOptions: low, maxRetries: 0,
    });
    assert.match(r.text, /sunny/);
  },

  async notStored() {
    const messages = [{ role: "user", content: ask }];
    const first = await generateText({ model: openai.responses("chat"), messages, maxRetries: 0 });
    messages.push(...first.response.messages, { role: "user", content: "And again." });
    const e = await rejects(() => generateText({ model: openai.responses("chat"), messages, maxRetries: 0 }), APICallError);
    assert.match(e.message, /store is false/);
  },
});
const failedToo = process.exitCode;
await run("vercel-messages", withThoughts((m) => anthropic(m)));
process.exitCode ||= failed || failedToo;
