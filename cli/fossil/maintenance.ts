import {
  type CheckinDetail,
  type Examination,
  examineRepository,
  type Progress,
  readCheckin,
  readStatistics,
  Repository,
  type Statistics,
} from "../../services/engines/fossil/mod.ts";
import { amount } from "../../services/kernel/words.ts";
import { CommandFailed, print, table, visible } from "../output.ts";
import { TerminalProgress } from "./progress.ts";
import { defaultUser, explaining, printJson, reading, shortTime, writing } from "./session.ts";

interface InitOptions {
  readonly user?: string;
  readonly projectName?: string;
  readonly description?: string;
  readonly json?: boolean;
}

/** `muster fossil init`: makes a repository. */
export async function init(file: string, options: InitOptions): Promise<void> {
  const { user = defaultUser(), projectName, description, json = false } = options;
  const projectCode = await explaining(file, () => {
    using repository = Repository.create(file, {
      admin: user,
      date: Date.now(),
      writeAheadLog: false,
      ...projectName === undefined ? {} : { projectName },
      ...description === undefined ? {} : { description },
    });
    return repository.config.get("project-code") ?? "";
  });
  if (json) return printJson({ project_code: projectCode, user });
  print(`project code  ${projectCode}`);
  print(`user          ${user}`);
}

interface JsonOption {
  readonly json?: boolean;
}

/** `muster fossil verify`: checks the file, decodes and hashes every artifact. */
export async function verify(file: string, { json = false }: JsonOption): Promise<void> {
  using progress = new TerminalProgress();
  const show: Progress = (done, total) => progress.show("Verified:", done, total);
  const found = await reading(file, ({ repository }) => examineRepository(repository, show));
  progress[Symbol.dispose]();
  const failures = failuresOf(found);
  if (json) printJson(found);
  else printExamination(found, failures.length === 0);
  if (failures.length > 0) throw new CommandFailed(failures.join(" "));
}

/** One sentence for each kind of damage. */
function failuresOf({ artifacts, file, damages, missing_count }: Examination): string[] {
  return [
    ...file.length === 0 ? [] : ["The file is damaged."],
    ...damages.length === 0 ? [] : [`Damaged artifacts: ${damages.length} of ${artifacts}.`],
    ...missing_count === 0 ? [] : [`Missing artifacts: ${missing_count}.`],
  ];
}

function printExamination(found: Examination, isWhole: boolean): void {
  const { artifacts, file, damages, missing, missing_count, shunned_count } = found;
  const shunned = shunned_count === 0 ? "" : `, ${shunned_count} shunned`;
  if (isWhole) return print(`${amount(artifacts, "artifact")}, all whole${shunned}`);
  for (const finding of file) print(visible(finding));
  if (damages.length > 0) {
    print(table(["HASH", "DAMAGE"], damages.map(({ hash, reason }) => [hash, reason])));
  }
  if (missing.length === 0) return;
  const rows = missing.map(({ hash, checkin, path }) => [hash ?? "?", checkin ?? "", path ?? ""]);
  print(table(["MISSING", "CHECK-IN", "FILE"], rows));
  if (missing.length < missing_count) {
    print(`Only the first ${missing.length} of ${missing_count} are shown.`);
  }
}

/** `muster fossil rebuild`: recomputes the derived tables. */
export async function rebuild(
  file: string,
  { json = false, dropMissing = false }: JsonOption & { readonly dropMissing?: boolean },
): Promise<void> {
  using progress = new TerminalProgress();
  const result = await writing(file, ({ repository }) => {
    return repository.rebuild({
      progress: (done, total) => progress.show("Linked:", done, total),
      dropsMissing: dropMissing,
    });
  });
  progress[Symbol.dispose]();
  if (json) return printJson(result);
  const { blobs, artifacts, phantoms } = result;
  print(`${amount(blobs, "artifact")} (${artifacts} structural), ${amount(phantoms, "phantom")}`);
}

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
