/** The repositories of projects. */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { type Folders, SqliteSnapshot } from "../backup/mod.ts";
import {
  describeError,
  type Examination,
  examineRepository,
  listUnversioned,
  Reader,
  readReceived,
  readUnversioned,
  Repository,
} from "../../engines/fossil/mod.ts";
import type { PlacedProject } from "./databases.ts";
import { fingerprintTables } from "./derived_tables.ts";
import { type Finding, findingsOf, quoted, reasonOf } from "./finding.ts";

const ENDING = ".fossil";
const SHA1_DIGITS = 40;

/** Strange files that are named one by one. */
const SHOWN = 10;

/** What muster itself puts beside the repositories. */
const OWN =
  /^(?:removed|moved|\.(?:uploads|mirrors)|\.(?:upload|export|archive|download|pack|restore)-.*)$/;
/** What belongs to a repository, and to an import. */
const OF_REPOSITORY =
  /\.(?:fossil|index|objects)(?:-wal|-shm|-journal)?$|\.pack(?:-next)?$|\.import(?:[.-]|$)/;

export interface RepositoryCheckOptions {
  readonly folders: Folders;
  readonly projects: readonly PlacedProject[];
  /** The name of this node; null if it is alone. */
  readonly node: string | null;
  /** Leaves out what reads every artifact. */
  readonly quick: boolean;
  /** Called with the number of repositories done. */
  readonly onProgress: (done: number) => void;
}

/** Checks that each project of this node has its repository, and that all of it is whole. */
export async function checkRepositories(options: RepositoryCheckOptions): Promise<Finding[]> {
  const { folders: { projects: folder }, projects, node, quick, onProgress } = options;
  const found = findingsOf("repositories");
  const findings: Finding[] = [];
  const files = filesIn(folder);
  for (const [done, project] of projects.entries()) {
    const { slug, home } = project;
    const path = join(folder, slug + ENDING);
    const isHere = files.includes(slug + ENDING);
    if (node !== null && home !== null && home !== node) {
      if (isHere) findings.push(found.note(...copyOf(path, project)));
    } else if (!isHere) {
      findings.push(found.error(
        `The repository "${path}" of the project "${slug}" is missing`,
        `stop muster and restore the file from a backup, or remove the project: muster project remove ${slug}`,
      ));
    } else if (!quick) findings.push(...await checkRepository(path, project));
    onProgress(done + 1);
  }
  const owned = new Set(projects.map(({ slug }) => slug + ENDING));
  for (const name of files.filter((file) => !owned.has(file))) {
    const path = join(folder, name);
    findings.push(found.warning(
      `"${path}" belongs to no project`,
      `make it one with muster project import, or move it elsewhere: mv ${quoted(path)} ${
        quoted(join(folder, "removed"))
      }`,
    ));
  }
  const strange = namesIn(folder).filter((name) => !OWN.test(name) && !OF_REPOSITORY.test(name));
  for (const name of strange.slice(0, SHOWN)) {
    const path = join(folder, name);
    const fix = `move it elsewhere: mv ${quoted(path)} ..`;
    findings.push(found.warning(`"${path}" is no file of muster`, fix));
  }
  if (strange.length > SHOWN) {
    findings.push(found.warning(
      `"${folder}" has ${strange.length - SHOWN} more files that are not muster's`,
      "move them elsewhere",
    ));
  }
  return findings;
}

/** What is said of a repository here whose project is on another node. */
function copyOf(
  path: string,
  { slug, home }: Pick<PlacedProject, "slug" | "home">,
): [message: string, fix: string] {
  return [
    `"${path}" is a copy; the project "${slug}" is on the node "${home}"`,
    "the next start sets it aside",
  ];
}

