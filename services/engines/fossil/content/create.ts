import { randomBytes } from "node:crypto";
import { HASH_POLICIES, type HashPolicy, sha1 } from "../codec/mod.ts";
import { FossilError } from "../error.ts";
import { Config } from "./config.ts";
import { Database } from "./database.ts";
import { type AccessOptions, prepareToWrite } from "./open.ts";
import { AUX_SCHEMA, CONTENT_SCHEMA, DERIVED_SCHEMA, PERMANENT_SCHEMA } from "./schema.ts";
import { createTicketTables } from "./ticket_schema.ts";

/** Options of a new repository. */
export interface CreateOptions extends Pick<AccessOptions, "writeAheadLog"> {
  /** Login of the first user, with all rights. */
  readonly admin: string;
  /** Password of the first user; by default a random one that nobody knows. */
  readonly password?: string;
  readonly projectName?: string;
  readonly description?: string;
  /** 40 hexadecimal digits shared by all clones; random by default. */
  readonly projectCode?: string;
  readonly hashPolicy?: HashPolicy;
}

/** Users every repository has, and their capabilities. */
const SPECIAL_USERS = [
  ["anonymous", "hmnc", "Anon"],
  ["nobody", "gjorz", "Nobody"],
  ["developer", "ei", "Dev"],
  ["reader", "kptw", "Reader"],
] as const;

const NOW = "CAST(strftime('%s','now') AS INT)";

/** A report over all tickets; without it the program's ticket pages are empty. */
const ALL_TICKETS = {
  title: "All Tickets",
  cols: "#ffffff Key:\n#f2dcdc Open\n#cfe8bd Fixed\n#c8c8c8 Closed",
  sql: `SELECT
  CASE status WHEN 'Open' THEN '#f2dcdc' WHEN 'Fixed' THEN '#cfe8bd' ELSE '#c8c8c8' END AS bgcolor,
  substr(tkt_uuid,1,10) AS '#', datetime(tkt_mtime) AS mtime, type, status, subsystem, title
FROM ticket`,
};

/**
 * Makes a repository file: tables, settings and users, but no check-in yet. Moves the log into the
 * file, because the program refuses files below 16 kB.
 *
 * @throws {FossilError} `invalid` if the file exists, the login is empty or the project code is
 * malformed.
 */
export function createDatabase(path: string, options: CreateOptions): Database {
  const projectCode = options.projectCode ?? randomHex(20);
  if (!/^[0-9a-f]{40}$/.test(projectCode)) {
    throw new FossilError("invalid", `"${projectCode}" is not a project code`);
  }
  if (options.admin === "") throw new FossilError("invalid", "The first user needs a login");
  claim(path);
  const db = new Database(path);
  try {
    prepareToWrite(db, options);
    db.exec("BEGIN IMMEDIATE");
    db.exec(PERMANENT_SCHEMA);
    db.exec(DERIVED_SCHEMA);
    fill(db, options, projectCode);
    db.exec("COMMIT");
    db.checkpoint();
    return db;
  } catch (error) {
    db.close();
    Deno.removeSync(path);
    throw error;
  }
}

/**
 * Creates an empty file, so that only one of two concurrent creators succeeds. The process's umask
 * sets its permissions.
 *
 * @throws {FossilError} `invalid` if the file exists.
 */
export function claim(path: string): void {
  try {
    Deno.openSync(path, { write: true, createNew: true }).close();
  } catch (cause) {
    if (!(cause instanceof Deno.errors.AlreadyExists)) throw cause;
    throw new FossilError("invalid", `"${path}" exists`, { cause });
  }
}

function fill(db: Database, options: CreateOptions, projectCode: string): void {
  const config = new Config(db);
  const settings: Record<string, string> = {
    "content-schema": CONTENT_SCHEMA,
    "aux-schema": AUX_SCHEMA,
    "server-code": randomHex(20),
    "project-code": projectCode,
    "hash-policy": String(HASH_POLICIES.indexOf(options.hashPolicy ?? "sha3")),
    "admin-log": "1",
    "access-log": "1",
    "autosync": "1",
    "localauth": "0",
    "timeline-plaintext": "1",
  };
  if (options.projectName !== undefined) settings["project-name"] = options.projectName;
  if (options.description !== undefined) settings["project-description"] = options.description;
  for (const [name, value] of Object.entries(settings)) config.set(name, value);
  createTicketTables(db, config);
  addUser(db, { login: options.admin, capabilities: "s", password: options.password ?? null });
  for (const [login, capabilities, info] of SPECIAL_USERS) {
    addUser(db, { login, capabilities, info, password: login === "anonymous" ? null : "" });
  }
  db.run(
    `INSERT INTO reportfmt(title,mtime,cols,sqlcode) VALUES(?,${NOW},?,?)`,
    ALL_TICKETS.title,
    ALL_TICKETS.cols,
    ALL_TICKETS.sql,
  );
}

/** A user of a repository file. */
export interface NewUser {
  readonly login: string;
  /** Letters of the program's capabilities. */
  readonly capabilities: string;
  /** Null for a random one; nobody can log in with the empty password. */
  readonly password: string | null;
  readonly info?: string;
}

/** Adds a user, or does nothing if the login is taken. Returns whether it was added. */
export function addUser(db: Database, user: NewUser): boolean {
  const added = db.run(
    `INSERT OR IGNORE INTO user(login,pw,cap,info,mtime) VALUES(?,?,?,?,${NOW})`,
    user.login,
    user.password === "" ? "" : hashPassword(db, user.login, user.password ?? randomHex(16)),
    user.capabilities,
    user.info ?? "",
  );
  return added > 0;
}

/** The shared secret of Fossil's login: SHA1 over project code, login and password. */
function hashPassword(db: Database, login: string, password: string): string {
  const projectCode = new Config(db).get("project-code") ?? "";
  return sha1(`${projectCode}/${login}/${password}`);
}

function randomHex(bytes: number): string {
  return randomBytes(bytes).toString("hex");
}
