/** A server on a disk that fills up: nothing that it acknowledged is lost, and it says what it refuses. */
import assert from "node:assert/strict";
import { call, callAs, order, registerAgent } from "../support/api.ts";
import { IrcClient } from "../support/irc_client.ts";
import { textAt } from "../support/json.ts";
import { peer } from "../support/peers.ts";
import { type Program, startProgram } from "../support/program.ts";
import { type HeldDisk, holdDisk, smallDisk } from "../support/small_disk.ts";
import { FossilClient } from "../support/sync.ts";
import { withFolder } from "../support/temporary.ts";
import { asked } from "../support/until.ts";
import { headersOf, logIn } from "../support/visiting.ts";

const MESSAGES = "/v1/channels/general/messages";
const PROJECT = "/projects/demo/fossil";
const PASSWORD = "correct horse battery";

/** The mark of free space, the size of the disk, and what is left of it when it is nearly full. */
const MARK = 24 * 1024 * 1024;
const MEGABYTES = 64;
const LEFT = 16 * 1024 * 1024;

async function post(program: Program, text: string): Promise<number> {
  const response = await call(program, "POST", MESSAGES, { text });
  await response.body?.cancel();
  return response.status;
}

async function statusOf(program: Program, method: string, path: string, body?: unknown) {
  const response = await call(program, method, path, body);
  return { status: response.status, text: await response.text() };
}

/** What is in the channel. */
async function textsIn(program: Program): Promise<string[]> {
  const messages: { text: string }[] = await (await call(program, "GET", MESSAGES)).json();
  return messages.map(({ text }) => text);
}

