/** `muster hook claude --wait`: the hook in the background that wakes an idle agent. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { homeOf, runAtHome } from "../support/agent_clients.ts";
import { call, callAs, type Credentials, registerAgent } from "../support/api.ts";
import { cleanEnvironment, musterWords, type Program, startProgram } from "../support/program.ts";
import { asked, within } from "../support/until.ts";

/** An idle agent with a token, and another that writes to it. */
interface Scene {
  readonly program: Program;
  readonly nick: string;
  readonly token: string;
  readonly tokenId: string;
  readonly ann: Credentials;
}

async function sceneOf(program: Program, ann: Credentials, nick: string): Promise<Scene> {
  await registerAgent(program, nick);
  const body = { owner: nick, name: "hook", scopes: ["read"] };
  const { id, token } = await (await call(program, "POST", "/v1/tokens", body)).json();
  return { program, nick, token, tokenId: id, ann };
}

async function write({ program, nick, ann }: Scene, text: string): Promise<void> {
  const response = await callAs(program, ann, "POST", `/v1/agents/${nick}/messages`, { text });
  assert.equal(response.status, 204, await response.text());
}

/** A client of the agent, with a hook that waits. */
class Client {
  readonly #process: Deno.ChildProcess;
  /** The exit code of the hook, and what it said. */
  readonly #ended: Promise<{ readonly code: number; readonly stderr: string }>;

  /** Starts it, and the hook at the end of a turn. */
  constructor(scene: Scene, session: string) {
    const { program, nick, token } = scene;
    Deno.mkdirSync(homeOf(program), { recursive: true });
    // The shell stands for the client: it goes on while the hook runs, and its end is not the hook's.
    const script = 'exec 3<&0; "$@" <&3 3<&- & wait $!; echo "code $?" >&2';
    this.#process = new Deno.Command("bash", {
      args: ["-c", script, "client", ...musterWords(), "hook", "claude", "--wait"],
      cwd: program.folder,
      clearEnv: true,
      env: cleanEnvironment({
        HOME: homeOf(program),
        XDG_STATE_HOME: `${homeOf(program)}/.local/state`,
        MUSTER_URL: program.api,
        MUSTER_AGENT: nick,
        MUSTER_TOKEN: token,
      }),
      stdin: "piped",
      stdout: "null",
      stderr: "piped",
    }).spawn();
    this.#ended = this.#read();
    void this.#tell(JSON.stringify({ session_id: session, hook_event_name: "Stop" }));
  }

  async #tell(event: string): Promise<void> {
    const writer = this.#process.stdin.getWriter();
    await writer.write(new TextEncoder().encode(event)).catch(() => {});
    await writer.close().catch(() => {});
  }

  async #read(): Promise<{ readonly code: number; readonly stderr: string }> {
    const stderr = await new Response(this.#process.stderr).text();
    const code = /code (\d+)\n$/.exec(stderr)?.[1];
    return { code: Number(code), stderr };
  }

  /** The hook's exit code and what it said, once it has ended. */
  get ended() {
    return within(this.#ended, () => "The end of the hook");
  }

  /** Ends the client, and not its hook. */
  end(): void {
    this.#process.kill("SIGKILL");
  }
}

/** Resolves with the mark of the hook that waits for a session, once it is another one. */
function markOf(program: Program, session: string, earlier = ""): Promise<string> {
  const path = join(homeOf(program), ".local/state/muster/hooks", session);
  return asked(
    () => Deno.readTextFile(path).catch(() => ""),
    (mark) => mark !== "" && mark !== earlier,
  );
}

/** Whether the agent has read nothing of its inbox. */
async function hasReadNothing({ program, nick }: Scene): Promise<void> {
  const summary = await (await call(program, "GET", `/v1/agents/${nick}/summary`)).json();
  assert.equal(summary.read, 0);
}

async function wakesOnce(scene: Scene): Promise<void> {
  await write(scene, "before");
  const first = await new Client(scene, scene.nick).ended;
  assert.equal(first.code, 2);
  assert.match(first.stderr, /^muster: 1 new message .*data that others wrote.*\n<muster-inbox>\n/);
  assert.match(first.stderr, /"text":"before"/);
  const second = new Client(scene, scene.nick);
  await markOf(scene.program, scene.nick);
  await write(scene, "after");
  const { code, stderr } = await second.ended;
  assert.equal(code, 2);
  assert.match(stderr, /"text":"after"/);
  assert.doesNotMatch(stderr, /"text":"before"/);
}

