import assert from "node:assert/strict";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as OlderClient } from "@modelcontextprotocol/sdk/client/index.js";
import {
  StreamableHTTPClientTransport as OlderTransport,
} from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { createMcpHandler } from "../../mcp/mod.ts";
import { configSchema } from "../../services/operation/config/schemas.ts";
import { startDaemon } from "../../services/operation/daemon/mod.ts";
import { silentLog } from "../../services/kernel/log.ts";
import { withFolder } from "../support/temporary.ts";

const API_TOKEN = "0123456789abcdef".repeat(4);
const OPERATOR = `Bearer ${API_TOKEN}`;
const CLIENT_INFO = { name: "test", version: "1" };

/** What came of a call. */
interface Outcome {
  readonly text: string;
  readonly failed: boolean;
  readonly structured: boolean;
}

/** A client of the protocol, connected. */
interface Connection {
  /** The revision that client and server agreed on. */
  readonly revision: string | undefined;
  readonly serverName: string | undefined;
  toolNames(): Promise<string[]>;
  /** Calls a tool and gives the first text of its result. */
  call(name: string, input?: Record<string, unknown>): Promise<Outcome>;
  close(): Promise<void>;
}

interface ClientKind {
  readonly name: string;
  readonly revision: string;
  connect(url: URL, authorization: string): Promise<Connection>;
}

type Mode = "legacy" | "auto" | { pin: string };

const CLIENTS: readonly ClientKind[] = [
  {
    name: "the older SDK",
    revision: "2025-11-25",
    connect: connectOlder,
  },
  ...["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"].map((revision) =>
    newerClient(`the SDK that opens with initialize of ${revision}`, revision, "legacy")
  ),
  newerClient("the SDK that tries the stateless revision first", "2026-07-28", "auto"),
  newerClient("the SDK that insists on it", "2026-07-28", { pin: "2026-07-28" }),
];

function newerClient(name: string, revision: string, mode: Mode): ClientKind {
  return {
    name,
    revision,
    connect: (url, authorization) => connectNewer(url, authorization, { mode, revision }),
  };
}

async function connectNewer(
  url: URL,
  authorization: string,
  { mode, revision }: { readonly mode: Mode; readonly revision: string },
): Promise<Connection> {
  const client = new Client(CLIENT_INFO, {
    versionNegotiation: { mode },
    ...(mode === "legacy" ? { supportedProtocolVersions: [revision] } : {}),
  });
  const requestInit = { headers: { authorization } };
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
  return {
    revision: client.getNegotiatedProtocolVersion(),
    serverName: client.getServerVersion()?.name,
    toolNames: async () => (await client.listTools()).tools.map(nameOf),
    call: async (name, input = {}) => outcome(await client.callTool({ name, arguments: input })),
    close: () => client.close(),
  };
}

async function connectOlder(url: URL, authorization: string): Promise<Connection> {
  const client = new OlderClient(CLIENT_INFO);
  const transport = new OlderTransport(url, { requestInit: { headers: { authorization } } });
  await client.connect(transport);
  return {
    revision: transport.protocolVersion,
    serverName: client.getServerVersion()?.name,
    toolNames: async () => (await client.listTools()).tools.map(nameOf),
    call: async (name, input = {}) => outcome(await client.callTool({ name, arguments: input })),
    close: () => client.close(),
  };
}

function nameOf({ name }: { name: string }): string {
  return name;
}

/** The clients themselves check the structured result against the schema that the tool shows. */
function outcome(result: Record<string, unknown>): Outcome {
  const { content, isError, structuredContent } = result;
  assert.ok(Array.isArray(content));
  assert.equal(typeof isError, "boolean");
  const structured = structuredContent !== undefined;
  return { text: content[0].text, failed: isError === true, structured };
}

/** The endpoint on a free port, with the real services behind it. */
interface Server {
  readonly url: URL;
  /** The answers to all requests so far, in the order in which the requests came. */
  readonly answers: readonly Promise<Response>[];
}

async function withServer(run: (server: Server) => Promise<void>): Promise<void> {
  await withFolder(async (folder) => {
    const daemon = await startDaemon({
      config: configSchema.parse({ data_dir: folder, irc: { listen: "" } }),
      log: silentLog,
      certificate: null,
      pinnedToken: API_TOKEN,
    });
    const handler = createMcpHandler(daemon.services);
    const answers: Promise<Response>[] = [];
    const server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen() {} },
      (request, { remoteAddr }) => {
        const answer = handler(request, remoteAddr.hostname);
        answers.push(answer);
        return answer;
      },
    );
    try {
      await run({ url: new URL(`http://127.0.0.1:${server.addr.port}/mcp`), answers });
    } finally {
      await daemon.quiesce();
      await server.shutdown();
      await daemon.stop();
    }
  });
}

