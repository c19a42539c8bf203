import { z } from "zod";
import { Conflict, Invalid, NotFound } from "../../../kernel/errors.ts";
import { foldCase } from "../../../engines/irc/mod.ts";
import { withoutFence } from "../model_answer.ts";

/** Most goals and assignments that are kept; ended ones give way first. */
const MAX_GOALS = 200;
const MAX_ASSIGNMENTS = 300;

/** Characters of a goal, a task or a note. */
const MAX_TEXT = 300;

/** How often somebody is asked about an assignment before people hear of the silence. */
const MAX_ASKED = 3;

/** A ticket of a project. */
interface WorkTicket {
  /** The beginning of its id, which names it. */
  readonly id: string;
  readonly title: string;
}

/** A ticket that somebody works on. */
interface ClaimedTicket extends WorkTicket {
  readonly agent: string;
  /** When the claim ends if it is not renewed, in Unix milliseconds. */
  readonly expiresAt: number;
}

/** The open tickets of a project: a bounded number of each kind. */
export interface ProjectWork {
  readonly project: string;
  readonly unclaimed: readonly WorkTicket[];
  /** How many there are in all. */
  readonly unclaimedTotal: number;
  readonly claims: readonly ClaimedTicket[];
}

const goalSchema = z.object({
  number: z.int().min(1),
  text: z.string(),
  channel: z.string(),
  status: z.enum(["active", "blocked", "done"]),
  /** The account that set it. */
  by: z.string(),
  /** Unix milliseconds. */
  time: z.number(),
});
export type Goal = z.infer<typeof goalSchema>;

const assignmentSchema = z.object({
  number: z.int().min(1),
  /** The account that has it. */
  account: z.string(),
  task: z.string(),
  channel: z.string(),
  by: z.string(),
  time: z.number(),
  isDone: z.boolean(),
  /** When the account last said how it is, or got the assignment. Unix milliseconds. */
  heardAt: z.number(),
  /** What it said last; empty for nothing. */
  note: z.string(),
  /** When it was last asked, and how often since it was last heard. */
  askedAt: z.number(),
  asked: z.int(),
});
export type Assignment = z.infer<typeof assignmentSchema>;

export const planSchema = z.object({
  next: z.int().min(1),
  goals: z.array(goalSchema),
  assignments: z.array(assignmentSchema),
});
type PlanState = z.infer<typeof planSchema>;

/** What happens to assignments that nobody has heard of. */
interface Overdue {
  /** Whose account shall be asked now. */
  readonly ask: readonly Assignment[];
  /** Who did not answer often enough, so that people hear of it. */
  readonly report: readonly Assignment[];
}

/** Goals, the tasks of each account, and when each account last said how they are. */
export class PlanBook {
  #next: number;
  #goals: Goal[];
  #assignments: Assignment[];

  constructor(state: PlanState | null) {
    this.#next = state?.next ?? 1;
    this.#goals = state?.goals ?? [];
    this.#assignments = state?.assignments ?? [];
  }

