/** Technotes, forum threads, attachments and unversioned files. */
import {
  listAttachments,
  listForumThreads,
  listTechnotes,
  listUnversioned,
  type Paging,
  readAttachment,
  readForumThread,
  readTechnote,
  readUnversioned,
  resolveArtifact,
} from "../../services/engines/fossil/mod.ts";
import { print, printText, table, visible } from "../output.ts";
import { printJson, printRest, reading, readPages, shortHash, shortTime } from "./session.ts";
import { printContent } from "./tree.ts";

interface ListOptions extends Paging {
  readonly json?: boolean;
}

/** `muster fossil technote`: lists the technotes, or prints one. */
export async function technote(
  file: string,
  id: string | undefined,
  { json = false, ...paging }: ListOptions,
): Promise<void> {
  await reading(file, ({ reader }) => {
    if (id !== undefined) {
      const note = readTechnote(reader, id);
      return json ? printJson(note) : printLines(note.content);
    }
    const result = reader.read(() =>
      readPages(paging, "technotes", (page) => listTechnotes(reader, page))
    );
    if (json) return printJson(result);
    const rows = result.technotes.map((note) => [
      shortTime(note.timestamp),
      shortHash(note.id),
      note.user,
      note.comment,
    ]);
    print(table(["TIME", "ID", "USER", "COMMENT"], rows));
    printRest(rows.length, result.total);
  });
}

/** `muster fossil forum`: lists the threads, or prints the thread of a post. */
export async function forum(
  file: string,
  post: string | undefined,
  { json = false, ...paging }: ListOptions,
): Promise<void> {
  await reading(file, ({ reader }) => {
    if (post !== undefined) {
      const thread = readForumThread(reader, resolveArtifact(reader, post).uuid);
      if (json) return printJson(thread);
      print(visible(thread.title));
      for (const { timestamp, user, uuid, content } of thread.posts) {
        print();
        print(`${shortTime(timestamp)} [${shortHash(uuid)}] ${visible(user)}`);
        printLines(content);
      }
      return;
    }
    const result = reader.read(() =>
      readPages(paging, "threads", (page) => listForumThreads(reader, page))
    );
    if (json) return printJson(result);
    const rows = result.threads.map((thread) => [
      shortTime(thread.last_modified),
      shortHash(thread.uuid),
      thread.user,
      String(thread.post_count),
      thread.title,
    ]);
    print(table(["CHANGED", "POST", "USER", "POSTS", "TITLE"], rows));
    printRest(rows.length, result.total);
  });
}

interface JsonOption {
  readonly json?: boolean;
}

/**
 * `muster fossil attachment`: lists the attachments of a page, ticket or technote, or prints one.
 */
export async function attachment(
  file: string,
  target: string,
  name: string | undefined,
  { json = false }: JsonOption,
): Promise<void> {
  await reading(file, ({ reader }) => {
    if (name !== undefined) {
      const { content, is_binary, ...ref } = readAttachment(reader, { target, name });
      return json ? printJson({ ...ref, is_binary }) : printContent(name, content, is_binary);
    }
    const all = listAttachments(reader, target);
    if (json) return printJson(all);
    const rows = all.map((one) => [
      one.name,
      String(one.size ?? "?"),
      shortTime(one.timestamp),
      one.user,
      one.comment,
    ]);
    print(table(["NAME", "SIZE", "TIME", "USER", "COMMENT"], rows));
  });
}

/** `muster fossil unversioned`: lists the unversioned files, or prints one. */
export async function unversioned(
  file: string,
  name: string | undefined,
  { json = false }: JsonOption,
): Promise<void> {
  await reading(file, ({ reader }) => {
    if (name !== undefined) {
      const { content, is_binary, ...ref } = readUnversioned(reader, name);
      return json ? printJson({ ...ref, is_binary }) : printContent(name, content, is_binary);
    }
    const all = listUnversioned(reader);
    if (json) return printJson(all);
    const rows = all.map((one) => [
      one.name,
      String(one.size),
      shortTime(one.timestamp),
      shortHash(one.uuid),
    ]);
    print(table(["NAME", "SIZE", "TIME", "HASH"], rows));
  });
}

function printLines(text: string): void {
  printText(text.endsWith("\n") ? text : `${text}\n`);
}
