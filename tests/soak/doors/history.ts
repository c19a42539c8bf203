/** What a project has shown to its clients of Git, which it must keep. */
import assert from "node:assert/strict";
import type { Clone } from "../../support/git_client.ts";

const HEADS = "refs/heads/";
const WORKSPACES = `${HEADS}workspace/`;

/** Every reference that was ever seen, and how branches move. */
export class SeenHistory {
  readonly objects = new Set<string>();
  #refs: ReadonlyMap<string, string> = new Map();
  /** Branches that Git has moved, and that were there since. */
  readonly #pushed = new Set<string>();

  get refs(): ReadonlyMap<string, string> {
    return this.#refs;
  }

  /** Says that a push has moved a branch: from now on it only moves forward. */
  pushed(ref: string): void {
    if (!ref.startsWith(WORKSPACES)) this.#pushed.add(ref);
  }

  /** Says that Fossil has closed the line that a branch showed: it may show another one, or none. */
  closed(ref: string): void {
    this.#pushed.delete(ref);
  }

  /** Looks at the references of the server. */
  async look(clone: Clone, after: string): Promise<void> {
    const lines = (await clone.git("ls-remote", "--refs", "origin")).trim().split("\n");
    const refs = new Map(
      lines.filter((line) => line !== "").map((line) => {
        const [object = "", ref = ""] = line.split("\t");
        return [ref, object];
      }),
    );
    for (const object of refs.values()) this.objects.add(object);
    for (const ref of this.#pushed) {
      const [from, to] = [this.#refs.get(ref), refs.get(ref)];
      if (to === undefined) this.#pushed.delete(ref);
      else if (from !== undefined && from !== to) {
        await requireForward(clone, { ref, from, to, after });
      }
    }
    this.#refs = refs;
  }
}

/** Checks that a branch lost no commits when it moved. */
async function requireForward(
  clone: Clone,
  { ref, from, to, after }: Readonly<Record<"ref" | "from" | "to" | "after", string>>,
): Promise<void> {
  await clone.git("fetch", "--quiet", "--no-tags", "origin", from, to);
  const { code } = await clone.run("merge-base", "--is-ancestor", from, to);
  assert.equal(code, 0, `${after}: ${ref} went from ${from} to ${to}`);
}
