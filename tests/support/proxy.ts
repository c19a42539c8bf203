/** A reverse proxy of `deploy/` as its real program, in front of a started muster. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { join } from "node:path";
import { markPacket, textPacket } from "../../services/engines/git/mod.ts";
import { call, registerAgent } from "./api.ts";
import { makeCertificate } from "./certificate.ts";
import { freePort } from "./free_port.ts";
import { GitClient } from "./git_client.ts";
import { commit } from "./git_pushes.ts";
import { type Program, startProgram } from "./program.ts";
import { rawBlob, rawCommit, rawPack, rawTree } from "./raw_pushes.ts";
import { withFolder } from "./temporary.ts";
import { asked, WAIT_LIMIT, within } from "./until.ts";

/** Where a proxy listens and what it stands before. */
export interface Placed {
  /** A folder for its files; it holds `tls.crt` and `tls.key`. */
  readonly folder: string;
  /** Its port for TLS. */
  readonly port: number;
  /** `HOST:PORT` of the API. */
  readonly api: string;
  /** `HOST:PORT` of IRC over WebSocket. */
  readonly webSocket: string;
}

/** A running proxy with muster behind it. */
export interface Proxied {
  /** `https://localhost:PORT`. */
  readonly url: string;
  readonly program: Program;
  /** The certificate of the proxy, PEM. */
  readonly cert: string;
  readonly folder: string;
}

/** Replaces parts of a configuration, each of which must be there. */
export function adapt(text: string, changes: readonly (readonly [string, string])[]): string {
  for (const [before, after] of changes) {
    assert.ok(text.includes(before), `The configuration lacks ${before}`);
    text = text.replaceAll(before, after);
  }
  return text;
}

/** Runs a test with muster behind a proxy. `start` writes the proxy's files and starts it. */
export async function withProxy(
  start: (placed: Placed) => Promise<Deno.Command>,
  run: (proxied: Proxied) => Promise<void>,
): Promise<void> {
  await withFolder(async (folder) => {
    const { cert } = await makeCertificate(folder);
    const port = freePort();
    const url = `https://localhost:${port}`;
    await using program = await startProgram({
      config: `trusted_proxies: [127.0.0.1]\ncors: { origins: ["${url}"] }\n` +
        "irc: { websocket_listen: 127.0.0.1:0 }\n",
    });
    const command = await start({
      folder,
      port,
      api: new URL(program.api).host,
      webSocket: await webSocketOf(program),
    });
    const proxy = command.spawn();
    try {
      await untilListening(port, proxy.status);
      await run({ url, program, cert, folder });
    } finally {
      proxy.kill("SIGTERM");
      await proxy.status;
    }
  });
}

/** `HOST:PORT` of a program's IRC over WebSocket. */
async function webSocketOf({ folder }: Program): Promise<string> {
  const endpoints = JSON.parse(await Deno.readTextFile(join(folder, "data", "endpoints.json")));
  return new URL(endpoints.irc_websocket).host;
}

