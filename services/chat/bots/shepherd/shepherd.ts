import { amount } from "../../../kernel/words.ts";
import { parseEnvelope } from "../../bridge/mod.ts";
import { Forbidden, Invalid, NotFound, ServiceError } from "../../../kernel/errors.ts";
import { PURPOSES } from "../../policies/mod.ts";
import {
  type BotCommandCall,
  type BotContext,
  type BotMessage,
  defineBot,
  type Speaker,
} from "../bot.ts";
import { NO_CHANNEL } from "../readable.ts";
import {
  type Assignment,
  type Goal,
  isAssignment,
  isSame,
  PLAN_INSTRUCTIONS,
  PLAN_SCHEMA,
  PlanBook,
  type PlanItem,
  planSchema,
  type ProjectWork,
  propose,
  quoteSituation,
  readPlan,
  type Situation,
} from "./plan_book.ts";

/** How often overdue tasks are looked for, in milliseconds. */
const LOOK_MS = 10_000;

/** Projects that the settings may name. */
const MAX_PROJECTS = 5;

/** Tokens of a model's answer. */
const MAX_TOKENS = 800;

const KEY = "plan";

/** Types of envelopes that say how a task is, and those among them that end it. */
const UPDATES = /^task\.(?:update|progress|status|accept|accepted|started?|blocked)$/;
const ENDS = /^task\.(?:done|complete|completed|finished)$/;

/** What the shepherd needs beside what every bot gets. */
export interface ShepherdParts {
  /** The work in a project; null if there is no such project. */
  work(project: string): Promise<ProjectWork | null>;
  /** Whether the project may be shown to a speaker. */
  mayRead(project: string, speaker: Speaker): boolean;
  /** The nicks of the agents in a channel, sorted. */
  agentsIn(channel: string): Promise<readonly string[]>;
}

type Settings = ReturnType<BotContext<"shepherd">["settings"]>;

/** Keeps goals and tasks, asks how each task goes, and proposes the next ones. */
class Shepherd {
  readonly #context: BotContext<"shepherd">;
  readonly #parts: ShepherdParts;
  readonly #book: PlanBook;

  private constructor(context: BotContext<"shepherd">, parts: ShepherdParts, book: PlanBook) {
    this.#context = context;
    this.#parts = parts;
    this.#book = book;
  }

  static async start(context: BotContext<"shepherd">, parts: ShepherdParts): Promise<Shepherd> {
    const book = new PlanBook(await context.state.read(KEY, () => planSchema));
    const shepherd = new Shepherd(context, parts, book);
    await shepherd.settingsChanged();
    shepherd.#scheduleLook();
    return shepherd;
  }

  async settingsChanged(): Promise<void> {
    const { channels, report_channel: place } = this.#context.settings();
    for (const channel of [...channels, place]) {
      if (channel !== "") await this.#context.enter(channel);
    }
  }

  /** An envelope of a task's owner says how it is. */
  async message({ text, speaker }: BotMessage): Promise<void> {
    const { account, kind } = speaker;
    if (account === null || kind === null || !text.startsWith("{")) return;
    const type = parseEnvelope(text)?.type ?? "";
    if (!UPDATES.test(type) && !ENDS.test(type)) return;
    const heard = this.#book.hear(account, type, this.#context.now());
    if (heard.length === 0) return;
    const [only] = heard;
    if (ENDS.test(type) && heard.length === 1 && only !== undefined) this.#finish(only, speaker);
    await this.#keep();
  }

