import assert from "node:assert/strict";
import { join } from "node:path";
import { WAIT_LIMIT } from "./until.ts";

/** A terminal (tmux) in which tests type and read like a person. */
export class Terminal implements AsyncDisposable {
  readonly #socket: string;
  readonly #changes: string;
  /** Locked as long as the terminal's command runs. */
  readonly #lock: string;

  private constructor(folder: string) {
    this.#socket = join(folder, "tmux");
    this.#changes = join(folder, "changes");
    this.#lock = join(folder, "lock");
  }

  /** Runs a shell's command in a new terminal. */
  static async open(folder: string, command: string): Promise<Terminal> {
    const terminal = new Terminal(folder);
    await Deno.writeTextFile(terminal.#changes, "");
    const locked = `exec 9> '${terminal.#lock}'; flock 9; ${command}`;
    await terminal.#tmux("new-session", "-d", "-x", "200", "-y", "50", locked);
    await terminal.#tmux("pipe-pane", `cat >> '${terminal.#changes}'`);
    return terminal;
  }

  /** Types a line and the enter key. */
  async type(line: string): Promise<void> {
    await this.#tmux("send-keys", "-l", line);
    await this.#tmux("send-keys", "Enter");
  }

  /** Types Ctrl-C. */
  async interrupt(): Promise<void> {
    await this.#tmux("send-keys", "C-c");
  }

  /** Waits until the screen shows the text, by watching a file to which each change is written. */
  async expect(text: string): Promise<void> {
    using watcher = Deno.watchFs(this.#changes);
    const timer = setTimeout(() => watcher.close(), WAIT_LIMIT);
    try {
      if ((await this.screen()).includes(text)) return;
      for await (const _ of watcher) {
        if ((await this.screen()).includes(text)) return;
      }
    } finally {
      clearTimeout(timer);
    }
    throw new Error(`"${text}" did not appear; the screen:\n${await this.screen()}`);
  }

  /** The text that the terminal shows. */
  screen(): Promise<string> {
    return this.#tmux("capture-pane", "-p", "-J");
  }

  /** Closes the terminal, and waits for its command, which may still write its files. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#tmux("kill-server");
    const args = ["--timeout", String(WAIT_LIMIT / 1000), this.#lock, "true"];
    await new Deno.Command("flock", { args }).output();
  }

  async #tmux(...args: string[]): Promise<string> {
    const command = new Deno.Command("tmux", { args: ["-S", this.#socket, ...args] });
    const { success, stdout, stderr } = await command.output();
    assert.ok(success, new TextDecoder().decode(stderr));
    return new TextDecoder().decode(stdout);
  }
}
