/** Long messages, and messages with very many cards: what they may cost the server. */
import assert from "node:assert/strict";
import {
  type Card,
  CardReader,
  encodeUtf8,
  unpackMessage,
} from "../../../../services/engines/fossil/mod.ts";
import { type TestProject, withProject } from "../../../support/projects.ts";
import { BY_OPERATOR } from "../../../support/services.ts";
import { exchange } from "../../../support/sync_messages.ts";

const MEBIBYTE = 1024 * 1024;
const PLAIN = "application/x-fossil-uncompressed";

/** Sends 2 MiB of comments in parts. Calls `look` when all but the last part are sent. */
async function sendLong(
  { api }: TestProject,
  path: string,
  { first = "", bytes = 2 * MEBIBYTE, headers = {}, look }: {
    readonly first?: string;
    readonly bytes?: number;
    readonly headers?: Readonly<Record<string, string>>;
    readonly look?: () => void | Promise<void>;
  },
): Promise<Response> {
  const part = encodeUtf8(`# ${"x".repeat(65_533)}\n`);
  let sent = 0;
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start: (controller) => controller.enqueue(encodeUtf8(first) as Uint8Array<ArrayBuffer>),
    async pull(controller) {
      if (sent >= bytes) {
        await look?.();
        controller.close();
        return;
      }
      sent += part.length;
      controller.enqueue(part.slice());
    },
  }, { highWaterMark: 0 });
  return await api.handle(
    new Request(`http://muster.test${path}`, {
      method: "POST",
      headers: { "content-type": PLAIN, ...headers },
      body,
    }),
  );
}

async function cardsOf(response: Response): Promise<Card[]> {
  const body = new Uint8Array(await response.arrayBuffer());
  return Array.from(new CardReader(unpackMessage(body, "plain", MEBIBYTE)));
}

function uploadsIn({ api }: TestProject): string[] {
  const { folder } = api.services.hosting.repositories.files;
  return Array.from(Deno.readDirSync(folder), ({ name }) => name)
    .filter((name) => name.startsWith(".upload-"));
}

Deno.test("nothing of a long message is stored before its sender may read the project", async () => {
  await withProject(async (test) => {
    const wrong = `login caller ${"a".repeat(40)} ${"b".repeat(40)}\n`;
    const senders = [
      { path: test.base },
      { path: "/projects/nothing/fossil" },
      { path: test.base, first: wrong },
      { path: test.base, headers: { authorization: test.outsider } },
    ];
    for (const { path, ...sender } of senders) {
      let stored: string[] | null = null;
      const look = () => void (stored = uploadsIn(test));
      const response = await sendLong(test, path, { ...sender, look });
      assert.equal(response.status, 200);
      assert.deepEqual(stored, []);
      const card = (await cardsOf(response)).find(({ kind }) => kind === "error");
      assert(card?.kind === "error");
      assert.match(card.text, /not authorized|login failed/);
    }
  });
});

Deno.test("a long message of a member is stored until it is answered", async () => {
  await withProject(async (test) => {
    let stored = 0;
    const look = () => void (stored = uploadsIn(test).length);
    const response = await sendLong(test, test.base, {
      headers: { authorization: test.caller },
      look,
    });
    assert.deepEqual([response.status, await cardsOf(response)], [200, []]);
    assert.equal(stored, 1);
    assert.deepEqual(uploadsIn(test), []);
  });
});

Deno.test("two long messages of a caller are stored at once, and more wait for them", async () => {
  await withProject(async (test) => {
    const end = Promise.withResolvers<void>();
    const arrived = [1, 2, 3].map(() => Promise.withResolvers<void>());
    let count = 0;
    const look = () => {
      arrived[count++]?.resolve();
      return end.promise;
    };
    const headers = { authorization: test.caller };
    const send = () => sendLong(test, test.base, { headers, look });
    const first = [send(), send()];
    await Promise.all(arrived.slice(0, 2).map(({ promise }) => promise));
    const third = send();
    const other = await sendLong(test, test.base, { headers: { authorization: test.other } });
    assert.equal(other.status, 200);
    assert.deepEqual([count, uploadsIn(test).length], [2, 2]);
    end.resolve();
    for (const response of await Promise.all([...first, third])) assert.equal(response.status, 200);
    assert.deepEqual([count, uploadsIn(test).length], [3, 0]);
  });
});

Deno.test("a caller who only reads sends at most 16 MiB in a message", async () => {
  await withProject(async (test) => {
    await test.api.services.hosting.projects.change("demo", { visibility: "public" }, BY_OPERATOR);
    assert.equal((await sendLong(test, test.base, { bytes: 17 * MEBIBYTE })).status, 413);
    assert.equal((await sendLong(test, test.base, { bytes: 2 * MEBIBYTE })).status, 200);
    assert.deepEqual(uploadsIn(test), []);
  });
});

Deno.test("what a message asks for again and again is sent once", async () => {
  await withProject(async (test) => {
    const url = `http://muster.test${test.base}`;
    const ask = async (times: number) => {
      const repeated: Card[] = [
        { kind: "reqconfig", name: "/all" },
        { kind: "pragma", name: "client-version", values: ["22100", "20230226", "192424"] },
        { kind: "pragma", name: "req-clusters", values: [] },
        { kind: "pragma", name: "uv-hash", values: ["none"] },
        { kind: "pragma", name: "send-private", values: [] },
      ];
      const { cards } = await exchange((request) => test.api.handle(request), url, {
        cards: Array.from({ length: times }, () => repeated).flat(),
        headers: { authorization: test.caller },
      });
      return cards;
    };
    const once = await ask(1);
    assert(once.some((card) => card.kind === "config"));
    assert.deepEqual(await ask(50), once);
    const clone: Card = { kind: "clone", version: 3, sequence: 1 };
    const { errors } = await exchange((request) => test.api.handle(request), url, {
      cards: [clone, clone],
      headers: { authorization: test.caller },
    });
    assert.deepEqual(errors, ["multiple clone cards"]);
  });
});

Deno.test("a short message with very many lines is answered like any other", async () => {
  await withProject(async (test) => {
    for (const authorization of [test.caller, test.outsider]) {
      const response = await sendLong(test, test.base, {
        first: `${"\n".repeat(100_000)}reqconfig /project\n`,
        bytes: 0,
        headers: { authorization, "content-length": "100019" },
      });
      const [card] = await cardsOf(response);
      assert.equal(card?.kind, authorization === test.caller ? "config" : "error");
    }
  });
});
