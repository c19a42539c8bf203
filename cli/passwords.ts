import { CommandFailed } from "./output.ts";

/** Longest password, in bytes. */
const MAX_PASSWORD = 1024;

/** Exit code after Ctrl-C. */
const INTERRUPTED = 130;

/** Keys as a terminal in raw mode sends them. */
const KEY = {
  interrupt: 0x03,
  endOfInput: 0x04,
  backspace: 0x08,
  lineFeed: 0x0a,
  carriageReturn: 0x0d,
  eraseLine: 0x15,
  escape: 0x1b,
  space: 0x20,
  delete: 0x7f,
} as const;

/** The options of a command that takes a password. */
export interface PasswordOptions {
  readonly passwordStdin?: boolean;
}

/** A password for an account, and whether muster made it and so must show it. */
export interface ChosenPassword {
  readonly password: string;
  readonly random: boolean;
}

/**
 * Chooses the password of an account: from standard input if the command line says so, otherwise
 * from a prompt on a terminal, otherwise a random one.
 *
 * @throws CommandFailed if standard input has none, or the two typed ones differ
 */
export async function choosePassword(fromInput: boolean): Promise<ChosenPassword> {
  if (fromInput) return { password: await readPassword(), random: false };
  if (!Deno.stdin.isTerminal()) return { password: randomPassword(), random: true };
  const password = askHidden("Password (empty for a random one): ");
  if (password === "") return { password: randomPassword(), random: true };
  if (askHidden("Repeat the password: ") !== password) {
    throw new CommandFailed("The two passwords differ", 2);
  }
  return { password, random: false };
}

/** Reads a password from standard input, up to its first line break. */
export async function readPassword(): Promise<string> {
  const buffer = new Uint8Array(MAX_PASSWORD + 1);
  let length = 0;
  while (length < buffer.length && !buffer.subarray(0, length).includes(0x0a)) {
    const count = await Deno.stdin.read(buffer.subarray(length));
    if (count === null) break;
    length += count;
  }
  const [password = ""] = new TextDecoder().decode(buffer.subarray(0, length)).split(/\r?\n/);
  if (password === "") throw new CommandFailed("There is no password on standard input", 2);
  if (length > MAX_PASSWORD) throw tooLong();
  return password;
}

/**
 * Asks for a line on the terminal without echoing it. The prompt goes to standard error, because
 * standard output is for results.
 */
function askHidden(question: string): string {
  Deno.stdin.setRaw(true);
  try {
    // Only now, so that an immediate answer is not echoed either.
    writeError(question);
    return readHidden();
  } finally {
    Deno.stdin.setRaw(false);
    writeError("\n");
  }
}

function readHidden(): string {
  const key = new Uint8Array(1);
  const typed: number[] = [];
  while (Deno.stdin.readSync(key) === 1) {
    const [code = 0] = key;
    if (code === KEY.interrupt) throw new CommandFailed("Interrupted", INTERRUPTED);
    if (code === KEY.carriageReturn || code === KEY.lineFeed || code === KEY.endOfInput) break;
    if (code === KEY.eraseLine) typed.length = 0;
    else if (code === KEY.delete || code === KEY.backspace) eraseCharacter(typed);
    else if (code === KEY.escape) {
      throw new CommandFailed("Type the password without escape or control keys", 2);
    } else if (code >= KEY.space) typed.push(code);
    if (typed.length > MAX_PASSWORD) throw tooLong();
  }
  return new TextDecoder().decode(new Uint8Array(typed));
}

/** Removes the last character: its bytes of the form 10xxxxxx, and the one before them. */
function eraseCharacter(bytes: number[]): void {
  while (((bytes.pop() ?? 0) & 0xc0) === 0x80);
}

function tooLong(): CommandFailed {
  return new CommandFailed(`A password has at most ${MAX_PASSWORD} bytes`, 2);
}

function writeError(text: string): void {
  Deno.stderr.writeSync(new TextEncoder().encode(text));
}

/** 160 random bits as letters and digits, which need no quoting in any client. */
export function randomPassword(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(20));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
