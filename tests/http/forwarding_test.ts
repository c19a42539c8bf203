import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { type ArrivalHandler, BodyReader } from "../../http/mod.ts";
import { ServiceError } from "../../services/kernel/errors.ts";
import { OPERATOR } from "../../services/people/identity/mod.ts";
import { MARK_HEADER } from "../../services/cluster/nodes/mod.ts";
import { sendRaw } from "./support.ts";
import { marksOf, nodeRecord, NOW, refusalOf, withNodes } from "./two_nodes.ts";

const LIMITS = { maxBytes: 1000, stallMilliseconds: 60_000 };

Deno.test("a forwarded request arrives with its client's address, name of the host and headers", () =>
  withNodes(
    async (request, connection) => {
      connection.trust(OPERATOR);
      const headers = new Headers({
        location: "/elsewhere",
        "x-agent": request.headers.get("user-agent") ?? "",
      });
      headers.append("set-cookie", "one=1");
      headers.append("set-cookie", "two=2");
      return new Response(`${request.method} ${await request.text()}`, { status: 303, headers });
    },
    async ({ front, seen }) => {
      const response = await fetch(`http://127.0.0.1:${front.port}/far?x=a%2Fb`, {
        method: "PUT",
        body: "content",
        redirect: "manual",
        headers: {
          "x-forwarded-for": "192.0.2.9",
          "x-forwarded-proto": "https",
          "user-agent": "curl",
        },
      });
      assert.equal(response.status, 303);
      assert.equal(await response.text(), "PUT content");
      assert.deepEqual(response.headers.getSetCookie(), ["one=1", "two=2"]);
      assert.equal(response.headers.get("location"), "/elsewhere");
      assert.equal(response.headers.get("x-agent"), "curl");
      assert.equal(response.headers.get("x-muster-principal"), null);
      assert.deepEqual(seen.front, []);
      const [{ url, address, mark } = assert.fail()] = seen.far;
      assert.equal(url, `http://127.0.0.1:${front.port}/far?x=a%2Fb`);
      assert.equal(address, "192.0.2.9");
      assert.deepEqual([mark?.kind, mark?.from, mark?.secure], ["forwarded", "front", true]);
    },
    { proxies: ["127.0.0.1"] },
  ));

Deno.test("a node that keeps a client's connection is not told again whose it is", () =>
  withNodes(
    (_request, connection) => {
      connection.trust(OPERATOR);
      return new Response("here");
    },
    async ({ front, far, seen }) => {
      for (let count = 0; count < 2; count++) {
        await (await fetch(`http://127.0.0.1:${front.port}/far`)).text();
      }
      assert.deepEqual(seen.far.map(({ mark }) => mark?.kept), [false, true]);
      const content = {
        kind: "forwarded",
        address: "::1",
        requestId: "id",
        secure: false,
      } as const;
      const request = { method: "GET", target: "/here", headers: new Headers() };
      const marks = marksOf("other");
      // An older node does not say whether it keeps the connection.
      for (const kept of [undefined, false, true]) {
        const { header } = marks.sign({ ...content, kept }, nodeRecord("far"), request);
        const { headers, body } = await fetch(`http://127.0.0.1:${far.port}/here`, {
          headers: { [MARK_HEADER]: header },
        });
        await body?.cancel();
        assert.equal(headers.has("x-muster-principal"), kept !== true);
      }
    },
  ));

Deno.test("bodies are streamed both ways, and a client that leaves ends the request", async () => {
  const left = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const received: string[] = [];
  await withNodes(
    async (request) => {
      if (request.method === "GET") return new Response("done");
      for await (const part of request.body?.pipeThrough(new TextDecoderStream()) ?? []) {
        received.push(part);
        begun.resolve();
      }
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => controller.enqueue(new TextEncoder().encode("answer")),
        cancel: () => left.resolve(),
      });
      return new Response(body);
    },
    async ({ front }) => {
      const leaving = new AbortController();
      const { readable: body, writable } = new TransformStream<Uint8Array, Uint8Array>();
      const writer = writable.getWriter();
      const answer = fetch(`http://127.0.0.1:${front.port}/far`, {
        method: "POST",
        body,
        signal: leaving.signal,
      });
      await writer.write(new TextEncoder().encode("first part"));
      await begun.promise;
      await writer.write(new TextEncoder().encode("second part"));
      await writer.close();
      const reader = (await answer).body?.pipeThrough(new TextDecoderStream()).getReader();
      assert.equal((await reader?.read())?.value, "answer");
      assert.equal(received.join(", "), "first part, second part");
      leaving.abort();
      await reader?.closed.catch(() => {});
      await left.promise;
      const next = await fetch(`http://127.0.0.1:${front.port}/far`);
      assert.equal(await next.text(), "done");
    },
  );
});