/** Waits until a port accepts connections. */
export async function untilListening(
  port: number,
  ended: Promise<Deno.CommandStatus>,
): Promise<void> {
  let isRunning = true;
  ended.then(() => isRunning = false);
  for (const start = performance.now(); performance.now() - start < WAIT_LIMIT && isRunning;) {
    try {
      (await Deno.connect({ hostname: "127.0.0.1", port })).close();
      return;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
  throw new Error(`Nothing listens on port ${port}`);
}

/** Streams, WebSockets, fossil and the addresses of clients pass through a proxy. */
export async function checkProxy(proxied: Proxied): Promise<void> {
  await checkAddresses(proxied);
  await checkStream(proxied);
  await checkWebSocket(proxied);
  const account = await makeProject(proxied);
  await checkFossil(proxied, account);
  await checkGit(proxied, account);
  await checkUnevenPushes(proxied, account);
}

/** Requests reach muster with the address of the client, which cannot pretend to be another. */
async function checkAddresses({ url, program, cert }: Proxied): Promise<void> {
  using client = Deno.createHttpClient({ caCerts: [cert], localAddress: "127.0.0.2" });
  const logged = program.logged(/"route":"\/v1\/status"/);
  const response = await fetch(`${url}/v1/status`, {
    client,
    headers: { authorization: `Bearer ${program.token}`, "x-forwarded-for": "203.0.113.9" },
  });
  assert.equal(response.status, 200);
  await response.body?.cancel();
  assert.match(await logged, /"address":"127\.0\.0\.2"/);
}

/** A message arrives on an event stream at once, and the stream ends with its reader. */
async function checkStream({ url, program, cert }: Proxied): Promise<void> {
  using client = Deno.createHttpClient({ caCerts: [cert] });
  const path = `/v1/channels/general/stream?token=${program.token}`;
  const ended = program.logged(/"route":"\/v1\/channels\/\{channel\}\/stream"/);
  const stream = await fetch(url + path, { client });
  assert.equal(stream.status, 200);
  const posted = await call(program, "POST", "/v1/channels/general/messages", { text: "at once" });
  assert.equal(posted.status, 204);
  const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
  for (let text = ""; !text.includes("at once");) {
    const part = await within(Promise.resolve(reader?.read()), () => "The message");
    assert.equal(part?.done, false, text);
    text += part?.value;
  }
  await reader?.cancel();
  await ended;
}

/** A client in a page of the proxy's origin logs on to IRC over WebSocket. */
async function checkWebSocket({ url, cert }: Proxied): Promise<void> {
  using client = Deno.createHttpClient({ caCerts: [cert] });
  const socket = new WebSocket(`${url.replace("https", "wss")}/irc`, {
    client,
    protocols: ["text.ircv3.net"],
    headers: { origin: url },
  });
  const welcomed = Promise.withResolvers<void>();
  const closed = new Promise<void>((resolve) => socket.onclose = () => resolve());
  closed.then(() => welcomed.reject(new Error("It was closed before the welcome")));
  socket.onopen = () => ["NICK page", "USER page 0 * :Page"].forEach((line) => socket.send(line));
  socket.onmessage = ({ data }) => {
    if (/ 001 page /.test(data)) welcomed.resolve();
  };
  await welcomed.promise;
  socket.close();
  await closed;
}

/** Makes the project `demo`; returns the credential of a member, as a URL has it. */
async function makeProject({ program }: Proxied): Promise<string> {
  await registerAgent(program, "builder");
  await expect(call(program, "POST", "/v1/projects", { slug: "demo" }), 201);
  const member = "/v1/projects/demo/members/builder";
  await expect(call(program, "PUT", member, { role: "write" }), 201);
  const issued = await expect(
    call(program, "POST", "/v1/tokens", {
      owner: "builder",
      name: "proxy",
      scopes: ["read", "write"],
    }),
    201,
  );
  return `builder:${issued["token"]}`;
}

/** The `fossil` program clones a project, and pushes a file longer than most proxies' bounds. */
async function checkFossil({ url, program, folder }: Proxied, account: string): Promise<void> {
  const remote = `${url.replace("//", `//${account}@`)}/projects/demo/fossil`;
  await Deno.mkdir(join(folder, "work"));
  const bytes = crypto.getRandomValues(new Uint8Array(60_000));
  await Deno.writeFile(
    join(folder, "work", "long.bin"),
    new Uint8Array(3_000_000).map((_, at) => (bytes[at % 59_999] ?? 0) ^ (at >> 8)),
  );
  const fossil = async (place: string, ...args: string[]) => {
    const { code, stdout, stderr } = await new Deno.Command("fossil", {
      args,
      cwd: join(folder, place),
      env: { HOME: folder, USER: "builder", SSL_CERT_FILE: join(folder, "tls.crt") },
      stdin: "null",
    }).output();
    const text = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
    assert.equal(code, 0, `fossil ${args.join(" ")}: ${text}`);
  };
  await fossil(".", "clone", remote, "demo.fossil", "--save-http-password");
  await fossil("work", "open", "../demo.fossil", "--keep");
  await fossil("work", "add", "long.bin");
  await fossil("work", "commit", "-m", "Add a long file", "--no-warnings");
  const timeline = await expect(
    call(program, "GET", "/projects/demo/fossil/api/timeline"),
    200,
  );
  assert.match(JSON.stringify(timeline), /Add a long file/);
}

/**
 * `git` clones, pushes a long file in chunks, and fetches with a compressed request, in both versions
 * of HTTP.
 */
async function checkGit({ url, folder }: Proxied, account: string): Promise<void> {
  using client = new GitClient();
  const remote = `${url.replace("//", `//${account}@`)}/projects/demo.git`;
  for (const version of ["HTTP/1.1", "HTTP/2"]) {
    const settings = [
      ["http.sslCAInfo", join(folder, "tls.crt")],
      ["http.version", version],
      // A longer body has no declared length.
      ["http.postBuffer", "65536"],
    ] as const;
    const used = settings.flatMap(([name, value]) => ["--config", `${name}=${value}`]);
    const [one, other] = [await client.clone(remote, ...used), await client.clone(remote, ...used)];
    const long = new Uint8Array(3_000_000);
    for (let at = 0; at < long.length; at += 50_000) {
      crypto.getRandomValues(long.subarray(at, at + 50_000));
    }
    await commit(one, { "long.bin": long });
    await one.git("push", "--quiet", "origin", "trunk");
    // So many commits that a client names in a compressed request what it has.
    for (let count = 0; count < 40; count++) {
      await other.git("commit", "--quiet", "--allow-empty", "--message", `${count}`);
    }
    await other.git("fetch", "--quiet");
    await other.check();
    assert.equal(await other.git("rev-parse", "origin/trunk"), await one.git("rev-parse", "HEAD"));
  }
}

/** Pushes that pause in the middle arrive; of those that are cut there, nothing stays. */
async function checkUnevenPushes(proxied: Proxied, account: string): Promise<void> {
  const { url, cert, folder, program } = proxied;
  using client = new GitClient();
  const remote = `${url.replace("//", `//${account}@`)}/projects/demo.git`;
  const list = async (branch: string) => {
    const trust = ["-c", `http.sslCAInfo=${join(folder, "tls.crt")}`];
    return await client.git([...trust, "ls-remote", remote, `refs/heads/${branch}`]);
  };
  for (const version of [1, 2]) {
    using http = Deno.createHttpClient({
      caCerts: [cert],
      http1: version === 1,
      http2: version === 2,
    });
    const push = (body: ReadableStream<Uint8Array<ArrayBuffer>>) =>
      fetch(`${url}/projects/demo.git/git-receive-pack`, {
        client: http,
        method: "POST",
        headers: {
          "authorization": `Basic ${btoa(account)}`,
          "content-type": "application/x-git-receive-pack-request",
        },
        body,
      });
    const cut = rawPush(`refs/heads/cut-${version}`);
    const broken = new TransformStream<Uint8Array<ArrayBuffer>>();
    const writer = broken.writable.getWriter();
    const cutting = push(broken.readable).then((response) => response.text(), () => "");
    await writer.write(cut.body.slice(0, cut.body.length / 2));
    await arrives(program);
    await writer.abort(new Error("The client is gone"));
    assert.doesNotMatch(await cutting, /unpack ok/);
    await asked(() => Promise.resolve(uploadsOf(program)), ({ count }) => count === 0);
    assert.equal(await list(`cut-${version}`), "");

    const slow = rawPush(`refs/heads/slow-${version}`);
    const halves = new TransformStream<Uint8Array<ArrayBuffer>>();
    const half = slow.body.length / 2;
    const slowly = halves.writable.getWriter();
    const pushing = push(halves.readable);
    await slowly.write(slow.body.slice(0, half));
    await arrives(program);
    // Others are not delayed meanwhile.
    assert.equal(await list(`slow-${version}`), "");
    await slowly.write(slow.body.slice(half));
    await slowly.close();
    const answer = await pushing;
    assert.match(await answer.text(), /unpack ok\n/);
    assert.equal((await list(`slow-${version}`)).split("\t")[0], slow.tip);
  }
}

/** The body of a push of a new branch with a long file. */
function rawPush(ref: string): { readonly body: Uint8Array<ArrayBuffer>; readonly tip: string } {
  const long = new Uint8Array(2_000_000);
  for (let at = 0; at < long.length; at += 50_000) {
    crypto.getRandomValues(long.subarray(at, at + 50_000));
  }
  const blob = rawBlob(long);
  const tree = rawTree([["long", 0o100644, blob]]);
  const made = rawCommit(tree);
  const change = `${"0".repeat(40)} ${made.hex} ${ref}\0report-status\n`;
  const pack = rawPack([blob, tree, made]);
  const body = Buffer.concat([textPacket(change), markPacket("flush"), pack]);
  return { body: new Uint8Array(body), tip: made.hex };
}

/** The uploads that a program receives, and their bytes so far. */
function uploadsOf({ folder }: Program): { readonly count: number; readonly bytes: number } {
  const place = join(folder, "data", "projects");
  const uploads = [...Deno.readDirSync(place)].filter(({ name }) => name.startsWith(".upload-"));
  const sizes = uploads.flatMap(({ name }) => {
    try {
      const upload = join(place, name);
      return [...Deno.readDirSync(upload)].map((file) =>
        Deno.statSync(join(upload, file.name)).size
      );
    } catch {
      return [];
    }
  });
  return { count: uploads.length, bytes: sizes.reduce((sum, size) => sum + size, 0) };
}

/** Waits until the program has a part of an upload: its proxy passes on what comes. */
async function arrives(program: Program): Promise<void> {
  await asked(() => Promise.resolve(uploadsOf(program)), ({ bytes }) => bytes > 100_000);
}

async function expect(
  request: Promise<Response>,
  status: number,
): Promise<Record<string, unknown>> {
  const response = await request;
  const text = await response.text();
  assert.equal(response.status, status, text);
  return text === "" ? {} : JSON.parse(text);
}