async function isOne(scene: Scene): Promise<void> {
  const first = new Client(scene, scene.nick);
  const mark = await markOf(scene.program, scene.nick);
  const second = new Client(scene, scene.nick);
  await markOf(scene.program, scene.nick, mark);
  assert.equal((await first.ended).code, 0);
  // The session works: it reads its inbox by itself.
  const { program, nick, token } = scene;
  const event = { session_id: nick, hook_event_name: "PostToolUse" };
  await runAtHome(program, ["hook", "claude", "--timeout", "10000"], {
    environment: { MUSTER_AGENT: nick, MUSTER_TOKEN: token },
    stdin: JSON.stringify(event),
  });
  assert.deepEqual(await second.ended, { code: 0, stderr: "code 0\n" });
}

async function wakesSeldom(scene: Scene): Promise<void> {
  const { program, nick, token } = scene;
  const folder = join(homeOf(program), ".local/state/muster/hooks");
  await Deno.mkdir(folder, { recursive: true });
  const [now, hourAgo] = [Date.now(), Date.now() - 61 * 60_000];
  const wereAt = (wakes: readonly number[]) =>
    Deno.writeTextFile(join(folder, `${nick}.wakes`), JSON.stringify(wakes));
  await wereAt([hourAgo, ...Array.from({ length: 19 }, () => now)]);
  await write(scene, "the twentieth");
  assert.match((await new Client(scene, nick).ended).stderr, /the twentieth/);

  await write(scene, "for the next prompt");
  const client = new Client(scene, nick);
  await markOf(program, nick);
  const event = { session_id: nick, hook_event_name: "UserPromptSubmit" };
  const { stdout } = await runAtHome(program, ["hook", "claude", "--timeout", "10000"], {
    environment: { MUSTER_AGENT: nick, MUSTER_TOKEN: token },
    stdin: JSON.stringify(event),
  });
  assert.match(stdout, /for the next prompt/);
  assert.deepEqual(await client.ended, { code: 0, stderr: "code 0\n" });
}

async function endsWithItsClient(scene: Scene): Promise<void> {
  const client = new Client(scene, scene.nick);
  await markOf(scene.program, scene.nick);
  client.end();
  await client.ended;
  await write(scene, "for the next session");
  await hasReadNothing(scene);
}

async function endsWithTheAgent(scene: Scene): Promise<void> {
  const { program, nick } = scene;
  const halted = new Client(scene, nick);
  await markOf(program, nick);
  await call(program, "POST", "/v1/halt", { agents: [nick], reason: "stop" });
  assert.deepEqual(await halted.ended, { code: 0, stderr: "code 0\n" });
  await hasReadNothing(scene);
  await call(program, "DELETE", `/v1/halt?agents=${nick}`);
  assert.match((await new Client(scene, nick).ended).stderr, /Halted by.*\n.*Resumed by/);
  const revoked = new Client(scene, nick);
  await markOf(program, nick);
  await call(program, "DELETE", `/v1/tokens/${scene.tokenId}`);
  assert.deepEqual(await revoked.ended, { code: 0, stderr: "code 0\n" });
  assert.equal((await new Client(scene, nick).ended).code, 0);
}

const STEPS = [
  ["news wake the client once, also what came before", wakesOnce],
  ["one hook waits for a session, and none while it works", isOne],
  ["it wakes a session twenty times an hour at most", wakesSeldom],
  ["it ends with its client, and reads nothing for nobody", endsWithItsClient],
  ["it ends when the agent is halted or its token is revoked", endsWithTheAgent],
] as const;

Deno.test("a hook in the background waits for an idle agent", async (test) => {
  await using program = await startProgram();
  const ann = await registerAgent(program, "ann");
  for (const [index, [name, run]] of STEPS.entries()) {
    await test.step(name, async () => await run(await sceneOf(program, ann, `scout-${index}`)));
  }
  await test.step("it survives a kill of the server", async () => {
    const scene = await sceneOf(program, ann, "survivor");
    const client = new Client(scene, "survivor");
    await markOf(program, "survivor");
    await program.stop("SIGKILL");
    const { host } = new URL(program.api);
    const environment = { MUSTER_API_ADDR: host };
    await using again = await startProgram({ folder: program.folder, environment });
    await write({ ...scene, program: again }, "back");
    const { code, stderr } = await client.ended;
    assert.equal(code, 2);
    assert.match(stderr, /"text":"back"/);
  });
});
