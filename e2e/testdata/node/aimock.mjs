// A provider that is not ours: aimock, in the languages of nine providers, with faults. It serves at the
// port that it is given until its input ends.
import { LLMock } from "@copilotkit/aimock";

const mock = new LLMock({ port: Number(process.argv[2]), host: "127.0.0.1", strict: true });
const calls = ["Oslo", "Bern"].map((city) => ({ name: "weather", arguments: JSON.stringify({ city }) }));
mock.on({ model: /broken/ }, { error: { message: "aimock was asked to fail", type: "server_error" }, status: 500 });
mock.on({ model: /limited/ }, { error: { message: "aimock allows no more", type: "rate_limit_error" }, status: 429 });
mock.on({ model: /garbled/ }, { content: "never seen" }, { chaos: { malformedRate: 1 } });
mock.on({ model: /gone/ }, { content: "never seen" }, { chaos: { disconnectRate: 1 } });
mock.on({ model: /cut/ }, { content: "It begins well, and then the connection ends, in the middle of it." }, { truncateAfterChunks: 3, chunkSize: 8, latency: 50 });
mock.onEmbedding(/./, { embedding: [0.5, -0.25, 1] });
mock.on({ endpoint: "elevenlabs-tts" }, { audio: Buffer.from("the sound of aimock").toString("base64") });
mock.on({ hasToolResult: true }, { content: "It is sunny in Oslo and in Bern." });
mock.on({ userMessage: /weather/ }, { toolCalls: calls });
mock.on({ userMessage: /think/ }, { reasoning: "Six times seven is what they ask.", content: "It is 42." });
mock.on({ userMessage: /city/ }, { content: JSON.stringify({ city: "Oslo" }) });
mock.on({ userMessage: /hello/ }, { content: "Hello, I am aimock, and no part of the gateway.", usage: { input_tokens: 11, output_tokens: 7, prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 } });
await mock.start();
console.log("ready");
process.stdin.on("end", () => process.exit(0)).resume();
