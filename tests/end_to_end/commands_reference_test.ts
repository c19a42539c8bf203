import assert from "node:assert/strict";
import { join } from "node:path";
import { peer } from "../support/peers.ts";
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

/** The documents that are generated, by their paths. */
const GENERATED = {
  commands: "docs/commands.md",
  configuration: "docs/configuration.md",
  "config.example.yaml": "config.example.yaml",
};

Deno.test("every generated document is what muster reference prints", async () => {
  for (const [document, path] of Object.entries(GENERATED)) {
    const text = await Deno.readTextFile(new URL(`../../${path}`, import.meta.url));
    const isCurrent = text === await output("reference", document);
    assert.ok(isCurrent, `${path} is out of date: run "deno task reference"`);
  }
});

Deno.test("a command prints its help", async () => {
  assert.match(
    await output("project", "member", "add", "--help"),
    /^Usage: muster project member add/m,
  );
});

/** Words of a command line up to the cursor, and what a shell offers there, in alphabetical order. */
const OFFERS: readonly (readonly [typed: string, offered: readonly string[]])[] = [
  ["tai", ["tail"]],
  ["agent re", ["remove", "resume", "revoke"]],
  ["--data-dir agent token r", ["remove", "rotate"]],
  ["agent add scout --ty", ["--type"]],
  ["project member ", ["add", "list", "remove"]],
  ["agent add scout --type ", ["observer", "operator", "orchestrator", "worker"]],
  ["agent add scout --channels ", []],
  ["fossil cat some", ["some.fossil"]],
  ["completion ", ["bash", "fish", "zsh"]],
];

/** What a shell offers, which `ask` finds out for each line. */
async function checkOffers(
  shell: string,
  ask: (script: string, typed: string, folder: string) => Promise<string[]>,
): Promise<void> {
  await withFolder(async (folder) => {
    const script = join(folder, "completion");
    await Deno.writeTextFile(script, await output("completion", shell));
    await Deno.writeTextFile(join(folder, "some.fossil"), "");
    for (const [typed, offered] of OFFERS) {
      const found = await ask(script, typed, folder);
      assert.deepEqual(found.toSorted(), offered, `${shell}: ${typed}`);
    }
  });
}

/** Runs a shell in a folder; gives the lines of its output. */
async function linesOf(shell: string, args: string[], folder: string): Promise<string[]> {
  const { stdout } = await new Deno.Command(shell, {
    args,
    cwd: folder,
    env: { HOME: folder, TERM: "dumb" },
    stdin: "null",
  }).output();
  return new TextDecoder().decode(stdout).split(/\r?\n/).filter(Boolean);
}

Deno.test("completion works in bash", async () => {
  await checkOffers("bash", (script, typed, folder) => {
    const code = 'source "$0"; COMP_WORDS=(muster "$@"); COMP_CWORD=$#; _muster; ' +
      'printf "%s\\n" "${COMPREPLY[@]}"';
    return linesOf("bash", ["-c", code, script, ...typed.split(" ")], folder);
  });
});

Deno.test("completion works in fish", peer("fish"), async () => {
  await checkOffers("fish", async (script, typed, folder) => {
    const code = `source ${script}; complete -C "muster ${typed}"`;
    const lines = await linesOf("fish", ["--no-config", "-c", code], folder);
    return lines.map((line) => line.split("\t", 1)[0] ?? "");
  });
});

/**
 * The start of a shell that completes `$TYPED` in its first prompt, writes what it offers, and ends
 * itself. It waits for nothing that somebody types, and ends after a minute without a prompt.
 */
const ZSHRC = String.raw`
TMOUT=60
autoload -Uz compinit
compinit -u -d $HOME/dump
source $HOME/completion
zstyle ':completion:*' verbose no
compadd() {
  local -a found
  builtin compadd -O found "$@"
  (($#found)) && print -rl -- $found >>$HOME/offers
  builtin compadd "$@"
}
zle-line-init() {
  BUFFER="muster $TYPED"
  CURSOR=$#BUFFER
  zle complete-word
  kill -KILL $$
}
zle -N zle-line-init
`;

/** Runs that shell in a terminal of its own, and reads what it shows until it ends. */
const ASK_ZSH = String.raw`
zmodload zsh/zpty
zpty asked "TYPED=${"${(q)1}"} ZDOTDIR=$HOME exec zsh -d -i"
while zpty -r asked shown; do :; done
`;

Deno.test("completion works in zsh", peer("zsh"), async () => {
  await checkOffers("zsh", async (_script, typed, folder) => {
    const offers = join(folder, "offers");
    await Deno.writeTextFile(offers, "");
    await Deno.writeTextFile(join(folder, ".zshrc"), ZSHRC);
    await linesOf("zsh", ["-f", "-c", ASK_ZSH, "zsh", typed], folder);
    return [...new Set((await Deno.readTextFile(offers)).split("\n").filter(Boolean))];
  });
});

Deno.test("man and mandoc have nothing against the manual page", {
  ignore: peer("man").ignore || peer("mandoc").ignore,
}, async () => {
  await withFolder(async (folder) => {
    const page = join(folder, "muster.1");
    await Deno.writeTextFile(page, await output("man"));
    const decoder = new TextDecoder();
    const shown = await new Deno.Command("man", {
      args: ["--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", page],
      env: { LC_ALL: "C.UTF-8", MAN_KEEP_STDERR: "1" },
    }).output();
    assert.equal(decoder.decode(shown.stderr), "");
    const linted = await new Deno.Command("mandoc", { args: ["-Tlint", "-Wwarning", page] })
      .output();
    const warnings = decoder.decode(linted.stdout).split("\n").filter(Boolean);
    // A date would make each build another one.
    assert.deepEqual(warnings.filter((line) => !line.includes("missing date")), []);
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
