/** The clients of `clients/`: their packages are built and installed, and their examples run. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { buildPython, buildTypescript, type SdkBuild } from "../../scripts/sdk.ts";
import { call, registerAgent } from "../support/api.ts";
import { peer, sdkTools } from "../support/peers.ts";
import { type Program, startProgram } from "../support/program.ts";
import { withFolder } from "../support/temporary.ts";
import { asked } from "../support/until.ts";

const SLUG = "website";

/** Runs one of a client's examples to its end, and gives what it printed. */
type RunExample = (name: string, ...args: readonly string[]) => Example;

class Example {
  readonly #child: Deno.ChildProcess;
  readonly #output: Promise<string>;

  constructor(program: string, args: readonly string[], options: Deno.CommandOptions) {
    this.#child = new Deno.Command(program, { ...options, args: [...args], stdout: "piped" })
      .spawn();
    this.#output = new Response(this.#child.stdout).text();
  }

  /** What it printed, once it has ended well. */
  async output(): Promise<string> {
    const [{ code }, text] = await Promise.all([this.#child.status, this.#output]);
    assert.equal(code, 0, text);
    return text.trim();
  }
}

/** Plays what the examples of both clients do. */
async function play(program: Program, run: RunExample): Promise<void> {
  const project = `/projects/${SLUG}/fossil/api`;
  assert.equal((await call(program, "POST", "/v1/projects", { slug: SLUG })).status, 201);
  await member(program, "scout");
  await call(program, "POST", `${project}/tickets`, { title: "Write notes" });
  assert.equal(await run("work", SLUG).output(), "#1 waits for a review");
  assert.equal(await run("work", SLUG).output(), "There is nothing to do");
  const { reviews } = await (await call(program, "GET", `${project}/reviews`)).json();
  assert.deepEqual(reviews.map(({ agent_id: author }: { agent_id: string }) => author), ["scout"]);

  const messages = "/v1/agents/scout/messages";
  for (const text of ["hello", "stop"]) await call(program, "POST", messages, { text });
  const answering = run("answer", "scout");
  assert.deepEqual((await answering.output()).split("\n"), ["bridge: hello", "bridge: stop"]);
  const left = await (await call(program, "GET", messages)).json();
  assert.deepEqual(left.map(({ text }: { text: string }) => text), ["stop"]);

  const channel = "/v1/channels/general/messages";
  for (const text of ["before", "hello", "stop"]) await call(program, "POST", channel, { text });
  const [before] = await (await call(program, "GET", channel)).json();
  const following = run("follow", "general", before.id);
  assert.deepEqual((await following.output()).split("\n"), ["bridge: hello", "bridge: stop"]);

  const asking = run("ask", "May I?");
  const [question] = await asked(
    async () => await (await call(program, "GET", "/v1/questions")).json(),
    (questions) => questions.length > 0,
  );
  await call(program, "POST", `/v1/questions/${question.id}/answer`, { answer: "yes" });
  assert.equal(await asking.output(), "yes");
}

async function member(program: Program, nick: string): Promise<void> {
  const role = { role: "write" };
  const answer = await call(program, "PUT", `/v1/projects/${SLUG}/members/${nick}`, role);
  assert.ok(answer.ok);
  await answer.body?.cancel();
}

/** Starts a program with an agent, and writes the API's document. */
async function withSdk(
  run: (program: Program, build: SdkBuild, env: Record<string, string>) => Promise<void>,
): Promise<void> {
  await withFolder(async (folder) => {
    await using program = await startProgram();
    await registerAgent(program, "scout");
    const request = { owner: "scout", name: "sdk", scopes: ["read", "write"] };
    const { token } = await (await call(program, "POST", "/v1/tokens", request)).json();
    const document = join(folder, "openapi.json");
    const response = await fetch(`${program.api}/openapi.json`);
    await Deno.writeTextFile(document, await response.text());
    const build = { document, folder: join(folder, "build") };
    await Deno.mkdir(build.folder);
    await run(program, build, { MUSTER_URL: program.api, MUSTER_TOKEN: token });
  });
}

Deno.test("the client in TypeScript works as its examples say", peer("sdk tools"), async () => {
  await withSdk(async (program, build, env) => {
    await Deno.stat(await buildTypescript(build));
    await play(program, (name, ...args) =>
      // A package may import itself by its name.
      new Example("node", [`examples/${name}.js`, ...args], { cwd: build.folder, env }));
  });
});

Deno.test("the client in Python works as its examples say", peer("sdk tools"), async () => {
  await withSdk(async (program, build, env) => {
    const wheel = await buildPython(build);
    const python = join(sdkTools(), "bin", "python");
    await play(program, (name, ...args) =>
      // Python imports from a wheel as from a folder.
      new Example(python, [join(build.folder, "examples", `${name}.py`), ...args], {
        cwd: build.folder,
        env: { ...env, PYTHONPATH: wheel },
      }));
  });
});
