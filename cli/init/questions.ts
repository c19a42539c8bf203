import { isIP } from "node:net";
import type { z } from "zod";
import { isCommonName, reservedNames } from "../../services/people/identity/mod.ts";
import { accountNameSchema } from "../../services/people/identity/schemas.ts";
import { foldCase } from "../../services/engines/irc/mod.ts";
import { slugSchema } from "../../services/work/projects/schemas.ts";
import { CommandFailed, printError } from "../output.ts";

/** Exit code for a wrong answer that cannot be corrected. */
export const WRONG_USAGE = 2;

/** Longest line of an answer, in bytes. */
const MAX_LINE = 4096;

/** What stands for no certificate, project or agent. */
export const NONE = "none";

/** A question with its default. */
export interface Question {
  readonly text: string;
  readonly preset: string;
  /** What an answer must be, in words that follow "must", if it is wrong; else null. */
  fault(answer: string): string | null;
}

/** The questions, by the names of the options that answer them. */
export const ANSWERS = {
  listen: {
    text: "Address to listen on? 127.0.0.1 is this machine only, 0.0.0.0 is every interface",
    preset: "127.0.0.1",
    fault: (text) => isIP(text) > 0 ? null : "be an IP address, such as 127.0.0.1 or 0.0.0.0",
  },
  tlsCert: {
    text: 'Certificate for TLS, a PEM file? "none" leaves TLS to a proxy, or does without',
    preset: NONE,
    fault: (text) => text === NONE || isFile(text) ? null : 'be a readable file, or "none"',
  },
  tlsKey: {
    text: "Its key, a PEM file?",
    preset: "key.pem",
    fault: (text) => isFile(text) ? null : "be a readable file",
  },
  admin: {
    text: "Name of the first admin, for the web pages?",
    preset: "admin",
    fault: faultOfName,
  },
  project: {
    text: 'Slug of the first project, such as "demo"? "none" makes none',
    preset: NONE,
    fault: (text) => faultOf(slugSchema, text),
  },
  agent: {
    text: 'Nick of the first agent, such as "scout"? "none" registers none',
    preset: NONE,
    fault: faultOfName,
  },
} satisfies Record<string, Question>;

/** The bridge's nick in a configuration that "muster init" writes. */
const BRIDGE = "bridge";

function faultOfName(text: string): string | null {
  const fault = faultOf(accountNameSchema, text);
  if (fault !== null) return fault;
  const isReserved = isCommonName(text) || reservedNames(BRIDGE, false).has(foldCase(text));
  return isReserved ? "be another name: muster has reserved it" : null;
}

/** The question for the agent's nick; agents and admins share one namespace. */
export function agentBeside(admin: string): Question {
  const { fault, text, preset } = ANSWERS.agent;
  const isSame = (nick: string) => nick !== NONE && foldCase(nick) === foldCase(admin);
  return {
    text,
    preset,
    fault: (nick) => fault(nick) ?? (isSame(nick) ? "be another name than the admin's" : null),
  };
}

function faultOf(schema: z.ZodString, text: string): string | null {
  const [issue] = schema.safeParse(text).error?.issues ?? [];
  return issue === undefined ? null : issue.message.replace(/^must /, "");
}

/** Asks questions on standard error, and reads the answers from standard input. */
export class Interview {
  readonly #isTerminal = Deno.stdin.isTerminal();
  #isOver: boolean;

  /** @param asks false takes the default of each question */
  constructor(asks: boolean) {
    this.#isOver = !asks;
  }

  /** Whether a person at a terminal answers. */
  get isPersonal(): boolean {
    return this.#isTerminal && !this.#isOver;
  }

  /**
   * Asks a question, again after a wrong answer of a person.
   *
   * @param given the answer of the command line, if any
   * @throws CommandFailed after a wrong answer of another program
   */
  ask({ text, preset, fault }: Question, given?: string): string {
    if (given !== undefined) return given;
    while (!this.#isOver) {
      Deno.stderr.writeSync(new TextEncoder().encode(`${text} [${preset}] `));
      const line = readLine();
      if (!this.#isTerminal) printError(line ?? "");
      if (line === null) this.#isOver = true;
      const answer = line?.trim() ?? "";
      if (answer === "") return preset;
      const wrong = fault(answer);
      if (wrong === null) return answer;
      const message = `The answer "${answer}" must ${wrong}`;
      if (!this.#isTerminal) throw new CommandFailed(message, WRONG_USAGE);
      printError(message);
    }
    return preset;
  }
}

/** Reads a line from standard input; null at its end. */
function readLine(): string | null {
  const byte = new Uint8Array(1);
  const bytes: number[] = [];
  while (bytes.length < MAX_LINE) {
    if (Deno.stdin.readSync(byte) !== 1) return bytes.length === 0 ? null : textOf(bytes);
    const [code = 0] = byte;
    if (code === 0x0a) return textOf(bytes);
    bytes.push(code);
  }
  throw new CommandFailed(`An answer has at most ${MAX_LINE} bytes`, WRONG_USAGE);
}

function textOf(bytes: readonly number[]): string {
  return new TextDecoder().decode(new Uint8Array(bytes));
}

function isFile(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}
