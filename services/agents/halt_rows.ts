import { type Database, type Statement, statement } from "../database/mod.ts";
import { type HaltRule, HaltRules, type HaltTarget } from "./halt_rules.ts";

/** Rows that one statement inserts or deletes. */
const ROWS_AT_ONCE = 100;

const SCOPES = ["everybody", "type", "agent"] as const;

interface Subject {
  readonly scope: (typeof SCOPES)[number];
  /** A type, the internal id of an agent, or empty. */
  readonly subject: string;
}

/** A rule, and whom it is about. */
interface HaltedSubject extends Subject {
  readonly rule: HaltRule;
}

/** A change of the stored rules. */
export interface StoredChange {
  readonly stored: HaltRules;
  readonly rules: HaltRules;
  /** Whom it is about. */
  readonly target: HaltTarget;
  /** Called once it is on disk. */
  readonly committed: () => void;
}

/** Reads the rules from the database. */
export async function readRules({ tables }: Pick<Database, "tables">): Promise<HaltRules> {
  const rows = await tables.selectFrom("halts").selectAll().execute();
  const of = (wanted: HaltedSubject["scope"]) =>
    new Map(
      rows.filter(({ scope }) => scope === wanted)
        .map((
          { subject, halted, reason, halted_by: by, since },
        ) => [subject, { isHalted: halted === 1, reason, by, since }]),
    );
  return new HaltRules(of("everybody").get("") ?? null, of("type"), of("agent"));
}

/**
 * The statements of a change. Unless it is about everybody, they touch only rows that differ: another
 * program may have changed the rest.
 */
export function writingRules(
  { tables }: Pick<Database, "tables">,
  { stored, rules, target, committed }: StoredChange,
): Statement[] {
  const isForAll = target.types.length === 0 && target.agents.length === 0;
  const before = isForAll ? [] : entriesOf(stored);
  const after = entriesOf(rules);
  const written = without(after, before);
  const removed = isForAll
    ? [tables.deleteFrom("halts")]
    : removalsOf([...without(before, after), ...written, ...targeted(target)]).map(
      ({ scope, subjects }) =>
        tables.deleteFrom("halts").where("scope", "=", scope).where("subject", "in", subjects),
    );
  const inserted = inParts(written).map((part) =>
    tables.insertInto("halts").values(part.map(rowOf))
  );
  const [first, ...others] = [...removed, ...inserted];
  if (first === undefined) return [];
  return [statement(first, { committed }), ...others.map((query) => statement(query))];
}

function entriesOf({ everybody, types, agents }: HaltRules): HaltedSubject[] {
  return [
    ...everybody === null ? [] : [{ scope: "everybody" as const, subject: "", rule: everybody }],
    ...Array.from(types, ([subject, rule]) => ({ scope: "type" as const, subject, rule })),
    ...Array.from(agents, ([subject, rule]) => ({ scope: "agent" as const, subject, rule })),
  ];
}

/** The entries that others do not have, or with another rule. */
function without(
  entries: readonly HaltedSubject[],
  others: readonly HaltedSubject[],
): HaltedSubject[] {
  const known = new Map(others.map((entry) => [keyOf(entry), entry.rule]));
  return entries.filter((entry) => known.get(keyOf(entry)) !== entry.rule);
}

function targeted({ types, agents }: HaltTarget): Subject[] {
  return [
    ...types.map((subject) => ({ scope: "type" as const, subject })),
    ...agents.map(({ id: subject }) => ({ scope: "agent" as const, subject })),
  ];
}

/** The rows to remove, as each statement names them. */
function removalsOf(
  all: readonly Subject[],
): { readonly scope: Subject["scope"]; readonly subjects: readonly string[] }[] {
  return SCOPES.flatMap((scope) => {
    const subjects = new Set(all.filter((one) => one.scope === scope).map((one) => one.subject));
    return inParts([...subjects]).map((part) => ({ scope, subjects: part }));
  });
}

function inParts<Item>(items: readonly Item[]): Item[][] {
  const parts: Item[][] = [];
  for (let at = 0; at < items.length; at += ROWS_AT_ONCE) {
    parts.push(items.slice(at, at + ROWS_AT_ONCE));
  }
  return parts;
}

function keyOf({ scope, subject }: Subject): string {
  return `${scope} ${subject}`;
}

function rowOf({ scope, subject, rule }: HaltedSubject) {
  return {
    scope,
    subject,
    halted: rule.isHalted ? 1 : 0,
    reason: rule.reason,
    halted_by: rule.by,
    since: rule.since,
  };
}
