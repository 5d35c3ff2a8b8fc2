// Cohere's SDK: its two versions of rerank.
import assert from "node:assert/strict";
import { CohereClient, CohereClientV2, CohereError } from "cohere-ai";
import { badKey, key, rejects, run, url } from "./cases.mjs";

const documents = ["a blue whale", "the red fox", "a fox"];
const once = {};
for (const [version, Client] of Object.entries({ v1: CohereClient, v2: CohereClientV2 })) {
  const client = new Client({ environment: url, token: key });
  once[`rerank ${version}`] = async () => {
    const r = await client.rerank({ model: "rank", query: "red fox", documents, topN: 2 });
    assert.deepEqual(r.results.map((x) => [x.index, x.relevanceScore]), [[1, 1], [2, 0.5]]);
    assert.equal(r.meta.billedUnits.searchUnits, 1);
    assert.ok(r.id);
  };
  once[`errors ${version}`] = async () => {
    const none = await rejects(() => client.rerank({ model: "nobody", query: "x", documents }, { maxRetries: 0 }), CohereError);
    assert.equal(none.statusCode, 404);
    assert.match(none.message, /no model of that name/);
    const stranger = new Client({ environment: url, token: badKey });
    const denied = await rejects(() => stranger.rerank({ model: "rank", query: "x", documents }, { maxRetries: 0 }), CohereError);
    assert.equal(denied.statusCode, 401);
  };
}

await run("cohere", {}, once);
