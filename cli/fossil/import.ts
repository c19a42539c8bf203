import { amount } from "../../services/kernel/words.ts";
import {
  exportGit,
  type GitProgress,
  importGitStream,
  readPieces,
} from "../../services/engines/fossil/mod.ts";
import { CommandFailed, print, printBytes, printNotices, reportDone } from "../output.ts";
import { defaultUser, explaining, printJson, reading } from "./session.ts";
import { TerminalProgress } from "./progress.ts";

interface ImportCommandOptions {
  readonly user?: string;
  readonly mainBranch?: string;
  readonly projectName?: string;
  readonly partial?: boolean;
  readonly json?: boolean;
}

/**
 * `muster fossil import`: makes a repository from the `git fast-export` stream on standard input.
 */
export async function importStream(file: string, options: ImportCommandOptions): Promise<void> {
  if (Deno.stdin.isTerminal()) {
    throw new CommandFailed('A "git fast-export" stream is expected on standard input', 2);
  }
  const { user = defaultUser(), projectName, mainBranch, partial = false, json = false } = options;
  using progress = new TerminalProgress();
  const report = await explaining(file, () => {
    const create = { admin: user, ...projectName === undefined ? {} : { projectName } };
    return importGitStream(file, create, readPieces(Deno.stdin), {
      ...mainBranch === undefined ? {} : { mainBranch },
      isPartial: partial,
      progress: (state) => show(progress, state),
    });
  });
  progress[Symbol.dispose]();
  reportDone(() => {
    if (json) return printJson(report);
    const { checkins, files, branches, tags, notices } = report;
    print([
      amount(checkins, "check-in"),
      amount(files, "file version"),
      amount(branches, "branch", "branches"),
      amount(tags, "tag"),
    ].join(", "));
    printNotices(notices);
  });
}

function show(progress: TerminalProgress, { phase, commits, total }: GitProgress): void {
  progress.show(phase === "read" ? "Commits read:" : "Check-ins written:", commits, total);
}

/** `muster fossil export`: writes a stream for `git fast-import` to standard output. */
export async function exportStream(
  file: string,
  { mainBranch }: { readonly mainBranch?: string },
): Promise<void> {
  if (Deno.stdout.isTerminal()) {
    throw new CommandFailed(
      'The stream cannot go to a terminal: send it to a file or to "git fast-import"',
      2,
    );
  }
  using progress = new TerminalProgress();
  const { notices } = await reading(file, ({ repository }) => {
    const chunks = exportGit(repository, {
      ...mainBranch === undefined ? {} : { mainBranch },
      progress: (state) => show(progress, state),
    });
    for (let next = chunks.next();; next = chunks.next()) {
      if (next.done === true) return next.value;
      printBytes(next.value);
    }
  });
  progress[Symbol.dispose]();
  printNotices(notices);
}
