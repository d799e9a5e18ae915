/** Test the client against a running server, whose address and tokens the environment names. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { inspect } from "node:util";
import { test } from "node:test";

import * as penstock from "../src/index.js";
import { Client, type ClientOptions, RunningMemory, rows } from "../src/index.js";

const URL = process.env["PENSTOCK_URL"];
const tokens = JSON.parse(process.env["PENSTOCK_TEST_TOKENS"] ?? "{}") as Record<string, string>;
const skip = URL === undefined ? "there is no server" : false;

function as(name: string, options: ClientOptions = {}): Client {
  return new Client({ url: URL, token: tokens[name], pauses: [], ...options });
}

test("a release has values, intervals and a verified receipt", { skip }, async () => {
  const ann = as("ann");
  const release = await ann.release("visits");
  assert.equal(release.tier, "public");
  const table = rows(release);
  assert.deepEqual(
    table.map(({ key }) => key),
    ["a", "b"],
  );
  for (const { value, lower, upper } of table) {
    assert.ok(lower < value && value < upper);
    assert.equal(upper - value, release.error.half_width);
  }
  assert.deepEqual((await ann.release("visits", { tier: "public" })).values, release.values);
  assert.deepEqual((await ann.values(release.id)).values, release.values);
  assert.ok((await ann.verify()).size > (release.receipt.index ?? Infinity));
});

test("lists are read to their end, and typed", { skip }, async () => {
  const root = as("root");
  const names: string[] = [];
  for await (const tier of root.items("/api/v1/tiers", { query: { limit: 1 } })) {
    names.push(tier.name);
  }
  assert.deepEqual(names, ["public", "internal"]);
  assert.deepEqual((await root.tiers()).map(({ name }) => name), names);
  assert.ok((await root.users()).some(({ name }) => name === "ann"));
  const [dataset] = await root.datasets();
  assert.equal(dataset?.budgets["internal"]?.epsilon, 4);
  assert.equal((await root.budget("sites")).tiers.length, 2);
  assert.deepEqual(
    (await root.queries("sites")).map(({ name }) => name),
    ["visits", "secret"],
  );
  assert.equal((await root.query("visits")).dimension, 2);
  assert.equal((await root.preview("visits")).tiers.length, 2);
  assert.deepEqual(await root.allowances("sites"), []);
  assert.deepEqual(await root.streams(), []);
  assert.deepEqual(await root.requests(), []);
});

test("an admin acts through the typed call", { skip }, async () => {
  const root = as("root");
  const made = await root.call("post", "/api/v1/users", {
    body: { name: "eve x", roles: ["analyst"], clearance: "public" },
  });
  assert.equal(made.active, true);
  const changed = await root.call("patch", "/api/v1/users/{user}", {
    names: { user: "eve x" },
    body: { clearance: "internal" },
  });
  assert.equal(changed.clearance, "internal");
  const gone = await root.call("delete", "/api/v1/users/{user}", { names: { user: "eve x" } });
  assert.equal(gone.active, false);
});

test("refusals are typed errors with their data", { skip }, async () => {
  const [root, ann] = [as("root"), as("ann")];
  await assert.rejects(ann.release("visits", { tier: "internal" }), penstock.ClearanceTooLow);
  await assert.rejects(ann.release("secret"), penstock.NotFound);
  await assert.rejects(ann.users(), penstock.Forbidden);
  await assert.rejects(ann.exposure(["ian"]), penstock.Forbidden);
  await assert.rejects(as("revoked").me(), penstock.NotAuthenticated);
  await assert.rejects(ann.release("visits", { tier: "public", rho: 1 }), penstock.InvalidArgument);
  await assert.rejects(ann.query(".."), penstock.InvalidArgument);
  const query = {
    name: "dear",
    dataset: "sites",
    keys: ["a"],
    values: [1],
    sensitivity: { l1: 1, l2: 1, linf: 1 },
    mechanism: "gaussian",
    levels: { public: { epsilon: 50 } },
  } as const;
  await assert.rejects(root.register(structuredClone(query) as never), (error: unknown) => {
    assert.ok(error instanceof penstock.BudgetExhausted);
    assert.equal(error.data["tier"], "public");
    assert.equal(error.status, 409);
    return true;
  });
  await assert.rejects(
    root.call("post", "/api/v1/users", { body: { name: "eve", roles: ["king" as never] } }),
    (error: unknown) => error instanceof penstock.InvalidInput && error.errors.length === 1,
  );
});

test("the token is in no error and in no picture of a client", { skip }, async () => {
  const token = tokens["ann"] ?? "";
  const ann = as("ann");
  assert.ok(!inspect(ann, { depth: 9, showHidden: true }).includes(token));
  const refused = await as("ann", { url: "http://127.0.0.1:9" }).me().catch(inspect);
  assert.match(String(refused), /NotReachable/);
  assert.ok(!String(refused).includes(token));
});

test("a log that the memory contradicts is refused", { skip }, async () => {
  const memory = new RunningMemory();
  const ann = as("ann", { memory });
  const { size, note } = await ann.verify();
  const kept = await memory.load(ann.url);
  assert.ok(kept !== null);
  await memory.save(ann.url, { ...kept, checkpoint: { size, note, root: "00".repeat(32) } });
  await assert.rejects(ann.verify(), penstock.LogRefused);
  await memory.save(ann.url, { ...kept, checkpoint: { ...kept.checkpoint, size: size + 99 } });
  await assert.rejects(ann.verify(), /truncated/);
  await memory.save(ann.url, { ...kept, key: "11".repeat(32) });
  await assert.rejects(ann.release("visits"), penstock.LogRefused);
});

test("a server that changes an answer is refused", { skip }, async () => {
  type Change = (answer: Record<string, unknown>) => void;
  const altered = (part: string, change: Change): typeof fetch =>
    async function altering(input, init) {
      const response = await fetch(input, init);
      if (!String(input).includes(part)) return response;
      const answer = (await response.json()) as Record<string, unknown>;
      change(answer);
      return Response.json(answer, { headers: { "Content-Type": "application/json" } });
    };
  const lies: [string, Change][] = [
    ["/releases", (answer) => (answer["dataset"] = "others")],
    ["/releases", (answer) => (answer["level"] = { parameter: "variance", value: 1 })],
    ["/releases", (answer) => ((answer["receipt"] as { index: number }).index = 9999)],
    ["/releases", (answer) => ((answer["receipt"] as { leaf: string }).leaf += " ")],
    ["/me", (answer) => (answer["name"] = "bob")],
    ["/inclusion", (answer) => (answer["hashes"] as string[]).push("00".repeat(32))],
    ["/checkpoint", (answer) => (answer["size"] = 9999)],
    ["/checkpoint", (answer) => (answer["note"] = String(answer["note"]).replace("0", "1"))],
  ];
  for (const [part, change] of lies) {
    const ann = as("ann", { fetch: altered(part, change) });
    const outcome: unknown = await ann.release("visits").catch((error: unknown) => error);
    assert.ok(outcome instanceof penstock.LogRefused, `${part} ${change}: ${inspect(outcome)}`);
  }
});

test("every post of the contract has a key, or is known not to", () => {
  const document = JSON.parse(readFileSync("../openapi.json", "utf8")) as {
    paths: Record<string, { post?: { parameters?: { name?: string; $ref?: string }[] } }>;
  };
  for (const [path, { post }] of Object.entries(document.paths)) {
    if (post === undefined) continue;
    const has = JSON.stringify(post.parameters ?? []).includes("Idempotency-Key");
    const known = penstock.REPEATABLE.test(path) || penstock.ONCE.test(path);
    assert.ok(has !== known || path.endsWith("/preview"), path);
  }
});
