import { Repository, verifyRepository } from "../../services/fossil/mod.ts";
import { CommandFailed, print, table } from "../output.ts";
import { printJson } from "./format.ts";
import { TerminalProgress } from "./progress.ts";
import { defaultUser, explaining, reading, writing } from "./session.ts";

interface InitOptions {
  readonly user?: string;
  readonly projectName?: string;
  readonly description?: string;
  readonly json?: boolean;
}

/** `muster fossil init`: makes a repository. */
export async function init(file: string, options: InitOptions): Promise<void> {
  const { user = defaultUser(), projectName, description, json = false } = options;
  const projectCode = await explaining(() => {
    using repository = Repository.create(file, {
      admin: user,
      date: Date.now(),
      ...projectName === undefined ? {} : { projectName },
      ...description === undefined ? {} : { description },
    });
    return repository.config.get("project-code") ?? "";
  });
  if (json) return printJson({ project_code: projectCode, user });
  print(`project code  ${projectCode}`);
  print(`user          ${user}`);
}

interface JsonOption {
  readonly json?: boolean;
}

/** `muster fossil verify`: decodes and hashes every artifact. */
export async function verify(file: string, { json = false }: JsonOption): Promise<void> {
  using progress = new TerminalProgress();
  const { artifacts, damages } = await reading(file, async ({ repository }) => ({
    artifacts: repository.read(() =>
      repository.db.value<number>("SELECT count(*) FROM blob WHERE size>=0") ?? 0
    ),
    damages: await verifyRepository(
      repository,
      (done, total) => progress.show("Verified:", done, total),
    ),
  }));
  progress[Symbol.dispose]();
  if (json) printJson({ artifacts, damages });
  else if (damages.length === 0) print(`${artifacts} artifacts, all whole`);
  else print(table(["HASH", "DAMAGE"], damages.map(({ hash, reason }) => [hash, reason])));
  if (damages.length > 0) {
    throw new CommandFailed(`${damages.length} of ${artifacts} artifacts are damaged.`);
  }
}

/** `muster fossil rebuild`: computes the derived tables anew. */
export async function rebuild(file: string, { json = false }: JsonOption): Promise<void> {
  using progress = new TerminalProgress();
  const result = await writing(file, ({ repository }) => {
    return repository.rebuild((done, total) => progress.show("Linked:", done, total));
  });
  progress[Symbol.dispose]();
  if (json) return printJson(result);
  const { blobs, artifacts, phantoms } = result;
  print(`${blobs} artifacts (${artifacts} structural), ${phantoms} phantoms`);
}
