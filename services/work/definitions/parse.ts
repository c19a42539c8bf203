/** From the text of `.muster/checks.yaml` to what it means. */
import { faultOf, fieldName } from "../../kernel/validation/mod.ts";
import { hintFor } from "../../kernel/validation/schemas.ts";
import {
  DEFINITION_PATH,
  type DefinitionFault,
  DefinitionInvalid,
  type Locate,
  readDocument,
} from "./document.ts";
import {
  type CheckDefinition,
  type Definition,
  definitionSchema,
  type Triggers,
} from "./schemas.ts";
import type { z } from "zod";

type Written = z.output<typeof definitionSchema>["checks"][string];

/**
 * Reads a definition.
 *
 * @param file how the faults name it
 * @throws {DefinitionInvalid} It is not YAML, or a key is unknown or has a wrong value, or checks
 *   need each other.
 */
export function parseDefinition(text: string, file = DEFINITION_PATH): Definition {
  const read = readDocument(text);
  if ("faults" in read) throw new DefinitionInvalid(file, read.faults);
  const { value, locate } = read;
  // To compile a validator takes longer than to interpret it once.
  const parsed = definitionSchema.safeParse(value, { jitless: true });
  if (!parsed.success) {
    const faults = parsed.error.issues.map((issue) => {
      if (issue.path.length === 0 && issue.code === "invalid_type") {
        return { ...locate([]), key: "", message: 'must have the key "checks"' };
      }
      const { path, message, missing } = faultOf(issue);
      return {
        ...locate(path),
        key: fieldName(path),
        message: missing ? "is required" : message,
      };
    });
    throw new DefinitionInvalid(file, faults);
  }
  const checks = Object.entries(parsed.data.checks).map(([name, written]) => check(name, written));
  const faults = needFaults(checks, locate);
  if (faults.length > 0) throw new DefinitionInvalid(file, faults);
  return { checks, githubWorkflows: parsed.data.github_workflows };
}

function check(name: string, written: Written): CheckDefinition {
  const { run, timeout, on, memory, processes, disk, ...rest } = written;
  return {
    name,
    commands: run,
    timeoutSeconds: timeout,
    on: triggers(on),
    limits: { memoryMb: memory, processes, diskMb: disk },
    ...rest,
  };
}

function triggers(on: Written["on"]): Triggers {
  let push: string[] | null = null;
  const cron: string[] = [];
  for (const trigger of on) {
    if (trigger === "push") push ??= [];
    else if (typeof trigger === "object" && "push" in trigger) {
      push = [...push ?? [], ...trigger.push.branches];
    } else if (typeof trigger === "object") cron.push(trigger.cron);
  }
  return { review: on.includes("review"), landing: on.includes("landing"), push, cron };
}

/** Needs that can never be met: of unknown checks, of those that run at other times, and circles. */
function needFaults(checks: readonly CheckDefinition[], locate: Locate): DefinitionFault[] {
  const byName = new Map(checks.map((one) => [one.name, one]));
  const faults: DefinitionFault[] = [];
  for (const { name, needs, on } of checks) {
    for (const [index, need] of needs.entries()) {
      const message = needFault(need, on, byName);
      if (message === null) continue;
      const path = ["checks", name, "needs", index];
      faults.push({ ...locate(path), key: fieldName(path), message });
    }
  }
  if (faults.length > 0) return faults;
  const circle = circleIn(checks, byName);
  if (circle === null) return [];
  const path = ["checks", circle[0] ?? "", "needs"];
  const message = `is a circle: ${[...circle, circle[0]].join(" needs ")}`;
  return [{ ...locate(path), key: fieldName(path), message }];
}

function needFault(
  need: string,
  on: Triggers,
  byName: ReadonlyMap<string, CheckDefinition>,
): string | null {
  const needed = byName.get(need);
  if (needed === undefined) {
    return `names "${need}", which is no check of this file${hintFor(need, [...byName.keys()])}`;
  }
  const lacks = timesOf(on).filter((time) => !timesOf(needed.on).includes(time));
  if (lacks.length === 0) return null;
  return `names "${need}", which does not run on ${lacks.join(" and ")} as this check does`;
}

function timesOf({ review, landing, push, cron }: Triggers): string[] {
  return [
    ...review ? ["review"] : [],
    ...landing ? ["landing"] : [],
    ...push === null ? [] : push.length === 0 ? ["push"] : push.map((one) => `push to ${one}`),
    ...cron.map((time) => `cron "${time}"`),
  ];
}

/** A circle: names of checks, each of which needs the next, and the last the first; or null. */
function circleIn(
  checks: readonly CheckDefinition[],
  byName: ReadonlyMap<string, CheckDefinition>,
): string[] | null {
  const done = new Set<string>();
  const way: string[] = [];
  const visit = (name: string): string[] | null => {
    if (done.has(name)) return null;
    const start = way.indexOf(name);
    if (start !== -1) return way.slice(start);
    way.push(name);
    for (const need of byName.get(name)?.needs ?? []) {
      const circle = visit(need);
      if (circle !== null) return circle;
    }
    way.pop();
    done.add(name);
    return null;
  };
  for (const { name } of checks) {
    const circle = visit(name);
    if (circle !== null) return circle;
  }
  return null;
}
