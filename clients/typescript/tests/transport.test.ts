/** Test what is sent, what is sent again, and what is not: without a server. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { Client, InvalidArgument, NotReachable, Proposed, ProtocolError } from "../src/index.js";
import { Conflict, TooManyRequests, Unavailable } from "../src/index.js";
import { requireLeaf } from "../src/log/leaves.js";
import { parsed } from "../src/transport.js";

type Handler = (url: string, init: RequestInit) => Response;

const TOKEN = "pst_abc_def";

function against(handler: Handler, pauses: readonly number[] = [0, 0]): Client {
  const answer: typeof fetch = async (input, init) => handler(String(input), init ?? {});
  return new Client({ url: "http://127.0.0.1:8080/below/", token: TOKEN, pauses, fetch: answer });
}

const json = (value: unknown, status = 200): Response => Response.json(value, { status });

function problem(status: number, code: string): Response {
  const body = { title: "A title", detail: "What happened.", code, errors: [], request_id: "r7" };
  const headers = { "Content-Type": "application/problem+json", "Retry-After": "3" };
  return new Response(JSON.stringify(body), { status, headers });
}

test("a lost answer is fetched again under one key", async () => {
  const keys: (string | null)[] = [];
  const client = against((_, init) => {
    keys.push(new Headers(init.headers).get("Idempotency-Key"));
    if (keys.length < 3) throw new TypeError("fetch failed");
    return json({ name: "eve" }, 201);
  });
  await client.call("post", "/api/v1/users", { body: { name: "eve", roles: ["analyst"] } });
  assert.equal(keys.length, 3);
  assert.equal(new Set(keys).size, 1);
  assert.match(keys[0] ?? "", /^[0-9a-f-]{36}$/);
});

test("what the server would do twice is sent once, and a refusal is not sent again", async () => {
  let sent = 0;
  const lost = against(() => {
    sent += 1;
    throw new TypeError("fetch failed");
  });
  const user = { names: { user: "eve" } };
  await assert.rejects(lost.call("delete", "/api/v1/users/{user}", user), NotReachable);
  assert.equal(sent, 1);
  await assert.rejects(lost.me(), NotReachable);
  assert.equal(sent, 4);
  const conflict = against(() => {
    sent += 1;
    return problem(409, "CONFLICT");
  });
  await assert.rejects(conflict.call("post", "/api/v1/tiers", { body: { name: "a" } }), Conflict);
  assert.equal(sent, 5);
});

test("errors follow from status and code, also those of gateways", async () => {
  await assert.rejects(against(() => problem(429, "TOO_MANY")).me(), (error: unknown) => {
    assert.ok(error instanceof TooManyRequests);
    assert.deepEqual([error.retryAfter, error.requestId, error.name], [3, "r7", "TooManyRequests"]);
    assert.equal(error.message, "A title: What happened. (TOO_MANY, request r7)");
    return true;
  });
  const gateway = new Response("<html>", { status: 502 });
  await assert.rejects(against(() => gateway.clone()).me(), Unavailable);
  await assert.rejects(against(() => new Response("<html>", { status: 404 })).me(), ProtocolError);
  await assert.rejects(against(() => new Response("<html>")).me(), ProtocolError);
  const moved = new Response(null, { status: 302, headers: { Location: "https://evil" } });
  await assert.rejects(against(() => moved.clone()).me(), /redirection/);
  const proposal = { id: "p7", act: "retire_query" };
  const query = { names: { query: "visits" } };
  await assert.rejects(
    against(() => json(proposal, 202)).call("post", "/api/v1/queries/{query}/retire", query),
    (error: unknown) => error instanceof Proposed && error.proposal === "p7",
  );
});

test("pages are followed to the end, and a circle is refused", async () => {
  const urls: string[] = [];
  const pages = against((url) => {
    urls.push(url);
    const next = urls.length < 3 ? `c${urls.length}` : null;
    return json({ items: [{ name: urls.length }], next_cursor: next });
  });
  assert.equal((await pages.tiers()).length, 3);
  assert.equal(urls[0], "http://127.0.0.1:8080/below/api/v1/tiers?limit=1000");
  assert.equal(urls[2], "http://127.0.0.1:8080/below/api/v1/tiers?limit=1000&cursor=c2");
  const circle = against(() => json({ items: [], next_cursor: "same" }));
  await assert.rejects(circle.tiers(), ProtocolError);
});

test("addresses and tokens that would leak are refused", () => {
  const made = (url: string, token = TOKEN): Client => new Client({ url, token });
  for (const url of ["http://example.org", "ftp://127.0.0.1", "https://a:b@example.org", "x"]) {
    assert.throws(() => made(url), InvalidArgument);
  }
  assert.throws(() => made("https://example.org?token=1"), InvalidArgument);
  for (const token of ["", "a b", "a\n", "é"]) {
    assert.throws(() => made("https://example.org", token), InvalidArgument);
  }
  assert.equal(made("https://example.org/below/").url, "https://example.org/below");
  const insecure = new Client({ url: "http://example.org", token: TOKEN, insecure: true });
  assert.equal(insecure.url, "http://example.org");
});

test("integers beyond 2^53 keep their digits, and nothing else changes", () => {
  const text = '{"a":[18446744073709551615,9007199254740991,-3,1e300],"b":"12345678901234567890"}';
  assert.deepEqual(parsed(text), {
    a: ["18446744073709551615", 9007199254740991, -3, 1e300],
    b: "12345678901234567890",
  });
  assert.deepEqual(parsed("[0.12345678901234567, 12345678901234567890.0]"), [
    0.12345678901234567, 12345678901234567890,
  ]);
  assert.throws(() => parsed("{"), ProtocolError);
});

test("a leaf states each field once, and those that are expected", () => {
  const leaf = '{"kind":"release","level":{"parameter":"variance","value":2.5},"query":"v,7"}';
  requireLeaf(leaf, { kind: "release", query: "v", level: { parameter: "variance", value: 2.5 } });
  const lies = ['{"kind":"stream"}', '{"kind":"release","kind":"release"}', "[]", "{", '"a"'];
  for (const lie of [...lies, '{"kind":"release","k\\u0069nd":"release"}']) {
    assert.throws(() => requireLeaf(lie, { kind: "release" }));
  }
  requireLeaf('{"a":[{"x":1},{"x":2}],"kind":"release","b":{"x":1}}', { kind: "release" });
});