Deno.test("a body arrives with every byte, whether it is short, long or of unknown length", () =>
  withNodes(
    async (request) => new Response(await request.arrayBuffer()),
    async ({ front }) => {
      for (const length of [0, 1, 16_384, 16_385, 3_000_000]) {
        const bytes = new Uint8Array(length).map((_, index) => index * 7);
        for (const isStream of [false, true]) {
          const response = await fetch(`http://127.0.0.1:${front.port}/far`, {
            method: "POST",
            body: isStream ? new Blob([bytes]).stream() : bytes,
          });
          assert.deepEqual(new Uint8Array(await response.arrayBuffer()), bytes);
        }
      }
    },
  ));

Deno.test("a short body that does not come is refused by the node that waits for it", () =>
  withNodes(
    (_request, _connection, arrival) => {
      const { refusal = null } = arrival ?? {};
      return new Response(refusal === null ? "here" : refusal.constructor.name);
    },
    async ({ front, seen }) => {
      using client = await Deno.connect(front);
      const head = "POST /far HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\nConnection: close";
      await client.write(new TextEncoder().encode(`${head}\r\n\r\nhalf`));
      assert.match(await new Response(client.readable).text(), /\r\n\r\nTooSlow$/);
      assert.deepEqual(seen.far, []);
    },
    { stallMilliseconds: 40 },
  ));

Deno.test("answers keep their length, and those without a body stay without", () =>
  withNodes(
    (request) =>
      request.method === "DELETE"
        ? new Response(null, { status: 204 })
        : new Response(request.method === "HEAD" ? null : "12345", {
          headers: { "content-length": "5", etag: '"a"' },
        }),
    async ({ front }) => {
      for (const method of ["GET", "HEAD"]) {
        const response = await fetch(`http://127.0.0.1:${front.port}/far`, { method });
        assert.equal(response.headers.get("content-length"), "5", method);
        assert.ok(!Number.isNaN(Date.parse(response.headers.get("date") ?? "")), method);
        assert.equal(response.headers.get("etag"), '"a"');
        assert.equal((await response.text()).length, method === "GET" ? 5 : 0);
      }
      const { status, body } = await fetch(`http://127.0.0.1:${front.port}/far`, {
        method: "DELETE",
      });
      assert.deepEqual([status, body], [204, null]);
    },
  ));

Deno.test("only a mark of a node, for this request, to this node and of this minute counts", () =>
  withNodes(
    (_request, _connection, arrival) => refusalOf(arrival) ?? new Response("here"),
    async ({ far, seen }) => {
      const content = {
        kind: "forwarded",
        address: "192.0.2.1",
        requestId: "id",
        secure: false,
      } as const;
      const send = async (header: string, method = "GET", path = "/here") => {
        const response = await fetch(`http://127.0.0.1:${far.port}${path}`, {
          method,
          headers: { [MARK_HEADER]: header, authorization: "Bearer one" },
        });
        return `${response.status} ${await response.text()}`;
      };
      const front = marksOf("front");
      const headers = new Headers({ authorization: "Bearer one" });
      const sign = (marks = front, to = "far", given = headers) => {
        const request = { method: "GET", target: "/here", headers: given };
        return marks.sign(content, nodeRecord(to), request).header;
      };
      const at = (time: number) => marksOf("front", { clock: () => time });
      const [payload = "", mac = ""] = sign().split(".");
      const changed = Buffer.from(
        Buffer.from(payload, "base64url").toString().replace("192.0.2.1", "192.0.2.2"),
      ).toString("base64url");
      const invalid = [
        ["", "GET", "/here"],
        ["nonsense", "GET", "/here"],
        [`${changed}.${mac}`, "GET", "/here"],
        [`${payload}.${mac.slice(2)}`, "GET", "/here"],
        [sign(marksOf("front", { key: "another".repeat(5) })), "GET", "/here"],
        [sign(), "DELETE", "/here"],
        [sign(), "GET", "/here?more"],
        [sign(front, "far", new Headers({ authorization: "Bearer two" })), "GET", "/here"],
        ["x".repeat(5000), "GET", "/here"],
      ] as const;
      for (const [header, method, path] of invalid) {
        assert.equal(await send(header, method, path), "200 here", header);
      }
      assert.deepEqual(seen.far.map(({ mark }) => mark), invalid.map(() => null));
      assert.match(await send(sign(at(NOW - 61_000))), /^503 .*clocks/);
      assert.match(await send(sign(at(NOW + 61_000))), /^503 .*clocks/);
      // It would go round between the nodes: this one forwards what has no mark.
      assert.match(await send(sign(front, "front")), /^503 .*node\.url/);
      const mark = sign();
      assert.equal(await send(mark), "200 here");
      assert.equal(seen.far.at(-1)?.mark?.address, "192.0.2.1");
      assert.match(await send(mark), /^503 .*has come before/);
      assert.equal(seen.far.at(-1)?.mark, null);
      assert.equal(await send(sign(at(NOW - 59_000))), "200 here");
    },
  ));

