import { Conflict, Forbidden, Invalid, NotFound, ServiceError } from "../../kernel/errors.ts";
import { type Account, type AccountDirectory, callerOnIrc } from "../../people/identity/mod.ts";
import { BoundedMap } from "../../kernel/bounded_map.ts";
import type { Log } from "../../kernel/log.ts";
import { announcedIn, announcementOf, endingOf, type Question } from "./question.ts";
import type { Questions } from "./questions.ts";

const ANSWER = /^!answer(?:\s([^]*))?$/i;
/** What follows: the number of a question, and the answer. */
const NUMBERED = /^(\d{1,9})(?:\s([^]+))?$/;
const LIST = /^!questions\s*$/i;
const HELP = /^!?help\b/i;

/** What the bridge says of its commands, in private. */
const COMMANDS = "I take !questions (what waits for you) and !answer NUMBER ANSWER; from admins " +
  "also !halt [@agent or @type …] [reason] and !resume [@agent or @type …]";

/** Announcements to which a reply is an answer: the newest ones since the start. */
const MAX_ANNOUNCED = 2000;

/** Most questions that one command lists. */
const MAX_LISTED = 10;

export interface QuestionCommandsOptions {
  readonly accounts: Pick<AccountDirectory, "find">;
  readonly log: Log;
}

/** A message on IRC that may answer a question. */
export interface SpokenAnswer {
  readonly nick: string;
  /** The proven account of the speaker; null if there is none. */
  readonly account: string | null;
  /** Null for a message to the bridge. */
  readonly channel: string | null;
  readonly text: string;
  /** The id of the message that it replies to, or null. */
  readonly answered: string | null;
}

/** Tells one user something. */
type Reply = (to: Pick<SpokenAnswer, "nick" | "channel">, text: string) => void;

/**
 * Answers on IRC: `!answer 12 yes`, or a reply to the announcement of the question; and
 * `!questions`, and `help` to the bridge. The proven account of the speaker decides; a name in the text never does.
 */
export class QuestionCommands {
  readonly #options: QuestionCommandsOptions;
  /** The numbers of questions by the ids of the messages that announced them. */
  readonly #announced = new BoundedMap<string, number>(MAX_ANNOUNCED);
  #questions: Questions | null = null;
  #reply: Reply = () => {};

  constructor(options: QuestionCommandsOptions) {
    this.#options = options;
  }

  /** Sets the questions, and what answers the speaker. */
  attach(questions: Questions, reply: Reply): void {
    this.#questions = questions;
    this.#reply = reply;
  }

  /** Takes note of a line of the bridge that may announce a question. */
  announced(messageId: string, line: string): void {
    const id = announcedIn(line);
    if (id !== null) this.#announced.set(messageId, id);
  }

  /** Tells a person, at its login, how many questions wait. */
  greet(accountName: string, nick: string): void {
    const account = this.#accountOf(accountName);
    if (account === null || account.kind === "agent") return;
    const count = this.#waitingFor(account).length;
    if (count === 0) return;
    const what = count === 1 ? "1 question waits" : `${count} questions wait`;
    this.#reply({ nick, channel: null }, `${what} for you: say !questions`);
  }

  /** Whether a message in a channel is a command, or replies to the announcement of a question. */
  isCommand({ text, answered }: Pick<SpokenAnswer, "text" | "answered">): boolean {
    const said = text.trim();
    return LIST.test(said) || ANSWER.test(said) ||
      this.#announced.peek(answered ?? "") !== undefined;
  }

  /** Handles a message; ignores what answers nothing. */
  take(message: SpokenAnswer): void {
    const questions = this.#questions;
    const { text, answered, channel } = message;
    if (channel === null && HELP.test(text.trim())) return this.#reply(message, COMMANDS);
    if (questions === null || (!text.startsWith("!") && answered === null)) return;
    void this.#take(questions, message).catch((error: unknown) => {
      this.#options.log.error("An answer from IRC failed on a bug", { error });
    });
  }

  async #take(questions: Questions, message: SpokenAnswer): Promise<void> {
    const text = message.text.trim();
    if (LIST.test(text)) return this.#list(message);
    const command = ANSWER.exec(text);
    if (command === null) {
      const id = this.#announced.peek(message.answered ?? "");
      if (id !== undefined) await this.#answer(questions, message, { id, text, isReply: true });
      return;
    }
    const [, id, answer] = NUMBERED.exec(command[1]?.trim() ?? "") ?? [];
    if (id === undefined || answer === undefined) {
      return this.#reply(message, "Usage: !answer NUMBER ANSWER");
    }
    await this.#answer(questions, message, { id: Number(id), text: answer, isReply: false });
  }

  async #answer(
    questions: Questions,
    message: SpokenAnswer,
    { id, text, isReply }: {
      readonly id: number;
      readonly text: string;
      readonly isReply: boolean;
    },
  ): Promise<void> {
    const account = this.#accountOf(message.account);
    if (account === null) {
      if (!isReply) this.#reply(message, "Log in to your account first");
      return;
    }
    const caller = callerOnIrc(account);
    try {
      const question = await questions.get(id, caller.principal);
      const chosen = byNumber(question, text.trim());
      const { answerSchema } = await import("./schemas.ts");
      const { data, error } = answerSchema.safeParse({ answer: chosen });
      if (data === undefined) {
        throw new Invalid(`The answer ${error.issues[0]?.message ?? "is not valid"}`);
      }
      const ended = await questions.answer(id, data.answer, caller, "irc");
      this.#reply(message, endingOf(ended));
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      // Others may talk about a question in replies.
      const isTalk = isReply && (error instanceof NotFound || error instanceof Forbidden);
      if (!isTalk) this.#reply(message, wordsOf(error));
    }
  }

  #list(message: SpokenAnswer): void {
    const account = this.#accountOf(message.account);
    if (account === null) return this.#reply(message, "Log in to your account first");
    const waiting = this.#waitingFor(account);
    if (waiting.length === 0) return this.#reply(message, "No question waits for you");
    for (const question of waiting.slice(0, MAX_LISTED)) {
      this.#reply({ nick: message.nick, channel: message.channel }, announcementOf(question));
    }
    const left = waiting.length - MAX_LISTED;
    if (left > 0) this.#reply(message, `… and ${left} more, on the web pages`);
  }

  /** The open questions that an account may answer, oldest first. */
  #waitingFor(account: Account): readonly Question[] {
    const { principal } = callerOnIrc(account);
    const open = this.#questions?.open(principal) ?? [];
    return open.filter((question) => this.#questions?.isFor(question, principal));
  }

  #accountOf(name: string | null): Account | null {
    const account = name === null ? null : this.#options.accounts.find(name);
    return account === null || account.revokedAt !== null ? null : account;
  }
}

/** On IRC, the number of a choice stands for it, unless a choice is a number. */
function byNumber({ choices }: Question, text: string): string {
  if (!/^\d{1,2}$/.test(text) || choices.includes(text)) return text;
  return choices[Number(text) - 1] ?? text;
}

function wordsOf(error: ServiceError): string {
  if (error instanceof Conflict) return error.message;
  return error.message.replace(/^"answer" must/, "The answer must");
}
