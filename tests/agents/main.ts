/**
 * Lets agent programs play a whole shift with a scripted model, and prints what each does.
 *
 *   deno task agents [PROGRAM …]
 *
 * `MUSTER_EXECUTABLE` names an executable of muster: its hooks start faster than those of the tree.
 */
import { join } from "node:path";
import { print, printError } from "../../cli/output.ts";
import { call, registerAgent } from "../support/api.ts";
import { McpAgent } from "../support/mcp_agent.ts";
import { type Program, runMuster, startProgram, treeEnvironment } from "../support/program.ts";
import { type AgentProgram, PROGRAMS, type Stage } from "./clients.ts";
import { type Model, type Script, startModel } from "./model.ts";
import { prepare, SHIFT, type Step, type World } from "./shift.ts";

/** How long a run of a program may take, in milliseconds. */
const RUN_LIMIT = 120_000;

/** Longest text of a failure in the report. */
const MAX_REASON = 600;

/** What came of a step: null if it went well, otherwise why not. */
type Outcome = string | null;

/** The server of the shift, which may be killed and started again on its ports. */
class Server implements AsyncDisposable {
  #program: Program;
  readonly #ports: Readonly<Record<string, string>>;
  #isRunning = true;

  private constructor(program: Program) {
    this.#program = program;
    this.#ports = {
      MUSTER_API_ADDR: new URL(program.api).host,
      MUSTER_MCP_ADDR: new URL(program.mcp).host,
    };
  }

  static async start(folder: string): Promise<Server> {
    return new Server(await startProgram({ folder }));
  }

  get program(): Program {
    return this.#program;
  }

  async kill(): Promise<void> {
    this.#isRunning = false;
    await this.#program.stop("SIGKILL");
  }

  /** Does nothing if it runs. */
  async restart(): Promise<void> {
    if (this.#isRunning) return;
    const { folder } = this.#program;
    this.#program = await startProgram({ folder, environment: this.#ports });
    this.#isRunning = true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#program[Symbol.asyncDispose]();
  }
}

/** The part of the step that runs now. */
class Play {
  #step: Step | null = null;
  #world: World | null = null;
  #results: readonly string[] = [];
  #begun = -1;
  /** What went wrong beside the program. */
  readonly #troubles: unknown[] = [];
  #meanwhile: Promise<void> = Promise.resolve();

  begin(step: Step, world: World): void {
    this.#step = step;
    this.#world = world;
    this.#results = [];
    this.#begun = -1;
    this.#troubles.length = 0;
  }

  /** What the model got, once the run has ended. */
  async end(): Promise<readonly string[]> {
    await this.#meanwhile;
    this.#step = null;
    const [trouble] = this.#troubles;
    if (trouble !== undefined) throw trouble;
    return this.#results;
  }