Deno.test("only the body that a node has signed for its request is read, short or long", () =>
  withNodes(
    async (request) => {
      try {
        return new Response(await request.text());
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error;
        return new Response(error.message, { status: 503 });
      }
    },
    async ({ far }) => {
      const content = { kind: "forwarded", address: "", requestId: "", secure: false } as const;
      const asked = { method: "POST", target: "/here", headers: new Headers() };
      const send = async (
        text: string,
        change: (signed: Uint8Array<ArrayBuffer>) => Uint8Array<ArrayBuffer>,
      ) => {
        const { header, body } = marksOf("front").sign(content, nodeRecord("far"), asked);
        const response = await fetch(`http://127.0.0.1:${far.port}/here`, {
          method: "POST",
          headers: { [MARK_HEADER]: header },
          body: change(body.whole(new TextEncoder().encode(text))),
        });
        return `${response.status} ${await response.text()}`;
      };
      const other = marksOf("front").sign(content, nodeRecord("far"), asked).body;
      for (const text of ["", "short", "long".repeat(50_000)]) {
        assert.equal(await send(text, (signed) => signed), `200 ${text}`);
        const attacks: Parameters<typeof send>[1][] = [
          (signed) => signed.slice(0, -1),
          (signed) => signed.with(-1, (signed.at(-1) ?? 0) ^ 1) as Uint8Array<ArrayBuffer>,
          (signed) => new Uint8Array([...signed, 0]),
          () => new TextEncoder().encode(text),
          () => other.whole(new TextEncoder().encode(text)),
        ];
        for (const attack of attacks) assert.match(await send(text, attack), /^503 .*changed/);
      }
    },
  ));

Deno.test("a request is forwarded once, and to no node that is away", () =>
  withNodes(
    (_request, _connection, arrival) => refusalOf(arrival) ?? new Response("here"),
    async ({ front, far, running, look, seen }) => {
      const content = { kind: "forwarded", address: "", requestId: "", secure: false } as const;
      const request = { method: "GET", target: "/lost", headers: new Headers() };
      const lost = await fetch(`http://127.0.0.1:${far.port}/lost`, {
        headers: {
          [MARK_HEADER]: marksOf("front").sign(content, nodeRecord("far"), request).header,
        },
      });
      assert.match(await lost.text(), /moving to another node/);
      assert.equal(seen.far.length, 1);

      running.delete("far");
      look();
      const away = await fetch(`http://127.0.0.1:${front.port}/far`);
      const { error, retryAfterSeconds } = await away.json();
      assert.equal(error, "The node that can answer this does not run at the moment");
      assert.equal(retryAfterSeconds, 2);
    },
  ));

Deno.test("a node that stops before its answer ends is not waited for", async () => {
  const asked = Promise.withResolvers<void>();
  const end = Promise.withResolvers<Response>();
  await withNodes(
    (_request, _connection, arrival) => {
      const refusal = refusalOf(arrival);
      if (refusal !== null) return refusal;
      asked.resolve();
      return end.promise;
    },
    async ({ front, running, look }) => {
      const answer = fetch(`http://127.0.0.1:${front.port}/far`);
      await asked.promise;
      running.delete("far");
      look();
      const text = await (await answer).text();
      end.resolve(new Response());
      assert.match(text, /that can answer this is silent/);
    },
  );
});

