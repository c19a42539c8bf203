import {
  type CheckinDetail,
  readCheckin,
  readStatistics,
  type Statistics,
} from "../../services/fossil/mod.ts";
import { print, table, visible } from "../output.ts";
import { printJson, shortTime } from "./format.ts";
import { reading } from "./session.ts";

interface InfoOptions {
  readonly checkin?: string;
  readonly json?: boolean;
}

/** `muster fossil info`: describes a repository or a check-in. */
export async function info(file: string, { checkin, json }: InfoOptions): Promise<void> {
  await reading(file, ({ reader }) => {
    const result = checkin === undefined ? readStatistics(reader) : readCheckin(reader, checkin);
    if (json === true) return printJson(result);
    if ("uuid" in result) printCheckin(result);
    else printStatistics(result);
  });
}

function printStatistics(statistics: Statistics): void {
  const rows = Object.entries(statistics).map(([name, value]: [string, unknown]) => [
    name.replaceAll("_", " "),
    typeof value === "number" ? value.toLocaleString("en-GB") : String(value ?? "none"),
  ]);
  printFields(rows);
}

function printCheckin(checkin: CheckinDetail): void {
  const { files_changed, comment, ...fields } = checkin;
  printFields([
    ["uuid", fields.uuid],
    ["time", shortTime(fields.timestamp)],
    ["user", fields.user],
    ["branch", fields.branch],
    ["tags", fields.tags.join(", ")],
    ...fields.parents.map((parent, index) => [index === 0 ? "parent" : "merged", parent]),
    ...fields.children.map((child) => ["child", child]),
    ["comment", comment],
  ]);
  print();
  const rows = files_changed.map(({ name, change_type, prev_name }) => [
    change_type,
    prev_name === null ? name : `${prev_name} -> ${name}`,
  ]);
  print(table(["CHANGE", "FILE"], rows));
}

function printFields(rows: readonly (readonly string[])[]): void {
  const width = Math.max(...rows.map(([name = ""]) => name.length));
  for (const [name = "", value = ""] of rows) print(`${name.padEnd(width)}  ${visible(value)}`);
}
