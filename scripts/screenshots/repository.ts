/** The repository of the story: a small service with the departures of ferries. */
import type { GitCommit } from "../../tests/support/git_history.ts";

const README = `# Ferry

Departures of small harbours, merged from the timetables of their lines, as JSON over HTTP.

\`\`\`sh
curl "http://localhost:8000/departures?from=Skarv"
\`\`\`

Timetables come from \`timetables/\`, one file for each line. A change is live within a minute.
`;

const TIMETABLE = `/** A departure of a ferry. */
export interface Departure {
  readonly harbour: string;
  readonly line: number;
  /** Minutes after midnight, local time. */
  readonly time: number;
}

/** Merges timetables. Of two equal departures, the first one stays. */
export function merge(tables: readonly Departure[][]): Departure[] {
  const merged: Departure[] = [];
  for (const departure of tables.flat()) {
    const isKnown = merged.some((other) => other.time === departure.time);
    if (!isKnown) merged.push(departure);
  }
  return merged.sort((one, other) => one.time - other.time);
}
`;

const KEY = `
/** Two departures with the same key are the same one. */
function keyOf({ harbour, time }: Departure): string {
  return \`\${harbour} \${time}\`;
}
`;

const SERVER = `import { merge } from "./timetable.ts";
import { readTables } from "./tables.ts";

Deno.serve({ port: 8000 }, async (request) => {
  const from = new URL(request.url).searchParams.get("from");
  const departures = merge(await readTables("timetables"));
  return Response.json(departures.filter(({ harbour }) => harbour === from));
});
`;

const TABLES = `import type { Departure } from "./timetable.ts";

/** Reads the timetables in a folder, one JSON file for each line. */
export async function readTables(folder: string): Promise<Departure[][]> {
  const tables: Departure[][] = [];
  for await (const { name } of Deno.readDir(folder)) {
    tables.push(JSON.parse(await Deno.readTextFile(\`\${folder}/\${name}\`)));
  }
  return tables;
}
`;

const TEST = `import assert from "node:assert/strict";
import { merge } from "../src/timetable.ts";

Deno.test("departures come in the order of their times", () => {
  const late = { harbour: "Skarv", line: 3, time: 460 };
  const early = { harbour: "Holm", line: 1, time: 415 };
  assert.deepEqual(merge([[late], [early]]), [early, late]);
});
`;

/** The paths of the files that the story changes. */
export const PATHS = {
  timetable: "src/timetable.ts",
  tables: "src/tables.ts",
  test: "tests/timetable_test.ts",
  readme: "README.md",
  server: "src/server.ts",
} as const;

const HOUR = 3_600_000;

/** The history before the story begins. */
export function history(now: number): readonly GitCommit[] {
  const commits = [
    ["ann", 212, "Describe what Ferry is for", { [PATHS.readme]: README }],
    ["bob", 190, "Read the timetables of all lines", { [PATHS.tables]: TABLES }],
    ["bob", 187, "Merge timetables", { [PATHS.timetable]: TIMETABLE }],
    ["ann", 71, "Answer departures over HTTP", { [PATHS.server]: SERVER }],
    ["ann", 22, "Test the order of departures", { [PATHS.test]: TEST }],
  ] as const;
  return commits.map(([author, hours, message, files]) => ({
    author,
    message,
    files,
    time: now - hours * HOUR,
  }));
}

/** The first answer to the lost departures: only the lookup gets quicker. */
export const FIRST_ROUND = {
  [PATHS.timetable]: TIMETABLE.replace(
    "merged.some((other) => other.time === departure.time)",
    "merged.some((other) => keyOf(other) === keyOf(departure))",
  ) + KEY,
};

/** The second round: a map in place of the search, and a test. */
export const SECOND_ROUND = {
  [PATHS.timetable]: TIMETABLE.replace(
    / {2}const merged: Departure\[\] = \[\];\n[^]*?\n {2}\}\n/,
    `  const merged = new Map<string, Departure>();
  for (const departure of tables.flat()) {
    const key = keyOf(departure);
    if (!merged.has(key)) merged.set(key, departure);
  }
`,
  ).replace("return merged.sort(", "return [...merged.values()].sort(") + KEY,
  [PATHS.test]: TEST + `
Deno.test("two harbours may have a departure at the same time", () => {
  const skarv = { harbour: "Skarv", line: 3, time: 460 };
  const holm = { harbour: "Holm", line: 1, time: 460 };
  assert.deepEqual(merge([[skarv], [holm], [skarv]]), [skarv, holm]);
});
`,
};

/** Other changes, of which two conflict. */
export const PARALLEL_READ = {
  [PATHS.tables]: TABLES.replace(
    / {2}const tables[^]*\n {2}return tables;\n/,
    `  const names = await Array.fromAsync(Deno.readDir(folder), ({ name }) => name);
  return await Promise.all(names.map(async (name) =>
    JSON.parse(await Deno.readTextFile(\`\${folder}/\${name}\`))
  ));
`,
  ),
};

export const SORTED_READ = {
  [PATHS.tables]: TABLES.replace(
    "  return tables;",
    "  return tables.sort((one, other) => one.length - other.length);",
  ).replace("const tables: Departure[][] = [];", "const tables = new Array<Departure[]>();"),
};

export const SHORT_README = {
  [PATHS.readme]: README.replace("A change is live within a minute.", "Changes are live at once."),
};

export const ANY_PORT = {
  [PATHS.server]: SERVER.replace("port: 8000", 'port: Number(Deno.env.get("PORT") ?? 8000)'),
};
