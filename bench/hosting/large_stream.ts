/** The project's check-ins, those of them with all files, and its files. */
export const LARGE = {
  checkins: 50_000,
  late: 300,
  files: 20_000,
  /** To be raised if the stream changes: a made project stays for later runs. */
  version: 1,
} as const;

/** Files that the early check-ins change, and folders of the others. */
const [EARLY_FILES, FOLDERS] = [200, 400];
const LINES = 40;

/**
 * A stream of `git fast-export` with a large project: a long history of a few files, then all the
 * others at once, then some more check-ins. With all files in every check-in, the import would take
 * hours.
 */
export function* largeStream(): Generator<string> {
  for (let index = 0; index < LARGE.checkins - 1; index++) {
    const changes = [];
    const isLate = index >= LARGE.checkins - LARGE.late;
    if (index === LARGE.checkins - LARGE.late) {
      for (let file = EARLY_FILES; file < LARGE.files; file++) changes.push(change(file, index));
    }
    const file = isLate ? index * 7919 % LARGE.files : index % EARLY_FILES;
    changes.push(change(file, index));
    const message = `Change ${index} of file ${file}`;
    yield [
      "commit refs/heads/master",
      `mark :${index + 1}`,
      `committer Ann <ann@example.org> ${1_500_000_000 + index * 60} +0000`,
      `data ${message.length}`,
      message,
      ...changes,
      "",
    ].join("\n");
  }
}

function change(file: number, index: number): string {
  const lines = Array.from(
    { length: LINES },
    (_, line) => `line ${line} of file ${file}${line === index % LINES ? `, change ${index}` : ""}`,
  );
  const text = `${lines.join("\n")}\n`;
  return `M 100644 inline ${pathOf(file)}\ndata ${text.length}\n${text}`;
}

/** The path of a file of the project. */
export function pathOf(file: number): string {
  return file < EARLY_FILES ? `src/early${file}.txt` : `lib/part${file % FOLDERS}/file${file}.txt`;
}
