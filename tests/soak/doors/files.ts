import { chmodSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Random } from "../../services/engines/fossil/support/random.ts";

/** A file of this many lines is worth a delta. */
const MOST_LINES = 200;
const MOST_BYTES = 5000;
/** What a check-in of Fossil looks like behind its first card. */
const ARTIFACT = `
D 2026-11-28T00:00:00.000
U eve
W 5
eve!

Z 00000000000000000000000000000000
`;

/** Files of a checkout that change at random. */
export class RandomFiles {
  readonly #random: Random;
  /** Every content that a file had: files return to what others were. */
  readonly #past: Uint8Array[] = [new Uint8Array(0)];
  #count = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  /** A name that nothing has yet. */
  name(what: string): string {
    return `${what}${++this.#count}`;
  }

  /** The paths of the files in a folder. */
  list(folder: string): string[] {
    const paths: string[] = [];
    const walk = (below: string) => {
      for (const { name, isDirectory } of Deno.readDirSync(join(folder, below))) {
        if (name.startsWith(".")) continue;
        if (isDirectory) walk(`${below}${name}/`);
        else paths.push(below + name);
      }
    };
    walk("");
    return paths.sort();
  }

  /** A path for a new file. */
  path(): string {
    const folder = this.#random.pick(["", "", "src/", "src/a/", "docs/", "ü ö/"]);
    return folder + this.name(this.#random.pick(["file", "file", "Ä b", "x-"]));
  }

  /** A content: like another one, what a file once was, or bytes. */
  content(like: Uint8Array = new Uint8Array(0), hasArtifacts = false): Uint8Array {
    const choice = this.#random.below(9);
    if (choice === 8 && hasArtifacts) return new TextEncoder().encode(this.name("C ") + ARTIFACT);
    if (choice < 2) return this.#random.pick(this.#past);
    const content = choice === 2 ? this.#bytes() : this.#edited(like);
    this.#past.push(content);
    return content;
  }

  #bytes(): Uint8Array {
    return Uint8Array.from(
      { length: this.#random.below(MOST_BYTES) },
      () => this.#random.below(256),
    );
  }

  #edited(like: Uint8Array): Uint8Array {
    const text = new TextDecoder().decode(like);
    const isText = like.length > 0 && !like.includes(0) && !text.endsWith(ARTIFACT);
    const lines = isText ? text.split("\n") : Array.from(
      { length: 1 + this.#random.below(MOST_LINES) },
      (_, line) => `line ${line} of the first version`,
    );
    lines[this.#random.below(lines.length)] = this.name("a changed line ");
    return new TextEncoder().encode(lines.join("\n"));
  }

  write(folder: string, path: string, content: Uint8Array): void {
    Deno.mkdirSync(join(folder, dirname(path)), { recursive: true });
    Deno.writeFileSync(join(folder, path), content);
  }

  /**
   * Edits or adds a file; returns its path.
   *
   * @param options.hasArtifacts whether it may look like an artifact of Fossil, which takes none for a file
   */
  edit(
    folder: string,
    { hasArtifacts = true } = {},
  ): { readonly path: string; readonly isNew: boolean } {
    const paths = this.list(folder).filter((path) => Deno.lstatSync(join(folder, path)).isFile);
    const isNew = paths.length < 4 || this.#random.below(4) === 0;
    const path = isNew ? this.path() : this.#random.pick(paths);
    const like = isNew ? undefined : Deno.readFileSync(join(folder, path));
    this.write(folder, path, this.content(like, hasArtifacts));
    return { path, isNew };
  }

  /** Changes whether a file may be run. */
  changeMode(folder: string, path: string): void {
    const mode = Deno.statSync(join(folder, path)).mode ?? 0;
    chmodSync(join(folder, path), (mode & 0o100) === 0 ? 0o755 : 0o644);
  }
}
