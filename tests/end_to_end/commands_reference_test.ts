import assert from "node:assert/strict";
import { join } from "node:path";
import { runMuster } from "../support/program.ts";
import { withFolder } from "../support/temporary.ts";

const REFERENCE = new URL("../../docs/commands.md", import.meta.url);

/** Runs a command that needs no server, and gives what it printed. */
async function output(...args: string[]): Promise<string> {
  let printed = "";
  await withFolder(async (folder) => {
    const { code, stdout, stderr } = await runMuster(args, { folder });
    assert.deepEqual([code, stderr], [0, ""]);
    printed = stdout;
  });
  return printed;
}

Deno.test('docs/commands.md is what "muster reference" prints', async () => {
  const isCurrent = await Deno.readTextFile(REFERENCE) === await output("reference");
  assert.ok(isCurrent, 'The page is out of date: run "deno task reference"');
});

Deno.test("every command of the reference has a help that fits 80 columns", async () => {
  const text = await Deno.readTextFile(REFERENCE);
  const commands = Array.from(text.matchAll(/^#{3,5} muster (.+)$/gm), ([, words = ""]) => words);
  assert.ok(commands.length > 60);
  for (
    const words of [
      "",
      ...commands.filter((words) => !words.includes(" ")),
      "agent add",
      "project member add",
      "project webhook add",
    ]
  ) {
    const help = await output(...words.split(" ").filter(Boolean), "--help");
    assert.match(help, new RegExp(`^Usage: muster ${words}`, "m"));
    for (const line of help.split("\n")) {
      assert.ok(
        line.length <= 80 || line.startsWith("  npx ") || line.startsWith("  muster "),
        line,
      );
    }
  }
});

Deno.test("completion works in bash", async () => {
  await withFolder(async (folder) => {
    const script = join(folder, "completion");
    await Deno.writeTextFile(script, await output("completion", "bash"));
    await Deno.writeTextFile(join(folder, "some.fossil"), "");
    const table: [typed: string[], offered: string[]][] = [
      [["tai"], ["tail"]],
      [["agent", "re"], ["remove", "revoke", "resume"]],
      [["--data-dir", "agent", "token", "r"], ["remove", "rotate"]],
      [["agent", "add", "scout", "--ty"], ["--type"]],
      [["project", "member", ""], ["add", "list", "remove"]],
      [
        ["agent", "add", "scout", "--type", ""],
        ["worker", "orchestrator", "observer", "operator"],
      ],
      [["agent", "add", "scout", "--channels", ""], []],
      [["fossil", "cat", "some"], ["some.fossil"]],
      [["completion", ""], ["bash", "zsh", "fish"]],
    ];
    for (const [typed, offered] of table) {
      const { stdout } = await new Deno.Command("bash", {
        args: [
          "-c",
          'source "$0"; COMP_WORDS=(muster "$@"); COMP_CWORD=$#; _muster; ' +
          'printf "%s\\n" "${COMPREPLY[@]}"',
          script,
          ...typed,
        ],
        cwd: folder,
      }).output();
      const lines = new TextDecoder().decode(stdout).split("\n").filter(Boolean);
      assert.deepEqual(lines, offered, typed.join(" "));
    }
  });
});

Deno.test("the manual page and the scripts for zsh and fish name every command", async () => {
  const text = await Deno.readTextFile(REFERENCE);
  const documents = [
    (await output("man")).replaceAll("\\-", "-"),
    await output("completion", "zsh"),
    await output("completion", "fish"),
  ];
  const commands = Array.from(text.matchAll(/^#{4,5} muster (.+)$/gm), ([, words = ""]) => words);
  assert.ok(commands.includes("project member add"));
  for (const words of commands) {
    for (const document of documents) assert.ok(document.includes(words), words);
  }
});
