/** The settings of a repository that a client may copy: answers to `reqconfig`. */
import { encodeUtf8 } from "../codec/mod.ts";
import type { Repository } from "../repository.ts";
import type { CardWriter } from "./card_writer.ts";

const PROJECT = [
  "project-name",
  "short-project-name",
  "project-description",
  "index-page",
  "manifest",
  "binary-glob",
  "clean-glob",
  "ignore-glob",
  "keep-glob",
  "crlf-glob",
  "crnl-glob",
  "encoding-glob",
  "empty-dirs",
  "dotfiles",
  "hash-policy",
  "comment-format",
  "mimetypes",
  "forbid-delta-manifests",
  "mv-rm-files",
  "main-branch",
];
const TICKET = [
  "ticket-table",
  "ticket-common",
  "ticket-change",
  "ticket-newpage",
  "ticket-viewpage",
  "ticket-editpage",
  "ticket-reportlist",
  "ticket-report-template",
  "ticket-key-template",
  "ticket-title-expr",
  "ticket-closed-expr",
];

/**
 * The rows of `config` of each group. Users, subscribers, e-mail addresses, scripts and the look of
 * the program's web pages are never sent.
 */
const GROUPS: ReadonlyMap<string, readonly string[]> = new Map([
  ["/project", PROJECT],
  ["/ticket", TICKET],
  ["/all", [...PROJECT, ...TICKET]],
]);

/** Groups that also have the ticket reports, and those that have the shunned artifacts. */
const WITH_REPORTS: ReadonlySet<string> = new Set(["/ticket", "/all"]);
const WITH_SHUNNED: ReadonlySet<string> = new Set(["/shun", "/all"]);

/** Whether a group of settings is one that clients may copy. */
export function isSettingsGroup(group: string): boolean {
  return GROUPS.has(group) || WITH_SHUNNED.has(group);
}

/** Sends a group of settings; nothing for an unknown one. */
export function sendSettings({ db }: Repository, group: string, out: CardWriter): void {
  const send = (name: string, rows: readonly { readonly text: string }[]) => {
    for (const { text } of rows) out.add({ kind: "config", name, content: encodeUtf8(text) });
  };
  if (WITH_SHUNNED.has(group)) {
    const fields = "CAST(coalesce(mtime,0) AS INT)||' '||quote(uuid)||' scom '||quote(scom)";
    send("/shun", db.rows(`SELECT ${fields} AS text FROM shun`));
  }
  if (WITH_REPORTS.has(group)) {
    const fields = `CAST(coalesce(mtime,0) AS INT)||' '||quote(title)||' owner '||quote(owner)
      ||' cols '||quote(cols)||' sqlcode '||quote(sqlcode)`;
    send("/reportfmt", db.rows(`SELECT ${fields} AS text FROM reportfmt`));
  }
  const names = JSON.stringify(GROUPS.get(group) ?? []);
  const fields = "CAST(coalesce(mtime,0) AS INT)||' '||quote(name)||' value '||quote(value)";
  send(
    "/config",
    db.rows(
      `SELECT ${fields} AS text FROM config WHERE name IN (SELECT value FROM json_each(?))`,
      names,
    ),
  );
}