/** Examines a copy, which a server does not write meanwhile. */
async function checkRepository(
  path: string,
  { slug, received, releaseFiles }: PlacedProject,
): Promise<Finding[]> {
  const found = findingsOf("repositories");
  const restore = `stop muster and restore "${path}" from a backup`;
  const folder = await Deno.makeTempDir({ prefix: "muster-doctor-" });
  try {
    const copy = join(folder, `copy${ENDING}`);
    copyRepository(path, copy);
    const examination = await examine(copy);
    const damages = damagesOf(examination);
    if (damages.length > 0) {
      return damages.map((damage) => found.error(`The repository of "${slug}" ${damage}`, restore));
    }
    const { missing_count: missing } = examination;
    const lacking = missing === 0 ? [] : [found.warning(
      `The repository of "${slug}" names ${missing} contents that it lacks`,
      "push them with fossil from a clone that has them; if there is none, stop muster and run: " +
        `muster fossil rebuild --drop-missing ${quoted(path)}`,
    )];
    if (received !== null && newestReceipt(copy) < received) {
      lacking.push(found.error(
        `The repository of "${slug}" lacks what the server has received`,
        `stop muster and put the newer file in its place, or accept this one: muster project accept ${slug}`,
      ));
    }
    lacking.push(
      ...releaseFaults(copy, releaseFiles).map((fault) =>
        found.error(`The repository of "${slug}" ${fault}`, `${restore}, or upload the file again`)
      ),
    );
    const tables = staleTables(copy);
    if (tables.length === 0) return lacking;
    return [
      ...lacking,
      found.error(
        `The repository of "${slug}" has derived tables that differ from a rebuild: ${
          tables.join(", ")
        }`,
        `stop muster and run: muster fossil rebuild ${quoted(path)}`,
      ),
    ];
  } catch (error) {
    const reason = describeError(error, slug) ?? reasonOf(error);
    return [found.error(`The repository of "${slug}" cannot be read: ${reason}`, restore)];
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

function copyRepository(path: string, target: string): void {
  using snapshot = SqliteSnapshot.open(path);
  snapshot.take();
  snapshot.copyTo(target);
}

async function examine(path: string): Promise<Examination> {
  using repository = Repository.open(path, { readOnly: true });
  return await examineRepository(repository);
}

/** What is wrong with unversioned files, which the files of releases are. */
function releaseFaults(path: string, expected: readonly string[]): string[] {
  using repository = Repository.open(path, { readOnly: true });
  const reader = new Reader(repository);
  const files = listUnversioned(reader);
  const names = new Set(files.map(({ name }) => name));
  return [
    ...expected.filter((name) => !names.has(name)).map((name) => `lacks the file "${name}"`),
    ...files.filter((file) => isAltered(reader, file)).map(({ name }) =>
      `has the file "${name}" altered`
    ),
  ];
}

function isAltered(
  reader: Reader,
  { name, uuid }: { readonly name: string; readonly uuid: string },
): boolean {
  try {
    const { content } = readUnversioned(reader, name);
    const algorithm = uuid.length === SHA1_DIGITS ? "sha1" : "sha3-256";
    return createHash(algorithm).update(content).digest("hex") !== uuid;
  } catch {
    return true;
  }
}

/** The number of the newest receipt of a repository. */
function newestReceipt(path: string): number {
  using repository = Repository.open(path, { readOnly: true });
  return readReceived(new Reader(repository), { after: null, limit: 0 }).place.rcvid;
}

function damagesOf({ file, damages, artifacts }: Examination): string[] {
  return [
    ...file.length === 0 ? [] : [`is damaged: ${file[0]}`],
    ...damages.length === 0 ? [] : [`has ${damages.length} damaged artifacts of ${artifacts}`],
  ];
}

/** The derived tables that a rebuild changes. */
function staleTables(path: string): string[] {
  const before = fingerprintTables(path);
  {
    using repository = Repository.open(path, { writeAheadLog: false });
    repository.rebuild();
  }
  const after = fingerprintTables(path);
  const tables = new Set([...before.keys(), ...after.keys()]);
  return [...tables].filter((table) => before.get(table) !== after.get(table)).toSorted();
}

function filesIn(folder: string): string[] {
  return namesIn(folder).filter((name) => name.endsWith(ENDING));
}

function namesIn(folder: string): string[] {
  try {
    return Array.from(Deno.readDirSync(folder), ({ name }) => name).toSorted();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}