  readonly script: Script = async (turn) => {
    const [step, world] = [this.#step, this.#world];
    if (step === null || world === null || turn.tools.length === 0) return undefined;
    if (!turn.said.includes(`STEP ${step.name}`)) return undefined;
    if (turn.results.length >= this.#results.length) this.#results = turn.results;
    const at = turn.results.length;
    const call = step.calls[at];
    if (call === undefined) return { text: "The step is over." };
    if (at > this.#begun) {
      this.#begun = at;
      try {
        await call.before?.(world);
      } catch (error) {
        this.#troubles.push(error);
      }
      const meanwhile = call.meanwhile?.(world) ?? Promise.resolve();
      this.#meanwhile = meanwhile.catch((error) => void this.#troubles.push(error));
    }
    return { tool: call.tool, input: call.input(world) };
  };
}

/** Runs a program to its end, and returns what it wrote. */
async function run(
  { start }: AgentProgram,
  stage: Stage,
  prompt: string,
): Promise<{ readonly code: number; readonly output: string }> {
  const { words: [program, ...args], environment } = start(prompt, stage);
  const process = new Deno.Command("timeout", {
    args: ["--kill-after=5", `${RUN_LIMIT / 1000}`, program, ...args],
    cwd: stage.folder,
    clearEnv: true,
    env: treeEnvironment({ ...homeOf(stage.home), NO_COLOR: "1", CI: "1", ...environment }),
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  });
  const { code, stdout, stderr } = await process.output();
  const decoder = new TextDecoder();
  return { code, output: decoder.decode(stdout) + decoder.decode(stderr) };
}

/** Where Deno itself comes from npx, a home folder without its cache would fetch it anew. */
async function shareNpm(home: string): Promise<void> {
  const own = join(Deno.env.get("HOME") ?? "/", ".npm");
  await Deno.symlink(own, join(home, ".npm")).catch(() => {});
}

function homeOf(home: string): Record<string, string> {
  return {
    HOME: home,
    XDG_CONFIG_HOME: join(home, ".config"),
    XDG_STATE_HOME: join(home, ".local", "state"),
    XDG_DATA_HOME: join(home, ".local", "share"),
    XDG_CACHE_HOME: join(home, ".cache"),
    CLAUDE_CONFIG_DIR: join(home, ".claude"),
    CODEX_HOME: join(home, ".codex"),
  };
}

/** Plays the shift with one program; returns the outcome of each step. */
async function play(name: string, programs: string, model: Model, of: Play, server: Server) {
  const chosen = PROGRAMS[name];
  if (chosen === undefined) throw new Error(`There is no program "${name}"`);
  const nick = `${name}-scout`;
  await registerAgent(server.program, nick);
  const rivalOf = await registerAgent(server.program, `${name}-rival`);
  const body = { owner: nick, name: "shift", scopes: ["read", "write"] };
  const issued = await (await call(server.program, "POST", "/v1/tokens", body)).json();
  let rival = await McpAgent.connect(server.program, rivalOf);
  const world: World = {
    slug: name,
    nick,
    tokenId: issued.id,
    get program() {
      return server.program;
    },
    get rival() {
      return rival;
    },
    notes: new Map(),
    kill: () => server.kill(),
    async restart() {
      await server.restart();
      rival = await McpAgent.connect(server.program, rivalOf);
    },
  };
  await prepare(world);
  const home = join(server.program.folder, `home-${name}`);
  const folder = join(home, "work");
  await Deno.mkdir(folder, { recursive: true });
  await shareNpm(home);
  const stage: Stage = {
    programs,
    home,
    folder,
    model: model.url,
    tools: server.program.mcp,
    token: issued.token,
  };
  await install(chosen, nick, stage, server.program);
  chosen.prepare?.(stage);
  const outcomes: Outcome[] = [];
  for (const step of SHIFT) {
    const begin = performance.now();
    const outcome = await playStep(step, { chosen, stage, world, of });
    outcomes.push(outcome);
    const seconds = ((performance.now() - begin) / 1000).toFixed(1);
    printError(`${name} ${step.name} (${seconds} s): ${outcome ?? "ok"}`);
  }
  return outcomes;
}

async function install(
  { installed, hasHooks }: AgentProgram,
  nick: string,
  { home, folder, token }: Stage,
  program: Program,
): Promise<void> {
  if (installed === null) return;
  const { code, stderr } = await runMuster(
    [
      ...["mcp", "install", installed, "--agent", nick, "--token-stdin", "--allow", "--yes"],
      ...["--mcp-url", program.mcp, ...hasHooks === true ? ["--hooks"] : []],
    ],
    { folder, environment: { ...homeOf(home), MUSTER_URL: program.api }, stdin: `${token}\n` },
  );
  if (code !== 0) throw new Error(`mcp install ${installed}: ${stderr}`);
}

async function playStep(
  step: Step,
  { chosen, stage, world, of }: {
    readonly chosen: AgentProgram;
    readonly stage: Stage;
    readonly world: World;
    readonly of: Play;
  },
): Promise<Outcome> {
  let output = "";
  try {
    await step.before?.(world);
    of.begin(step, world);
    const ended = await run(chosen, stage, `STEP ${step.name}`);
    output = `\n${ended.output.slice(-MAX_REASON)}`;
    const results = await of.end();
    await step.check(results, world);
    return null;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return `${reason.slice(0, MAX_REASON)}${output}`;
  } finally {
    await step.after?.(world);
  }
}

/** The programs' folder. */
async function fetchPrograms(): Promise<string> {
  const path = join(import.meta.dirname ?? ".", "..", "..", "scripts", "agent_clients");
  const { code, stdout } = await new Deno.Command(path, { stderr: "inherit" }).output();
  if (code !== 0) throw new Error("scripts/agent_clients failed");
  return new TextDecoder().decode(stdout).trim();
}

const names = Deno.args.length > 0 ? Deno.args : Object.keys(PROGRAMS);
const programs = Deno.env.get("MUSTER_AGENT_CLIENTS") ?? await fetchPrograms();
const folder = await Deno.makeTempDir({ prefix: "muster-agents-" });
const results = new Map<string, readonly Outcome[]>();
{
  const of = new Play();
  await using model = startModel(of.script);
  await using server = await Server.start(folder);
  for (const name of names) results.set(name, await play(name, programs, model, of, server));
}
await Deno.remove(folder, { recursive: true });
print(`| | ${names.map((name) => PROGRAMS[name]?.title).join(" | ")} |`);
print(`|---|${names.map(() => "---").join("|")}|`);
for (const [at, { title }] of SHIFT.entries()) {
  const cells = names.map((name) => results.get(name)?.[at] === null ? "yes" : "no");
  print(`| ${title} | ${cells.join(" | ")} |`);
}
for (const [name, outcomes] of results) {
  for (const [at, outcome] of outcomes.entries()) {
    if (outcome !== null) print(`\n${name}, ${SHIFT[at]?.title}:\n${outcome}`);
  }
}