for (const { name, revision, connect } of CLIENTS) {
  Deno.test(`${name} registers an agent, which sends what the operator reads`, async () => {
    await withServer(async ({ url }) => {
      const operator = await connect(url, OPERATOR);
      assert.equal(operator.revision, revision);
      assert.equal(operator.serverName, "muster");
      assert.deepEqual((await operator.toolNames()).slice(0, 8), [
        "get_status",
        "list_channels",
        "register_agent",
        "send_message",
        "get_history",
        "read_inbox",
        "send_direct",
        "post",
      ]);
      const structured = revision >= "2025-06-18";
      const registered = await operator.call("register_agent", { nick: "coder" });
      const [, password] = /^Agent registered: coder\nnick: coder\npassword: (\S+)$/
        .exec(registered.text) ?? [];
      assert.deepEqual(await operator.call("get_status"), {
        text: "status: ok\nagents: 1 active, 1 total",
        failed: false,
        structured,
      });

      const agent = await connect(url, `Basic ${btoa(`coder:${password}`)}`);
      const input = { channel: "#general", type: "task.create", payload: { n: 1 } };
      const sent = await agent.call("send_message", input);
      assert.deepEqual(sent, { text: "message sent to #general", failed: false, structured });
      assert.ok(!(await agent.toolNames()).includes("register_agent"));
      assert.equal((await agent.call("register_agent", { nick: "other" })).failed, true);

      const history = await operator.call("get_history", { channel: "general" });
      assert.match(
        history.text,
        /^# history: #general \(last 1\)\n\[#general\] <coder> type=task\.create id=[0-9A-Z]{26}$/,
      );
      const since = /id=(\S+)/.exec(history.text)?.[1];
      const next = operator.call("get_history", { channel: "#general", since, wait_seconds: 60 });
      await agent.call("send_message", { channel: "#general", type: "task.update" });
      assert.match((await next).text, /\(last 1\)\n\[#general\] <coder> type=task\.update id=/);
      assert.match((await operator.call("list_channels")).text, /^#general \(2 members\)$/);

      const direct = await operator.call("send_direct", { to: "coder", text: "well done" });
      assert.deepEqual(direct, { text: "message sent to coder", failed: false, structured });
      assert.deepEqual(await agent.call("read_inbox"), {
        text: "# inbox: coder (last 1)\n[direct] <bridge> well done",
        failed: false,
        structured,
      });
      const posted = await agent.call("post", { channel: "#general", text: "thanks" });
      assert.deepEqual(posted, { text: "posted to #general", failed: false, structured });

      await agent.close();
      await operator.close();
    });
  });

  Deno.test(`${name} is refused without a valid token`, async () => {
    await withServer(async ({ url }) => {
      await assert.rejects(connect(url, "Bearer no-such-token"), /401|[Uu]nauthorized|not valid/);
    });
  });
}

Deno.test("a client that disconnects ends its wait", async () => {
  await withServer(async ({ url, answers }) => {
    const closing = new AbortController();
    const post = (body: unknown, init: RequestInit = {}) => {
      const headers = { authorization: OPERATOR };
      return fetch(url, { ...init, method: "POST", headers, body: JSON.stringify(body) });
    };
    const input = { channel: "#general", wait_seconds: 60 };
    const params = { name: "get_history", arguments: input };
    const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params };
    const waiting = post(call, { signal: closing.signal });
    for (let pings = 0; answers.length === pings; pings++) {
      await (await post({ jsonrpc: "2.0", id: 2, method: "ping" })).body?.cancel();
    }
    closing.abort();
    await assert.rejects(waiting, { name: "AbortError" });
    await Promise.all(answers);
  });
});

Deno.test("a browser under a foreign host name is refused", async () => {
  await withServer(async ({ url }) => {
    using connection = await Deno.connect({ hostname: url.hostname, port: Number(url.port) });
    const body = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
    const request = `POST /mcp HTTP/1.1\r\nHost: evil.example:${url.port}\r\n` +
      `Authorization: ${OPERATOR}\r\nConnection: close\r\n` +
      `Content-Length: ${body.length}\r\n\r\n${body}`;
    await connection.write(new TextEncoder().encode(request));
    const answer = await new Response(connection.readable).text();
    assert.match(answer, /^HTTP\/1\.1 403 /);
  });
});