  async setGoal(call: BotCommandCall): Promise<string> {
    const { speaker, subject } = call;
    const channel = this.#channelOf(subject);
    const text = textWithout(call.text, subject);
    if (text === "") throw new Invalid("Say GOAL text [#channel]");
    const goal = this.#book.addGoal({
      text,
      channel,
      by: nameOf(speaker),
      time: this.#context.now(),
    });
    await this.#keep();
    const { number } = goal;
    this.#context.record("bot.goal_set", { bot: "shepherd", number, channel }, speaker);
    return `Goal ${number} for ${channel}: ${goal.text}`;
  }

  async goals({ speaker, subject }: BotCommandCall): Promise<string[]> {
    const scope = this.#scopeOf(subject);
    const goals = this.#book.goals(scope).filter((goal) => this.#maySee(goal, speaker));
    const work = await this.#work(speaker);
    const lines = [
      ...shown(goals, (goal) => `Goal ${goal.number}: ${goal.text} (${goal.channel})`),
      ...work.flatMap(linesOfWork),
    ];
    return lines.length === 0 ? ["There are no goals"] : lines;
  }

  async done({ speaker, words: [number = ""] }: BotCommandCall): Promise<string> {
    const found = this.#book.find(number);
    const isOwner = isAssignment(found) && speaker.account !== null &&
      isSame(found.account, speaker.account);
    if (!isOwner && !this.#isLeader(speaker, found.channel)) {
      throw new Forbidden(
        `Only operators of ${found.channel}, and the owner of a task, may end it`,
      );
    }
    this.#finish(found, speaker);
    await this.#keep();
    return `${isAssignment(found) ? "Task" : "Goal"} ${found.number} is done`;
  }

  async assign(call: BotCommandCall): Promise<string> {
    const { speaker, subject, words: [nick = ""] } = call;
    const channel = this.#channelOf(subject);
    const task = textWithout(call.text.slice(nick.length), subject);
    if (task === "") throw new Invalid("Say ASSIGN nick task [#channel]");
    const { account, id } = this.#context.speakerOf(nick, nick);
    if (account === null || id === null) throw new NotFound(`There is no account ${nick}`);
    const by = nameOf(speaker);
    const given = this.#book.assign({ account, task, channel, by, time: this.#context.now() });
    await this.#keep();
    const { number } = given;
    this.#context.record(
      "bot.task_assigned",
      { bot: "shepherd", number, account, channel },
      speaker,
    );
    const line = `${account}: ${by} gives you task ${number}: ${given.task}`;
    this.#context.say(channel, `${line} – "!shepherd CHECKIN ${number} how it is" tells me`, {
      mentions: true,
    });
    return `Task ${number} is ${account}'s`;
  }

  async checkIn(call: BotCommandCall): Promise<string> {
    const { speaker: { account }, words: [first = ""] } = call;
    const number = /^#?\d{1,9}$/.test(first) ? Number(first.replace("#", "")) : null;
    const note = number === null ? call.text : call.text.slice(first.length).trim();
    const heard = this.#book.hear(account ?? "", note, this.#context.now(), number);
    if (heard.length === 0) throw new NotFound("You have no such task");
    await this.#keep();
    return `Noted for ${heard.map((one) => `task ${one.number}`).join(", ")}`;
  }

  async status({ speaker, subject }: BotCommandCall): Promise<string[]> {
    const scope = this.#scopeOf(subject);
    const tasks = this.#book.assignments(scope).filter((one) => this.#maySee(one, speaker));
    const goals = this.#book.goals(scope).filter((goal) => this.#maySee(goal, speaker));
    const work = await this.#work(speaker);
    const now = this.#context.now();
    const claims = work.flatMap(({ project, claims }) =>
      shown(claims, ({ id, title, agent, expiresAt }) => {
        const minutes = Math.max(0, Math.round((expiresAt - now) / 60_000));
        return `${agent} works on ticket ${id} of ${project}: ${title} (${
          amount(minutes, "minute")
        } left)`;
      })
    );
    return [
      [
        amount(goals.length, "goal"),
        amount(tasks.length, "task"),
        amount(work.flatMap((one) => one.claims).length, "claim"),
      ].join(", "),
      ...shown(tasks, (one) => taskLine(one, now)),
      ...claims,
    ];
  }

  async plan({ speaker, subject, channel }: BotCommandCall): Promise<string[]> {
    const scope = this.#scopeOf(subject);
    const place = subject ?? channel;
    const situation: Situation = {
      goals: this.#book.goals(scope).filter((goal) => this.#maySee(goal, speaker)),
      assignments: this.#book.assignments(scope).filter((one) => this.#maySee(one, speaker)),
      work: await this.#work(speaker),
      agents: place === null ? [] : await this.#parts.agentsIn(place),
    };
    const items = await this.#askPlan(situation) ?? propose(situation);
    if (items.length === 0) return ["There is nothing to plan: set a goal"];
    return items.map(({ task, nick }) => `${nick ?? "nobody yet"}: ${task}`);
  }

  /** The model's plan; null without one. It is a proposal, and assigns nothing. */
  async #askPlan(situation: Situation): Promise<PlanItem[] | null> {
    const { backend, model } = this.#context.settings();
    if ((backend ?? "") === "") return null;
    try {
      const answer = await this.#context.ask({
        backend,
        model,
        instructions: PLAN_INSTRUCTIONS,
        quoted: quoteSituation(situation),
        maxTokens: MAX_TOKENS,
        schema: PLAN_SCHEMA,
      });
      return readPlan(answer ?? "", situation.agents);
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      this.#context.log.warn("The shepherd's model did not answer", { error: error.message });
      return null;
    }
  }

  #scheduleLook(): void {
    this.#context.after(LOOK_MS, () => {
      this.#scheduleLook();
      return this.#look();
    });
  }

  /** Asks about tasks of which nobody has heard, and tells people whose owners stay silent. */
  async #look(): Promise<void> {
    const { checkin_interval_sec: interval, report_channel: place } = this.#context.settings();
    const { ask, report } = this.#book.overdue(interval * 1000, this.#context.now());
    for (const { account, number, task, channel } of ask) {
      const line =
        `${account}: how is task ${number} (${task})? "!shepherd CHECKIN ${number} …" tells me`;
      this.#context.say(channel, line, { mentions: true });
    }
    for (const { account, number, task } of report) {
      const line = `${account} does not say how task ${number} is: ${task}`;
      if (place !== "") this.#context.say(place, line);
    }
    if (ask.length + report.length > 0) await this.#keep();
  }

  #finish(found: Goal | Assignment, speaker: Speaker): void {
    this.#book.finish(found);
    const { number, channel } = found;
    const kind = isAssignment(found) ? "task" : "goal";
    this.#context.record("bot.goal_done", { bot: "shepherd", kind, number, channel }, speaker);
    const { report_channel: place } = this.#context.settings();
    const text = isAssignment(found) ? found.task : found.text;
    if (place === "") return;
    this.#context.say(place, `${nameOf(speaker)} ended ${kind} ${number}: ${text}`);
  }

  /** The channel that a goal or a task is for. */
  #channelOf(subject: string | null): string {
    const { channels, report_channel: place } = this.#context.settings();
    const channel = subject ?? channels[0] ?? place;
    if (channel === "") throw new Invalid(NO_CHANNEL);
    if (channels.length === 0 || [...channels, place].some((one) => isSame(one, channel))) {
      return channel;
    }
    throw new Invalid(`My policy names other channels: ${channels.join(", ")}`);
  }

  /** The channel that a question is about; in the channel for reports, everything. */
  #scopeOf(subject: string | null): string | null {
    const { report_channel: place } = this.#context.settings();
    return subject === null || isSame(subject, place) ? null : subject;
  }

  #maySee({ channel }: Goal | Assignment, speaker: Speaker): boolean {
    return this.#context.mayRead(speaker, channel);
  }

  #isLeader(speaker: Speaker, channel: string): boolean {
    return speaker.kind === "admin" || this.#context.isChannelOperator(speaker.nick, channel);
  }

  /** The work in the projects of the settings that the speaker may read. */
  async #work(speaker: Speaker): Promise<ProjectWork[]> {
    const work: ProjectWork[] = [];
    for (const project of projectsIn(this.#context.settings())) {
      if (!this.#parts.mayRead(project, speaker)) continue;
      const found = await this.#parts.work(project);
      if (found !== null) work.push(found);
    }
    return work;
  }

  async #keep(): Promise<void> {
    await this.#context.state.write(KEY, this.#book.state);
  }
}

