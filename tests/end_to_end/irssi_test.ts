import assert from "node:assert/strict";
import { join } from "node:path";
import { call, ChannelStream } from "../support/api.ts";
import { peer } from "../support/peers.ts";
import { type Program, runMuster, startProgram } from "../support/program.ts";

/** How long a text may be waited for, in milliseconds; a bound, not an expectation. */
const TEXT_LIMIT = 20_000;

/** irssi in a terminal of its own, typed into and read like a person would. */
class Terminal implements AsyncDisposable {
  readonly #socket: string;
  readonly #changes: string;

  private constructor(folder: string) {
    this.#socket = join(folder, "tmux");
    this.#changes = join(folder, "changes");
  }

  static async open(folder: string, command: string): Promise<Terminal> {
    const terminal = new Terminal(folder);
    await Deno.writeTextFile(terminal.#changes, "");
    await terminal.#tmux("new-session", "-d", "-x", "200", "-y", "50", command);
    await terminal.#tmux("pipe-pane", `cat >> '${terminal.#changes}'`);
    return terminal;
  }

  async type(line: string): Promise<void> {
    await this.#tmux("send-keys", "-l", line);
    await this.#tmux("send-keys", "Enter");
  }

  /** Waits until the screen shows the text; each change of it is written to a file, and watched. */
  async expect(text: string): Promise<void> {
    using watcher = Deno.watchFs(this.#changes);
    const timer = setTimeout(() => watcher.close(), TEXT_LIMIT);
    try {
      if ((await this.#screen()).includes(text)) return;
      for await (const _ of watcher) {
        if ((await this.#screen()).includes(text)) return;
      }
    } finally {
      clearTimeout(timer);
    }
    throw new Error(`"${text}" did not appear; the screen:\n${await this.#screen()}`);
  }

  #screen(): Promise<string> {
    return this.#tmux("capture-pane", "-p", "-J");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#tmux("kill-server");
  }

  async #tmux(...args: string[]): Promise<string> {
    const command = new Deno.Command("tmux", { args: ["-S", this.#socket, ...args] });
    const { success, stdout, stderr } = await command.output();
    assert.ok(success, new TextDecoder().decode(stderr));
    return new TextDecoder().decode(stdout);
  }
}

async function loginLines(program: Program): Promise<string[]> {
  const { code, stdout, stderr } = await runMuster(
    ["agent", "register", "ann", "--channels", "general", "--client", "irssi"],
    { folder: program.folder, environment: { MUSTER_URL: program.api } },
  );
  assert.equal(code, 0, stderr);
  return stdout.split("\n").filter((line) => line.startsWith("  /")).map((line) => line.trim());
}

Deno.test({
  name: "irssi logs in with the lines that muster prints, joins and talks",
  ignore: peer("irssi").ignore || peer("tmux").ignore,
  fn: async () => {
    await using program = await startProgram();
    const lines = await loginLines(program);
    await using stream = await ChannelStream.open(program, "general");
    const home = join(program.folder, "irssi");
    await using terminal = await Terminal.open(program.folder, `irssi --home='${home}'`);
    await terminal.expect("Irssi");
    for (const line of lines) await terminal.type(line);
    await terminal.expect("SASL authentication succeeded");
    await terminal.expect("[Act: 2]");
    await terminal.type("/window 2");
    await terminal.expect("2:muster/#general(+nt)");
    await terminal.type("hello from irssi");
    assert.deepEqual(pick(await stream.next()), { nick: "ann", text: "hello from irssi" });
    const posted = await call(program, "POST", "/v1/channels/general/messages", {
      nick: "scout",
      text: "hello irssi",
    });
    assert.equal(posted.status, 204);
    await terminal.expect("[scout] hello irssi");
  },
});

function pick(message: { nick: string; text: string } | null) {
  return message && { nick: message.nick, text: message.text };
}