Deno.test("a placement may let this node find out by itself what it cannot answer", () =>
  withNodes(
    (_request, _connection, arrival) =>
      refusalOf(arrival) ?? new Response("not here", { status: 404 }),
    async ({ front, running }) => {
      running.delete("far");
      const response = await fetch(`http://127.0.0.1:${front.port}/far`);
      assert.deepEqual([response.status, await response.text()], [404, "not here"]);
    },
    { refusesItself: true },
  ));

Deno.test("what this node answers itself keeps any method and target of its request", () =>
  withNodes(
    ({ method, url }, _connection, arrival) =>
      refusalOf(arrival) ?? Response.json([method, url], { status: 404 }),
    async ({ front, running }) => {
      running.delete("far");
      for (const method of ["get", "TRACE", "TRACK", "post", "DELETE"]) {
        const answer = await sendRaw(
          front,
          `${method} /far/../x HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`,
        );
        assert.ok(answer.endsWith(`["${method}","http://localhost/far/../x"]`), answer);
      }
    },
    { refusesItself: true, isFar: ({ url }) => url.includes("/far/") },
  ));

Deno.test("a node that has lost touch with the database refuses all but its health", () =>
  withNodes(
    (_request, _connection, arrival) => refusalOf(arrival) ?? new Response("healthy"),
    async ({ front, cutOff, seen }) => {
      cutOff();
      for (const path of ["/far", "/near", "/mcp", "/healthz/x"]) {
        const response = await fetch(`http://127.0.0.1:${front.port}${path}`);
        assert.equal(response.status, 503, path);
        const { error, retryAfterSeconds } = await response.json();
        assert.match(error, /lost touch with the database/);
        assert.equal(retryAfterSeconds, 2);
      }
      assert.deepEqual(seen.far, []);
      for (const path of ["/healthz", "/readyz"]) {
        const response = await fetch(`http://127.0.0.1:${front.port}${path}`);
        assert.equal(await response.text(), "healthy");
      }
      const before = seen.front.length;
      const page = await fetch(`http://127.0.0.1:${front.port}/`, {
        headers: { accept: "text/html" },
      });
      assert.equal(page.status, 503);
      assert.equal(page.headers.get("retry-after"), "2");
      assert.match(await page.text(), /lost touch/);
      assert.equal(seen.front.length, before);
    },
  ));

Deno.test("a request whose body another node has had is refused when this one reads it", async () => {
  const begun = Promise.withResolvers<void>();
  const end = Promise.withResolvers<Response>();
  const seen: string[] = [];
  const handler: ArrivalHandler = async (request, _connection, arrival) => {
    if (arrival?.mark !== null) {
      begun.resolve();
      return await end.promise;
    }
    try {
      return new Response(await new BodyReader(LIMITS).read(request));
    } catch (error) {
      assert.ok(error instanceof ServiceError);
      seen.push(error.constructor.name);
      return Response.json({ error: error.message }, { status: 503 });
    }
  };
  await withNodes(
    handler,
    async ({ front, running, look }) => {
      const answered = fetch(`http://127.0.0.1:${front.port}/far`, { method: "POST", body: "{}" });
      await begun.promise;
      running.delete("far");
      look();
      const response = await answered;
      end.resolve(new Response());
      const text = await response.text();
      assert.equal(response.status, 503, text);
      assert.match(text, /that can answer this is silent/);
      assert.deepEqual(seen, ["Unavailable"]);
    },
    { refusesItself: true },
  );
});

Deno.test("an answer that does not say whose request it was is not passed on", async () => {
  const garbled = ["{", "null", "[]", '{"kind":1,"id":null,"project":null}', "operator"];
  const answers = garbled.values();
  await withNodes(
    (_request, _connection, arrival) =>
      refusalOf(arrival) ??
        new Response("far", { headers: { "X-Muster-Principal": answers.next().value ?? "" } }),
    async ({ front }) => {
      for (const text of garbled) {
        const response = await fetch(`http://127.0.0.1:${front.port}/far`);
        assert.equal(response.status, 503, text);
        const { error } = await response.json();
        assert.equal(error, "The answer of another node cannot be read; try again");
      }
    },
  );
});