function projectsIn({ goals_source: source = "" }: Settings): string[] {
  return source.split(/[\s,]+/).filter((slug) => slug !== "").slice(0, MAX_PROJECTS);
}

function nameOf({ account, nick }: Speaker): string {
  return account ?? nick;
}

/** The bot that keeps goals and tasks. */
export function shepherd(parts: ShepherdParts) {
  return defineBot<"shepherd", Shepherd>({
    name: "shepherd",
    purpose: PURPOSES.shepherd,
    commands: [
      {
        name: "GOAL",
        usage: "text [#channel]",
        purpose: "sets a goal for a channel",
        may: "channelOperator",
        words: 1,
        run: (bot, call) => bot.setGoal(call),
      },
      {
        name: "GOALS",
        usage: "[#channel]",
        purpose: "the open goals, and the open tickets of the projects in the policy",
        may: "account",
        isPrivate: true,
        lines: 60,
        run: (bot, call) => bot.goals(call),
      },
      {
        name: "DONE",
        usage: "number",
        purpose: "ends a goal or a task",
        may: "account",
        words: 1,
        run: (bot, call) => bot.done(call),
      },
      {
        name: "ASSIGN",
        usage: "nick task [#channel]",
        purpose: "gives somebody a task",
        may: "channelOperator",
        words: 2,
        run: (bot, call) => bot.assign(call),
      },
      {
        name: "CHECKIN",
        usage: "[number] text",
        purpose: "says how your tasks are going",
        may: "account",
        words: 1,
        run: (bot, call) => bot.checkIn(call),
      },
      {
        name: "STATUS",
        usage: "[#channel]",
        purpose: "who works on what, and when they were last heard of",
        may: "account",
        isPrivate: true,
        lines: 60,
        run: (bot, call) => bot.status(call),
      },
      {
        name: "PLAN",
        usage: "[#channel]",
        purpose: "proposes what to do next, and assigns nothing",
        may: "account",
        isPrivate: true,
        run: (bot, call) => bot.plan(call),
      },
    ],
    start: (context) => Shepherd.start(context, parts),
  });
}