  /** For the next start. */
  get state(): PlanState {
    return { next: this.#next, goals: this.#goals, assignments: this.#assignments };
  }

  /** The goals that are not done, of a channel, or of all with null. */
  goals(channel: string | null): Goal[] {
    return this.#goals.filter((goal) => goal.status !== "done" && isIn(goal, channel));
  }

  /** The tasks that are not done, of a channel, or of all with null. */
  assignments(channel: string | null): Assignment[] {
    return this.#assignments.filter((one) => !one.isDone && isIn(one, channel));
  }

  /** @throws Conflict if there are too many goals */
  addGoal(goal: Pick<Goal, "text" | "channel" | "by" | "time">): Goal {
    const kept = trimmed(this.#goals, MAX_GOALS, ({ status }) => status === "done");
    if (kept === null) throw new Conflict(`There are ${MAX_GOALS} goals; end some first`);
    const added: Goal = { ...goal, text: short(goal.text), number: this.#next++, status: "active" };
    this.#goals = [...kept, added];
    return added;
  }

  /** @throws Conflict if there are too many assignments */
  assign(given: Pick<Assignment, "account" | "task" | "channel" | "by" | "time">): Assignment {
    const kept = trimmed(this.#assignments, MAX_ASSIGNMENTS, ({ isDone }) => isDone);
    if (kept === null) throw new Conflict(`There are ${MAX_ASSIGNMENTS} tasks; end some first`);
    const { time, task } = given;
    const about = { isDone: false, heardAt: time, note: "", askedAt: time, asked: 0 };
    const added: Assignment = { ...given, ...about, task: short(task), number: this.#next++ };
    this.#assignments = [...kept, added];
    return added;
  }

  /** The goal or the task with this number. */
  find(number: string): Goal | Assignment {
    if (!/^#?\d{1,9}$/.test(number)) {
      throw new Invalid(`"${number}" is no number of a goal or a task`);
    }
    const wanted = Number(number.replace("#", ""));
    const found = this.#goals.find((goal) => goal.number === wanted && goal.status !== "done") ??
      this.#assignments.find((one) => one.number === wanted && !one.isDone);
    if (found === undefined) throw new NotFound(`There is no open goal or task ${wanted}`);
    return found;
  }

  /** Ends a goal or a task. */
  finish({ number }: Goal | Assignment): void {
    this.#goals = this.#goals.map((goal) =>
      goal.number === number ? { ...goal, status: "done" } : goal
    );
    this.#assignments = this.#assignments.map((one) =>
      one.number === number ? { ...one, isDone: true } : one
    );
  }

  /**
   * Notes that an account said how its tasks are.
   *
   * @param number one of its tasks; null: all
   * @returns the tasks
   */
  hear(account: string, note: string, now: number, number: number | null = null): Assignment[] {
    const mine = this.#assignments.filter((one) =>
      !one.isDone && isSame(one.account, account) && (number === null || one.number === number)
    );
    const noted = mine.map((one) => ({ ...one, heardAt: now, asked: 0, note: short(note) }));
    this.#replace(noted);
    return noted;
  }

  /**
   * Finds the tasks of which nobody has heard for an interval, and notes that they are asked about.
   *
   * @param interval in milliseconds; 0: nobody is asked
   */
  overdue(interval: number, now: number): Overdue {
    if (interval <= 0) return { ask: [], report: [] };
    const due = this.assignments(null).filter(({ heardAt, askedAt, asked }) =>
      asked <= MAX_ASKED && now - Math.max(heardAt, askedAt) >= interval
    );
    const noted = due.map((one) => ({ ...one, askedAt: now, asked: one.asked + 1 }));
    this.#replace(noted);
    return {
      ask: noted.filter(({ asked }) => asked <= MAX_ASKED),
      report: noted.filter(({ asked }) => asked > MAX_ASKED),
    };
  }

  #replace(changed: readonly Assignment[]): void {
    const byNumber = new Map(changed.map((one) => [one.number, one]));
    this.#assignments = this.#assignments.map((one) => byNumber.get(one.number) ?? one);
  }
}

/** Whether something is a task. */
export function isAssignment(one: Goal | Assignment): one is Assignment {
  return "task" in one;
}

export function isSame(one: string, other: string): boolean {
  return foldCase(one) === foldCase(other);
}

function isIn({ channel }: { readonly channel: string }, wanted: string | null): boolean {
  return wanted === null || isSame(channel, wanted);
}

/** Makes room for one more: without ended ones if there are too many; null if that is not enough. */
function trimmed<One>(
  all: readonly One[],
  most: number,
  isOver: (one: One) => boolean,
): One[] | null {
  if (all.length < most) return [...all];
  const first = all.findIndex(isOver);
  return first < 0 ? null : all.toSpliced(first, 1);
}

function short(text: string): string {
  return text.replace(/[\p{Cc}\s]+/gu, " ").trim().slice(0, MAX_TEXT);
}

/** Items of a plan. */
const MAX_ITEMS = 5;

/** Characters of one item. */
const MAX_ITEM = 200;

/** What a plan is made of. */
export interface Situation {
  readonly goals: readonly Goal[];
  readonly assignments: readonly Assignment[];
  readonly work: readonly ProjectWork[];
  /** Agents who are there, sorted. */
  readonly agents: readonly string[];
}

/** A proposal: what to do, and who could do it. */
export interface PlanItem {
  readonly task: string;
  /** Null: nobody in particular. */
  readonly nick: string | null;
}

const proposalSchema = z.strictObject({
  items: z.array(z.strictObject({ task: z.string().min(1), nick: z.string().nullable() }))
    .max(MAX_ITEMS),
});

/** The schema of a model's plan. */
export const PLAN_SCHEMA = z.toJSONSchema(proposalSchema);

export const PLAN_INSTRUCTIONS = "You coordinate agents. The log holds goals, tasks, tickets and " +
  `agents as JSON, one object per line. Propose at most ${MAX_ITEMS} concrete tasks that bring the ` +
  "goals forward, each for an idle agent or for nobody in particular (null). Answer with one JSON " +
  'object and nothing else: {"items": [{"task": text, "nick": name or null}]}.';

/** A plan without a model: what nobody works on, for agents that have nothing to do. */
export function propose({ goals, assignments, work, agents }: Situation): PlanItem[] {
  const busy = [
    ...assignments.map(({ account }) => account),
    ...work.flatMap(({ claims }) => claims.map(({ agent }) => agent)),
  ];
  const idle = agents.filter((nick) => !busy.some((one) => isSame(one, nick)));
  const tasks = [
    ...work.flatMap(({ project, unclaimed }) =>
      unclaimed.map(({ id, title }) => `ticket ${id} of ${project}: ${title}`)
    ),
    ...goals.map(({ number, text }) => `goal ${number}: ${text}`),
  ];
  return tasks.slice(0, MAX_ITEMS).map((task, index) => {
    return { task: task.slice(0, MAX_ITEM), nick: idle[index] ?? null };
  });
}

/** The situation as a model gets it. */
export function quoteSituation({ goals, assignments, work, agents }: Situation): string {
  const lines = [
    ...goals.map(({ number, text }) => ({ goal: number, text })),
    ...assignments.map(({ number, account, task, note }) => {
      return { task: number, agent: account, text: task, said: note };
    }),
    ...work.flatMap(({ project, unclaimed, claims }) => [
      ...unclaimed.map(({ id, title }) => ({ project, ticket: id, title, claimed_by: null })),
      ...claims.map(({ id, title, agent }) => ({ project, ticket: id, title, claimed_by: agent })),
    ]),
    ...agents.map((agent) => ({ agent, is: "here" })),
  ];
  return lines.map((line) => JSON.stringify(line)).join("\n");
}

/**
 * Reads a model's plan. Names that are no agent's are dropped.
 *
 * @returns null if the answer does not have the form that was asked for
 */
export function readPlan(answer: string, agents: readonly string[]): PlanItem[] | null {
  let value: unknown;
  try {
    value = JSON.parse(withoutFence(answer));
  } catch {
    return null;
  }
  const plan = proposalSchema.safeParse(value).data;
  return plan?.items.map(({ task, nick }) => {
    const known = agents.find((agent) => nick !== null && isSame(agent, nick)) ?? null;
    return { task: task.replace(/[\p{Cc}\s]+/gu, " ").trim().slice(0, MAX_ITEM), nick: known };
  }) ?? null;
}