Deno.test(
  "on a full disk, no message and no topic or mode is acknowledged that a kill would lose",
  smallDisk(),
  () =>
    withFolder(async (folder) => {
      await using disk = await holdDisk(folder, 32);
      const options = {
        folder: disk.folder,
        words: disk.words,
        readFile: disk.readFile,
        environment: { MUSTER_DATA_DIR: `${disk.folder}/data`, MUSTER_LIMITS_FREE_BYTES: "0" },
      };
      const acknowledged: string[] = [];
      const holds = { topic: "", modes: "" };
      {
        await using program = await startProgram(options);
        const say = async (text: string) => {
          const status = await post(program, text);
          if (status === 204) acknowledged.push(text);
          return status;
        };
        assert.equal(await say("before"), 204);
        const scout = await registerAgent(program, "scout");
        await using bob = await IrcClient.connect(program.irc);
        await bob.register({ nick: "bob" });
        await bob.join("#general");
        await bob.join("#den");
        const change = async (command: string, value: string) => {
          await bob.send(`${command} #den ${value}`, "PING after");
          const answer = await bob.expect(new RegExp(` (?:FAIL )?${command} .*#den|PONG`));
          const isMade = !/ FAIL | PONG /.test(answer);
          await bob.expect(/ PONG .*after$/);
          return isMade;
        };
        disk.fill();
        const statuses = new Set<number>();
        for (let index = 0; index < 300; index++) statuses.add(await say(`full ${index}`));
        assert.ok(statuses.has(503), [...statuses].join());
        const made = new Set<boolean>();
        // The log of the database may have some room left.
        for (let index = 0; index < 300 && !made.has(false); index++) {
          const topic = `${index} ${"x".repeat(300)}`;
          const isMade = await change("TOPIC", `:${topic}`);
          if (isMade) holds.topic = topic;
          made.add(isMade);
        }
        assert.ok(made.has(false), "each topic was taken");
        if (await change("MODE", "+m")) holds.modes = "m";
        const joined = await callAs(program, scout, "POST", "/v1/channels/den/join");
        assert.equal(joined.status, 503, await joined.text());
        await bob.send("PRIVMSG #general :lost");
        await bob.expect(/ FAIL PRIVMSG TEMPORARILY_UNAVAILABLE #general :/);
        const ready = await statusOf(program, "GET", "/readyz");
        assert.equal(ready.status, 503);
        assert.match(ready.text, /history/);

        disk.empty();
        await asked(() => statusOf(program, "GET", "/readyz"), ({ status }) => status === 200);
        assert.equal(await say("after"), 204);
        await program.stop("SIGKILL");
      }
      await using program = await startProgram(options);
      const kept = await textsIn(program);
      assert.deepEqual(acknowledged.filter((text) => !kept.includes(text)), []);
      assert.ok(!kept.includes("lost"));
      await using bob = await IrcClient.connect(program.irc);
      await bob.register({ nick: "bob" });
      await bob.send("JOIN #den", "MODE #den");
      if (holds.topic !== "") await bob.expect(new RegExp(` 332 bob #den :${holds.topic}$`));
      assert.equal(/ \+\w*m/.test(await bob.expect(/ 324 bob #den /)), holds.modes === "m");
    }),
);

/** A change that somebody asks for again and again, under another name each time. */
interface Kind {
  /** Method and path. */
  request(name: string): string;
  body(name: string): unknown;
  /** Where it is read afterwards. */
  readonly proof: (name: string) => string;
  /** Whether the last one takes the place of those before it. */
  readonly isOne?: boolean;
}

const API = `${PROJECT}/api`;

const KINDS: readonly Kind[] = [
  kind(`POST ${MESSAGES}`, (text) => ({ text }), `${MESSAGES}?limit=200`),
  kind("POST /v1/agents/register", (nick) => ({ nick }), "/v1/agents/NAME"),
  kind(
    "POST /v1/agents/scout/messages",
    (text) => ({ text }),
    "/v1/agents/scout/messages?limit=200",
  ),
  kind(
    "POST /v1/tokens",
    (name) => ({ owner: "scout", name, scopes: ["read"] }),
    "/v1/tokens?limit=1000",
  ),
  kind("POST /v1/tokens", (name) => ({ project: "demo", name, scopes: ["read"] }), "/v1/tokens"),
  kind("POST /v1/questions", (text) => ({ text }), "/v1/questions?limit=100"),
  kind("POST /v1/irc/accounts", (account) => ({ account, password: PASSWORD }), "/v1/irc/accounts"),
  kind("POST /v1/admins", (username) => ({ username, password: PASSWORD }), "/v1/admins"),
  kind("POST /v1/herald/sources", (name) => ({ name, kind: "github" }), "/v1/herald/sources"),
  one("POST /v1/halt", (reason) => ({ agents: ["halted"], reason }), "/v1/halt"),
  one(
    "PUT /v1/settings/policies",
    (text) => ({ oracle: { backend: text } }),
    "/v1/settings/policies",
  ),
  one("PATCH /v1/projects/demo", (description) => ({ description }), "/v1/projects/demo"),
  one(
    "PUT /v1/projects/demo/protection",
    (pattern) => [{ pattern, contexts: ["ci"] }],
    "/v1/projects/demo/protection",
  ),
  kind(
    "POST /v1/projects/demo/webhooks",
    (name) => ({ url: `https://example.com/${name}` }),
    "/v1/projects/demo/webhooks",
  ),
  kind(`POST ${API}/tickets`, (title) => ({ title }), `${API}/tickets?per_page=100`),
  kind(`PUT ${API}/wiki/NAME`, (content) => ({ content }), `${API}/wiki/NAME`),
  kind(
    `POST ${API}/technotes`,
    (comment) => ({ comment, content: "x" }),
    `${API}/technotes?per_page=100`,
  ),
  kind(`POST ${API}/forum`, (title) => ({ title, content: "x" }), `${API}/forum?per_page=100`),
  kind(`POST ${API}/workspaces/create`, (name) => ({ name }), `${API}/workspaces/NAME`),
  kind(
    `POST ${API}/reviews/create`,
    (title) => ({ title, diff: "--- a\n+++ b\n" }),
    `${API}/reviews?per_page=100`,
  ),
  kind(`POST ${API}/releases`, (tag_name) => ({ tag_name }), `${API}/releases/NAME`),
  kind(
    `PUT ${API}/releases/first/assets/NAME`,
    (text) => text.repeat(300),
    `${API}/releases/first/assets/NAME`,
  ),
];

function kind(request: string, body: Kind["body"], proof: string): Kind {
  const named = (text: string) => (name: string) => text.replace("NAME", name);
  return { request: named(request), body, proof: named(proof) };
}

function one(request: string, body: Kind["body"], proof: string): Kind {
  return Object.assign(kind(request, body, proof), { isOne: true });
}

Deno.test(
  "on a full disk, nothing of any kind is acknowledged that a kill would lose",
  smallDisk(),
  () =>
    withFolder(async (folder) => {
      await using disk = await holdDisk(folder, 32);
      const options = {
        folder: disk.folder,
        words: disk.words,
        readFile: disk.readFile,
        environment: { MUSTER_DATA_DIR: `${disk.folder}/data`, MUSTER_LIMITS_FREE_BYTES: "0" },
      };
      const acknowledged: { readonly kind: Kind; readonly name: string }[] = [];
      {
        await using program = await startProgram(options);
        for (const nick of ["scout", "halted"]) await registerAgent(program, nick);
        await order(program, "POST /v1/projects", { slug: "demo" });
        await order(program, `POST ${API}/releases`, { tag_name: "first" });
        const uuid = textAt(await order(program, `GET ${API}/timeline`), "checkins.0.uuid");
        const checks = kind(
          `POST ${API}/status`,
          (context) => ({ checkin: uuid, context, state: "success" }),
          `${API}/status?checkin=${uuid}`,
        );
        // From here on the room only shrinks, so that nothing can be stored later.
        disk.fill(3 * 1024 * 1024);
        const refused = new Set<Kind>();
        for (let round = 0; round < 40 && refused.size <= KINDS.length; round++) {
          for (const [index, kind] of [...KINDS, checks].entries()) {
            const name = `n${index}-${round}-${"x".repeat(12)}`;
            const [method = "", path = ""] = kind.request(name).split(" ");
            const { status, text } = await statusOf(program, method, path, kind.body(name));
            assert.ok(status < 300 || status === 503, `${method} ${path}: ${status} ${text}`);
            if (status < 300) acknowledged.push({ kind, name });
            else refused.add(kind);
          }
        }
        assert.ok(refused.size > 0, "all were taken");
        assert.ok(acknowledged.length > 0, "none was taken");
        await program.stop("SIGKILL");
      }
      disk.empty();
      await using program = await startProgram(options);
      const lost: string[] = [];
      for (const { kind, name } of acknowledged) {
        const last = acknowledged.findLast((other) => other.kind === kind)?.name;
        if (kind.isOne === true && name !== last) continue;
        const { text } = await statusOf(program, "GET", kind.proof(name));
        if (!text.includes(name)) lost.push(`${kind.request(name)}: ${text.slice(0, 200)}`);
      }
      assert.deepEqual(lost, []);
    }),
);

/** A program on a small disk, and a way to fill that up to beyond the mark. */
async function withMark(
  work: (program: Program, disk: HeldDisk, fill: () => Promise<void>) => Promise<void>,
): Promise<void> {
  await withFolder(async (folder) => {
    await using disk = await holdDisk(folder, MEGABYTES);
    await using program = await startProgram({
      folder: disk.folder,
      words: disk.words,
      readFile: disk.readFile,
      environment: {
        MUSTER_DATA_DIR: `${disk.folder}/data`,
        MUSTER_LIMITS_FREE_BYTES: `${MARK}`,
        MUSTER_WEBHOOKS_ALLOW_PRIVATE: "true",
      },
    });
    await work(program, disk, async () => {
      disk.fill(LEFT);
      await asked(() => post(program, "x"), (status) => status === 503);
    });
  });
}

Deno.test(
  "below the mark of free space, nothing new is taken, and the rest goes on",
  smallDisk(),
  () =>
    withMark(async (program, disk, fill) => {
      await registerAgent(program, "scout");
      await order(program, "POST /v1/projects", { slug: "demo" });
      await order(program, "PUT /v1/projects/demo/members/admin", { role: "write" });
      await order(program, "PUT /v1/admins/admin/password", { password: PASSWORD });
      const admin = await logIn(program, "admin", PASSWORD);
      await using bob = await IrcClient.connect(program.irc);
      await bob.register({ nick: "bob" });
      await bob.join("#general");
      await fill();
      const api = `${PROJECT}/api`;
      for (
        const [method, path, body] of [
          ["POST", MESSAGES, { text: "x" }],
          ["POST", "/v1/agents/scout/messages", { text: "x" }],
          ["POST", "/v1/agents/register", { nick: "other" }],
          ["POST", "/v1/projects", { slug: "other" }],
          ["POST", `${api}/tickets`, { title: "x" }],
          ["PUT", `${api}/wiki/Home`, { content: "x" }],
          ["POST", `${api}/workspaces/create`, { name: "w" }],
        ] as const
      ) {
        const { status, text } = await statusOf(program, method, path, body);
        assert.equal(status, 503, `${method} ${path}: ${text}`);
        assert.match(text, /nearly full/);
      }
      const arguments_ = { channel: "#general", type: "task.create" };
      const tool = await fetch(program.mcp, {
        method: "POST",
        headers: { authorization: `Bearer ${program.token}`, "content-type": "application/json" },
        body: JSON.stringify({
          jsonrpc: "2.0",
          id: 1,
          method: "tools/call",
          params: { name: "send_message", arguments: arguments_ },
        }),
      });
      assert.match(await tool.text(), /nearly full/);
      for (
        const [path, fields] of [
          ["/agents", { action: "register", nick: "third" }],
          ["/channels/general", { action: "say", text: "x" }],
          ["/projects/demo/settings/members", {
            action: "set-member",
            name: "scout",
            role: "read",
          }],
          ["/projects/demo/settings/tokens", { action: "make-token", name: "x", scope: "read" }],
          ["/projects/demo/tickets/new", { action: "file", title: "x" }],
        ] as const
      ) {
        const csrf = admin.cookies.get("muster_csrf") ?? "";
        const response = await fetch(program.api + path, {
          method: "POST",
          headers: headersOf(admin),
          body: new URLSearchParams({ csrf, ...fields }),
          redirect: "manual",
        });
        const text = await response.text();
        assert.equal(response.status, 503, `${path}: ${text}`);
        assert.match(text, /nearly full/);
      }
      await bob.send("PRIVMSG #general :x");
      await bob.expect(/ FAIL PRIVMSG TEMPORARILY_UNAVAILABLE #general :/);
      const ready = await statusOf(program, "GET", "/readyz");
      assert.match(ready.text, /space \(the disk is nearly full\)/);
      for (
        const [method, path, body] of [
          ["GET", MESSAGES],
          ["PUT", "/v1/settings/policies", {}],
          ["POST", "/v1/agents/scout/revoke"],
          ["DELETE", "/v1/agents/scout"],
          ["PATCH", "/v1/projects/demo", { archived: true }],
          ["DELETE", "/v1/projects/demo"],
        ] as const
      ) {
        const { status, text } = await statusOf(program, method, path, body);
        assert.ok(status < 300, `${method} ${path}: ${status} ${text}`);
      }
      disk.empty();
      await asked(() => post(program, "again"), (status) => status === 204);
      await asked(() => statusOf(program, "GET", "/readyz"), ({ status }) => status === 200);
    }),
);

Deno.test(
  "below the mark of free space, what a push brings is refused, and a writer's pull is not",
  { ignore: smallDisk().ignore || peer("fossil").ignore },
  () =>
    withMark(async (program, disk, fill) => {
      await registerAgent(program, "scout");
      const scopes = ["read", "write"];
      const { token } = await order(program, "POST /v1/tokens", {
        owner: "scout",
        name: "push",
        scopes,
      }) as { token: string };
      await order(program, "POST /v1/projects", { slug: "demo" });
      await order(program, "PUT /v1/projects/demo/members/scout", { role: "write" });
      using client = new FossilClient("fossil", "scout");
      const url = new URL(program.api + PROJECT);
      Object.assign(url, { username: "scout", password: token });
      const work = await client.checkout(url.href);
      await fill();
      await client.fossil(["pull"], work);
      await client.fossil(["sync"], work);
      await client.fossil(["clone", url.href, "another.fossil"]);
      client.write("work/a.txt", "a");
      await client.fossil(["add", "a.txt"], work);
      const pushed = await client.run(["commit", "-m", "a", "--no-warnings"], work);
      assert.match(pushed.stdout + pushed.stderr, /nearly full/);
      assert.match(JSON.stringify(await client.run(["push"], work)), /nearly full/);
      disk.empty();
      await asked(() => post(program, "again"), (status) => status === 204);
      await client.fossil(["push"], work);
      const tree = await call(program, "GET", `${PROJECT}/api/file?path=a.txt`);
      assert.equal(await tree.text(), "a");
    }),
);

Deno.test(
  "an upload that began above the mark of free space ends below it, and goes on later",
  smallDisk(),
  () =>
    withMark(async (program, disk, fill) => {
      await order(program, "POST /v1/projects", { slug: "demo" });
      await order(program, `POST ${PROJECT}/api/releases`, { tag_name: "v1" });
      const authorization = `Bearer ${program.token}`;
      const part = new Uint8Array(64 * 1024).fill(7);
      const created = await fetch(`${program.api}${PROJECT}/api/releases/v1/assets`, {
        method: "POST",
        headers: {
          authorization,
          "tus-resumable": "1.0.0",
          "upload-length": `${2 * part.length}`,
          "upload-metadata": `filename ${btoa("tool.bin")}`,
        },
      });
      assert.equal(created.status, 201, await created.text());
      const place = new URL(created.headers.get("location") ?? "", program.api);
      const send = async (offset: number, body: BodyInit) => {
        // After a refusal, the server may close the connection, so no other request has it.
        using client = Deno.createHttpClient({});
        const response = await fetch(place, {
          client,
          method: "PATCH",
          headers: {
            authorization,
            "tus-resumable": "1.0.0",
            "upload-offset": `${offset}`,
            "content-type": "application/offset+octet-stream",
          },
          body,
        });
        return { status: response.status, text: await response.text() };
      };
      const parts = async function* () {
        yield part;
        await fill();
        yield part;
      };
      const broken = await send(0, ReadableStream.from(parts()));
      assert.equal(broken.status, 503, broken.text);
      assert.match(broken.text, /nearly full/);
      disk.empty();
      await asked(() => post(program, "again"), (status) => status === 204);
      // What arrived before the disk was full is kept, all of it or a part. As clients of tus do,
      // this asks again where the upload continues until a part is taken.
      await asked(async () => {
        const head = await fetch(place, {
          method: "HEAD",
          headers: { authorization, "tus-resumable": "1.0.0" },
        });
        const kept = Number(head.headers.get("upload-offset") ?? "NaN");
        if (Number.isNaN(kept)) return { status: head.status, text: "" };
        assert.ok(kept <= part.length, `${kept}`);
        return await send(kept, new Uint8Array(2 * part.length - kept).fill(7));
      }, ({ status }) => status === 204);
      const path = `${PROJECT}/api/releases/v1/assets/tool.bin`;
      const stored = new Uint8Array(await (await call(program, "GET", path)).arrayBuffer());
      assert.deepEqual(stored, new Uint8Array(2 * part.length).fill(7));
    }),
);