/** Lines of each kind in an answer. */
const SHOWN = 10;

/** The open tickets of a project. */
function linesOfWork({ project, unclaimed, unclaimedTotal, claims }: ProjectWork): string[] {
  const open = unclaimed.slice(0, SHOWN).map(({ id, title }) =>
    `Ticket ${id} of ${project}: ${title} (unclaimed)`
  );
  const more = unclaimedTotal - open.length;
  return [
    ...open,
    ...more > 0 ? [`… and ${amount(more, "more unclaimed ticket")} of ${project}`] : [],
    ...shown(claims, ({ id, title, agent }) => `Ticket ${id} of ${project}: ${title} (${agent})`),
  ];
}

/** A task, and when its owner last said how it is. */
function taskLine(
  { number, account, task, heardAt, note }: Assignment,
  now: number,
): string {
  const minutes = Math.round((now - heardAt) / 60_000);
  const when = minutes === 0 ? "just now" : `${amount(minutes, "minute")} ago`;
  const said = note === "" ? "" : `, last: ${note}`;
  return `Task ${number}: ${account} – ${task} (heard of ${when}${said})`;
}

/** The lines of the first few, and how many more there are. */
function shown<One>(all: readonly One[], line: (one: One) => string): string[] {
  const more = all.length - SHOWN;
  return [...all.slice(0, SHOWN).map(line), ...more > 0 ? [`… and ${more} more`] : []];
}

/** The text without the name of the channel that it is about. */
function textWithout(text: string, channel: string | null): string {
  if (channel === null) return text.trim();
  const words = text.trim().split(/\s+/);
  const index = [0, words.length - 1].find((at) => isSame(words[at] ?? "", channel));
  return (index === undefined ? words : words.toSpliced(index, 1)).join(" ");
}
