import {
  listWikiPages,
  readWikiHistory,
  readWikiPage,
  writeWiki,
} from "../../services/engines/fossil/mod.ts";
import { CommandFailed, print, printText, table } from "../output.ts";
import {
  printJson,
  reading,
  shortHash,
  shortTime,
  type WriteOptions,
  writingAs,
} from "./session.ts";

interface WikiOptions extends WriteOptions {
  readonly write?: boolean;
  readonly delete?: boolean;
  readonly history?: boolean;
  readonly at?: string;
  readonly mimetype?: string;
  readonly message?: string;
  readonly all?: boolean;
  readonly showAssociated?: boolean;
}

/** `muster fossil wiki`: lists the pages, or shows one, its history, or writes one. */
export async function wiki(
  file: string,
  name: string | undefined,
  options: WikiOptions,
): Promise<void> {
  if (options.write === true || options.delete === true) return await write(file, name, options);
  if (name === undefined) return await list(file, options);
  if (options.history === true) return await history(file, name, options);
  await reading(file, ({ reader }) => {
    const page = readWikiPage(reader, name, options.at);
    if (options.json === true) printJson(page);
    else printText(page.content.endsWith("\n") ? page.content : `${page.content}\n`);
  });
}

async function list(
  file: string,
  { json, all: deleted = false, showAssociated: associated = false }: WikiOptions,
): Promise<void> {
  await reading(file, ({ reader }) => {
    const pages = listWikiPages(reader, { deleted, associated });
    if (json === true) return printJson(pages);
    const rows = pages.map((page) => [
      page.name,
      shortTime(page.last_modified),
      shortHash(page.uuid),
      page.user,
    ]);
    print(table(["PAGE", "CHANGED", "HASH", "USER"], rows));
  });
}

async function history(file: string, name: string, { json }: WikiOptions): Promise<void> {
  await reading(file, ({ reader }) => {
    const versions = readWikiHistory(reader, name);
    if (json === true) return printJson(versions);
    const rows = versions.map(({ timestamp, uuid, user, size }) => [
      shortTime(timestamp),
      shortHash(uuid),
      user,
      String(size),
    ]);
    print(table(["TIME", "HASH", "USER", "BYTES"], rows));
  });
}

async function write(
  file: string,
  title: string | undefined,
  { mimetype, message, json, ...options }: WikiOptions,
): Promise<void> {
  if (title === undefined) throw new CommandFailed("Name the page", 2);
  const text = options.delete === true ? "" : await readStandardInput("The text of the page");
  const uuid = await writingAs(file, options, ({ repository }, author) =>
    writeWiki(repository, {
      ...author,
      title,
      text,
      ...mimetype === undefined ? {} : { mimetype },
      ...message === undefined ? {} : { comment: message },
    }));
  if (json === true) printJson({ name: title, uuid });
  else print(uuid);
}

/** Longest text on standard input, in bytes. */
const MAX_BYTES = 16 * 1024 * 1024;

/**
 * All of standard input, as text.
 *
 * @param what the expected text, for the error if there is none.
 */
async function readStandardInput(what: string): Promise<string> {
  if (Deno.stdin.isTerminal()) throw new CommandFailed(`${what} is read from standard input`, 2);
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  for await (const chunk of Deno.stdin.readable) {
    length += chunk.length;
    if (length > MAX_BYTES) throw new CommandFailed(`${what} is too large`);
    chunks.push(chunk);
  }
  return await new Blob(chunks).text();
}
