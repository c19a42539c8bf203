import assert from "node:assert/strict";
import { join } from "node:path";
import { parse, UsageError } from "../../cli/command_line/mod.ts";
import { fossilWords } from "../../cli/fossil/habits.ts";
import { COMMAND_LINE } from "../../cli/mod.ts";
import { call } from "../support/api.ts";
import { peer } from "../support/peers.ts";
import { musterWords, runMuster, startProgram } from "../support/program.ts";
import { withFolder } from "../support/temporary.ts";
import { type Page, readPage, readPages, readUserPages, ROOT } from "./pages.ts";

/**
 * Stands for muster and npx in a pasted block, and writes down the words it was called with. git, curl
 * and tar do nothing.
 */
const RECORDER = `#!/bin/sh
case "$0" in
  */git | */curl | */fossil | */tar | */forgejo-runner) exit ;;
  */npx) # npx deno@VERSION task TASK [COMMAND]
    printf '%s\\n' "$3" >> "$TASKS"
    shift 3 ;;
esac
[ $# -eq 0 ] || { printf '%s\\0' "$@"; printf '\\n\\0'; } >> "$CALLS"
`;

/** The words of each command and task that a pasted block calls. */
interface Calls {
  readonly commands: string[][];
  readonly tasks: string[];
}

/** Runs a shell block, in a folder, whose programs only write down how they are called. */
async function callsOf(block: string, folder: string): Promise<Calls> {
  const bin = join(folder, "bin");
  const [calls, tasks] = [join(folder, "calls"), join(folder, "tasks")];
  await Deno.mkdir(bin);
  await Deno.mkdir(join(folder, "muster"));
  for (const name of ["muster", "npx", "git", "curl", "fossil", "tar", "forgejo-runner"]) {
    await Deno.writeTextFile(join(bin, name), RECORDER, { mode: 0o755 });
  }
  const read = Array.from(block.matchAll(/ < (\S+)/g), ([, name = ""]) => join(folder, name));
  for (const file of [calls, tasks, ...read]) await Deno.writeTextFile(file, "");
  const { code, stderr } = await new Deno.Command("bash", {
    // Nothing that a block writes may land outside of the folder.
    args: ["-euc", block.replace(/ >>? ("[^"]*"|\S+)/g, " > output")],
    cwd: folder,
    clearEnv: true,
    env: { HOME: folder, PATH: `${bin}:/usr/bin:/bin`, CALLS: calls, TASKS: tasks },
    stdin: "null",
  }).output();
  assert.equal(code, 0, `${block}\n${new TextDecoder().decode(stderr)}`);
  return {
    commands: (await Deno.readTextFile(calls)).split("\n\0").filter(Boolean)
      .map((text) => text.split("\0").slice(0, -1)),
    tasks: (await Deno.readTextFile(tasks)).split("\n").filter(Boolean),
  };
}

/** The shell blocks of a page but for the README's tour, which `readme_test.ts` runs for real. */
function shellBlocks({ path, blocks }: Page): string[] {
  return blocks
    .filter(({ language }) => language === "sh")
    .filter(({ text }) => path !== "README.md" || !/curl|kill|\$(?:API|REPO|ANN)/.test(text))
    .map(({ text }) => text);
}

/** The block that gives the page's later blocks their variables; empty if there is none. */
function variablesOf(page: Page): string {
  return shellBlocks(page).find((text) => /^[A-Z]+=/.test(text)) ?? "";
}

/** Tells what is wrong with a command, but for values that a mention leaves out; null for nothing. */
async function faultOf(words: readonly string[], isMention: boolean): Promise<string | null> {
  try {
    await parse(COMMAND_LINE, fossilWords(words));
    return null;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    const isShort = / is missing(?:: one of .*)?$| needs a value: /.test(error.message);
    return isMention && isShort ? null : `muster ${words.join(" ")}: ${error.message}`;
  }
}

Deno.test("every shell block of the documentation parses and calls commands that exist", async () => {
  const { tasks: known } = JSON.parse(await Deno.readTextFile(join(ROOT, "deno.json")));
  const faults: (string | null)[] = [];
  let count = 0;
  for (const page of await readUserPages()) {
    for (const block of shellBlocks(page)) {
      await withFolder(async (folder) => {
        const { commands, tasks } = await callsOf(variablesOf(page) + block, folder);
        count += commands.length;
        for (const words of commands) faults.push(await faultOf(words, false));
        for (const task of tasks) assert.ok(task in known, `${page.path}: deno task ${task}`);
      });
    }
  }
  assert.ok(count > 40, `${count}`);
  assert.deepEqual(faults.filter((fault) => fault !== null), []);
});

Deno.test("every command that the documentation mentions exists", async () => {
  const { tasks } = JSON.parse(await Deno.readTextFile(join(ROOT, "deno.json")));
  const faults: (string | null)[] = [];
  for (const { path, spans } of await readPages()) {
    for (const span of spans.flat()) {
      const [, task] = /^(?:npx \S+|deno) task ([a-z:-]+)/.exec(span) ?? [];
      if (task !== undefined && !(task in tasks)) faults.push(`${path}: ${span}`);
      const [, line] = /^muster ([a-z].*)$/.exec(span) ?? [];
      if (line === undefined || path === "CHANGELOG.md" || line.includes("COMMAND")) continue;
      const words = Array.from(
        line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g),
        ([, a, b, c]) => a ?? b ?? c ?? "",
      );
      faults.push(await faultOf(words, true));
    }
  }
  assert.deepEqual(faults.filter((fault) => fault !== null), []);
});

Deno.test("docs/first-day.md leads from an empty folder through the first day, when it is pasted", async () => {
  await withFolder(async (folder) => {
    const { blocks } = await readPage("docs/first-day.md");
    const [init, serve, ...later] = blocks.map(({ text }) => text);
    assert.match(init ?? "", /^muster init --yes .*\n$/);
    assert.equal(serve, "muster serve\n");
    await paste(init ?? "", folder, {});
    await using program = await startProgram({ folder });
    // The commands of the last section run until they are stopped.
    const watch = later.pop() ?? "";
    assert.match(watch, /^muster tail '#general'\nmuster log -f\n$/);
    // The addresses of this server are not those of its configuration.
    const usual = { MUSTER_URL: program.api, MUSTER_API_ADDR: "127.0.0.1:0" };
    const printed = await paste(later.join("\n"), folder, {
      ...usual,
      MUSTER_MCP_ADDR: "127.0.0.1:0",
      MUSTER_IRC_LISTEN: "127.0.0.1:0",
    });
    assert.match(printed, /SASL|sasl/);
    const members = await (await call(program, "GET", "/v1/projects/demo/members")).json();
    const names = members.map(({ account, name, nick }: Record<string, string>) =>
      account ?? name ?? nick
    );
    assert.deepEqual(names.toSorted(), ["admin", "builder", "scout"]);
    const entries = await Array.fromAsync(Deno.readDir(folder));
    assert.ok(entries.some(({ name }) => /^muster-.*\.tar\.gz$/.test(name)), "there is a backup");
  });
});

/** Pastes lines into a shell whose `muster` is the real one. Returns what they print. */
async function paste(
  text: string,
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<string> {
  const { code, stdout, stderr } = await new Deno.Command("bash", {
    args: ["-ec", `${musterFunction()}\n${text}`],
    cwd,
    env,
    stdin: "null",
  }).output();
  const [printed, errors] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  assert.equal(code, 0, `${text}\n${printed}\n${errors}`);
  return printed ?? "";
}

Deno.test("the blocks of docs/fossil.md work when they are pasted", peer("git"), async () => {
  await withFolder(async (folder) => {
    await Deno.mkdir(join(folder, "folder"));
    await Deno.writeTextFile(join(folder, "folder", "file"), "text\n");
    const { blocks } = await readPage("docs/fossil.md");
    const pasted = blocks.filter(({ language }) => language === "sh").map(({ text }) => text);
    const { code, stdout, stderr } = await new Deno.Command("bash", {
      args: [
        "-ec",
        "git init -q -b trunk . && git add folder && " +
        "git -c user.name=ann -c user.email=ann@example.org commit -qm first\n" +
        `${musterFunction()}\n${pasted.join("\n")}`,
      ],
      cwd: folder,
      stdin: "null",
    }).output();
    assert.equal(code, 0, new TextDecoder().decode(stderr));
    assert.match(new TextDecoder().decode(stdout), /first files/);
    const { stdout: files } = await runMuster(["fossil", "ls", "history.fossil"], { folder });
    assert.match(files, /folder\/file/);
  });
});

/** A function of the shell that runs muster, from the tree or as an executable. */
function musterFunction(): string {
  return `muster() { ${musterWords().map((word) => `'${word}'`).join(" ")} "$@"; }`;
}
