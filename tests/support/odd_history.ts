/** A history of Git with everything that is rare, as a stream of `git fast-import`. */

/** A commit of a stream: its author, its message, and its changes. */
interface StreamCommit {
  readonly mark: number;
  readonly from?: readonly number[];
  readonly ref?: string;
  readonly head?: string;
  readonly message?: string;
  readonly changes?: string;
}

const ANN = "Ann Ü <ann@example.org> 1700000000 +0530";
export const SIGNATURE = "-----BEGIN PGP SIGNATURE-----\n\niQ==\n-----END PGP SIGNATURE-----\n";

/** The stream of some commands. Text is `latin1`, so that every byte is a character. */
export function streamOf(...parts: readonly string[]): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(["feature done\n", ...parts, "done\n"].join(""), (c) => c.charCodeAt(0));
}

function utf8(text: string): string {
  return String.fromCharCode(...new TextEncoder().encode(text));
}

export function commit(
  { mark, from = [], ref = "refs/heads/main", head, message = "text\n", changes = "" }:
    StreamCommit,
): string {
  const parents = from.map((parent, place) => `${place === 0 ? "from" : "merge"} :${parent}\n`);
  const persons = head ?? signedBy();
  return `commit ${ref}\nmark :${mark}\n${persons}data ${message.length}\n${message}\n${
    parents.join("")
  }${changes}\n`;
}

export function inline(mode: string, path: string, content: string): string {
  return `M ${mode} inline ${path}\ndata ${content.length}\n${content}\n`;
}

const SUBMODULE = "1".repeat(40);
export const ODD_ZONES =
  "author Ann <ann@example.org> 1 +051800\ncommitter Ann <ann@example.org> 5 -0000\n";
const latin =
  "author Andr\xe9 <a@b> 1700000000 +0100\ncommitter Andr\xe9 <a@b> 1700000000 +0100\n" +
  "encoding ISO-8859-1\n";
/** What `git fast-import` of every version takes. */
export const PLAIN = [
  commit({ mark: 1, changes: inline("100644", "a", "a\n") + inline("100755", "dir/run", "x\n") }),
  commit({ mark: 2, from: [1], message: "no end", changes: inline("120000", "link", "a") }),
  commit({ mark: 3, from: [1], ref: "refs/heads/side", changes: inline("100644", "dir.x", "1\n") }),
  commit({
    mark: 4,
    from: [1],
    ref: "refs/heads/third",
    changes: inline("100644", "dir/z", "2\n"),
  }),
  commit({ mark: 5, from: [2, 3, 4], message: "octopus\n\nof three\n", changes: "D a\n" }),
  commit({ mark: 6, from: [5], changes: `M 160000 ${SUBMODULE} sub/module\n` }),
  commit({ mark: 7, from: [6], changes: inline("100644", "sub/file", "f\n") }),
  commit({ mark: 8, from: [7], head: latin, message: "caf\xe9\n", changes: "" }),
  commit({ mark: 9, from: [8], changes: inline("100644", '"na\\377me"', "n\n") }),
  commit({ mark: 10, from: [9], changes: `M 160000 ${"2".repeat(40)} sub/module\n` }),
  commit({ mark: 11, from: [10], changes: "D sub/module\nR dir dir2\n" }),
  commit({ mark: 12, ref: "refs/heads/root", changes: inline("100644", "other", "o\n") }),
  commit({ mark: 13, from: [11, 12], message: "", changes: inline("100644", "dir", "file\n") }),
  "reset refs/heads/main\nfrom :13\n\nreset refs/heads/behind\nfrom :2\n\n",
  "reset refs/tags/light\nfrom :3\n\nreset refs/tags/side\nfrom :2\n\n",
  utf8(`tag annotated\nfrom :5\ntagger ${ANN}\ndata 8\nRelease\n\n`),
];

/** The author and committer that commits have by default. */
export function signedBy(): string {
  return utf8(`author ${ANN}\ncommitter ${ANN}\n`);
}
