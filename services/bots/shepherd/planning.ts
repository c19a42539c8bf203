import { z } from "zod";
import { withoutFence } from "../model_answer.ts";
import { type Assignment, type Goal, isSame } from "./plan_book.ts";
import type { ProjectWork } from "./project_work.ts";

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

const planSchema = z.strictObject({
  items: z.array(z.strictObject({ task: z.string().min(1), nick: z.string().nullable() }))
    .max(MAX_ITEMS),
});

/** The schema of a model's plan. */
export const PLAN_SCHEMA = z.toJSONSchema(planSchema);

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
  const plan = planSchema.safeParse(value).data;
  return plan?.items.map(({ task, nick }) => {
    const known = agents.find((agent) => nick !== null && isSame(agent, nick)) ?? null;
    return { task: task.replace(/[\p{Cc}\s]+/gu, " ").trim().slice(0, MAX_ITEM), nick: known };
  }) ?? null;
}
