/** A command that could not do its work; the message is for the person who called it. */
export class CommandFailed extends Error {
  override readonly name = "CommandFailed";
  readonly exitCode: number;

  constructor(message: string, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** Writes a line to standard output. */
export function print(line = ""): void {
  writeLine(Deno.stdout, line);
}

/** Writes a line to standard error. */
export function printError(line: string): void {
  writeLine(Deno.stderr, line);
}

/** Writes bytes to standard output, as they are. */
export function printBytes(bytes: Uint8Array): void {
  write(Deno.stdout, bytes);
}

/** Writes text of others: as it is into a file or a pipe, safe on a terminal. */
export function printText(text: string): void {
  const safe = Deno.stdout.isTerminal() ? text.replace(/[^\t\n]+/g, visible) : text;
  printBytes(new TextEncoder().encode(safe));
}

function writeLine(stream: typeof Deno.stdout, line: string): void {
  write(stream, new TextEncoder().encode(`${line}\n`));
}

function write(stream: typeof Deno.stdout, bytes: Uint8Array): void {
  for (let written = 0; written < bytes.length;) {
    written += stream.writeSync(bytes.subarray(written));
  }
}

/** The columns of a terminal; null where a stream is none. */
export function terminalWidth(stream: typeof Deno.stdout): number | null {
  if (!stream.isTerminal()) return null;
  try {
    return Deno.consoleSize().columns || null;
  } catch {
    return null;
  }
}

/** Marks a text as important on a terminal, unless `NO_COLOR` is set (https://no-color.org). */
export function bold(text: string, stream: typeof Deno.stdout): string {
  const isPlain = !stream.isTerminal() || (Deno.env.get("NO_COLOR") ?? "") !== "";
  return isPlain ? text : `\x1b[1m${text}\x1b[22m`;
}

/** How a person calls this program: the executable by its name, the tree by its task. */
export function commandName(): string {
  return Deno.build.standalone ? "muster" : "npx deno@2.9.6 task start";
}

/** Makes text of others safe for a terminal: control characters become visible. */
export function visible(text: string): string {
  return text.replace(/\p{Cc}/gu, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return code < 0x20 ? String.fromCodePoint(0x2400 + code) : "\u{fffd}";
  });
}

/** Lays rows out in columns that are as wide as their widest cell. */
export function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [header, ...rows.map((row) => row.map(visible))];
  const widths = header.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  return all
    .map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ").trimEnd())
    .join("\n");
}
