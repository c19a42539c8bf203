import type { CheckinHead } from "./heads.ts";

/** Most contents that are noted. */
const MAX_CONTENTS = 200_000;
/** Most characters of the texts of check-ins that are noted. */
const MAX_TEXT = 32 * 1024 * 1024;

/** A content as Git knows it. */
export interface NotedContent {
  readonly name: Uint8Array;
  /** Bytes. */
  readonly size: number;
}

/** What a write knows of the artifacts that it has stored, by their rows: they need not be read again. */
export class NotedArtifacts {
  readonly #contents = new Map<number, NotedContent>();
  readonly #heads = new Map<number, CheckinHead>();
  #text = 0;

  /** What a content is; undefined if that is not known. */
  content(rid: number): NotedContent | undefined {
    return this.#contents.get(rid);
  }

  /** The cards of a check-in; undefined if they are not known. */
  head(rid: number): CheckinHead | undefined {
    return this.#heads.get(rid);
  }

  addContent(rid: number, content: NotedContent): void {
    if (this.#contents.size < MAX_CONTENTS) this.#contents.set(rid, content);
  }

  /** @param head as it is read back from what is stored */
  addHead(rid: number, head: CheckinHead): void {
    if (this.#text > MAX_TEXT) return;
    const { comment, date, parents, tags, user } = head;
    this.#text += 500 + (comment?.length ?? 0) +
      tags.reduce((sum, { value }) => sum + (value?.length ?? 0), 0);
    this.#heads.set(rid, { comment, date, parents, tags, user });
  }

  clear(): void {
    this.#contents.clear();
    this.#heads.clear();
    this.#text = 0;
  }
}
