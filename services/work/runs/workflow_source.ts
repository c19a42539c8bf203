/** Workflows of Forgejo, Gitea and GitHub as a source of jobs. */
import { createHash } from "node:crypto";
import { NotFound } from "../../kernel/errors.ts";
import {
  GITHUB_WORKFLOWS,
  type Project,
  type ProjectRepositories,
  WORKFLOW_FOLDERS,
} from "../projects/mod.ts";
import type { ReviewStore } from "../reviews/mod.ts";
import type { Contexts, Expansion, Workflow, WorkflowEvent } from "../workflows/mod.ts";
import type { JobSource, Plan, PlannedJob, Trigger } from "./planning.ts";
import { AS_CHANGED, definitionAt } from "./planning.ts";
import type { JobSpec, WorkflowSpec } from "./records.ts";

/** Most workflows of a project. */
const MAX_FILES = 50;
/** Longest file that is read, in bytes; its parser refuses less. */
const MAX_BYTES = 1_000_000;
/** Most characters of a review's description that a job gets. */
const MAX_DESCRIPTION = 8000;
/** Most changed paths that are looked at. */
const MAX_PATHS = 3000;

const LIMITS = { memoryMb: 4096, processes: 1024, diskMb: 16_384 };

export interface WorkflowSourceOptions {
  readonly repositories: Pick<ProjectRepositories, "read" | "mainBranches">;
  readonly reviews: Pick<ReviewStore, "find">;
  /** The names of commits in Git. */
  readonly git: {
    commitsOf(project: Project, checkins: readonly string[]): Promise<readonly (string | null)[]>;
  };
  /** Where actions come from; null if only this server offers some. */
  readonly actionsUrl: string | null;
}

/** A trigger as a workflow hears of it. */
interface Heard {
  readonly event: WorkflowEvent;
  /** What expressions read as `github`, without the event's name. */
  readonly github: Contexts;
}

/** The workflows of a project's target branch. */
export class WorkflowSource implements JobSource {
  readonly #options: WorkflowSourceOptions;

  constructor(options: WorkflowSourceOptions) {
    this.#options = options;
  }

  async planOf(project: Project, trigger: Trigger, definedBy: string): Promise<Plan> {
    const decides = await this.#filesAt(project, definedBy, definedBy);
    const changed = trigger.cause === "review"
      ? await this.#filesAt(project, trigger.checkin, definedBy)
      : new Map<string, string>();
    const files = [
      ...Array.from(decides, ([file, text]) => ({ file, text, suffix: "" })),
      ...Array.from(changed).filter(([file, text]) => decides.get(file) !== text)
        .map(([file, text]) => ({ file, text, suffix: AS_CHANGED })),
    ];
    if (files.length === 0) return { jobs: [], notices: [], faults: [] };
    const heard = await this.#heard(project, trigger);
    const plans = await Promise.all(
      files.map(({ file, text, suffix }) => this.#planOf(file, text, { suffix, trigger, heard })),
    );
    return {
      jobs: plans.flatMap(({ jobs }) => jobs),
      notices: plans.flatMap(({ notices }) => notices),
      faults: plans.flatMap(({ faults }) => faults),
    };
  }

  async cronOf(project: Project): Promise<readonly string[]> {
    const branch = await this.#options.repositories.mainBranches.of(project);
    const files = await this.#filesAt(project, branch, branch);
    if (files.size === 0) return [];
    const { schedulesOf } = await import("../workflows/mod.ts");
    const times = await Promise.all(Array.from(files, async ([file, text]) => {
      const read = await readOf(file, text);
      return "fault" in read ? [] : schedulesOf(read.workflow);
    }));
    return [...new Set(times.flat())];
  }

  /** What one file begins. */
  async #planOf(
    file: string,
    text: string,
    { suffix, trigger, heard }: {
      readonly suffix: string;
      readonly trigger: Trigger;
      readonly heard: Heard;
    },
  ): Promise<Plan> {
    const { expand, heardAs, inputsOf, noticesOf } = await import("../workflows/mod.ts");
    const { DefinitionInvalid } = await import("../definitions/mod.ts");
    const wrong = (fault: string): Plan => ({
      jobs: [],
      notices: [],
      faults: [{ context: `${basename(file)}${suffix}`, text: fault }],
    });
    const read = await readOf(file, text);
    if ("fault" in read) return wrong(read.fault);
    const { workflow } = read;
    const { names } = trigger;
    const isAsked = trigger.cause !== "manual" || names === undefined ||
      names.includes(basename(file));
    const event = isAsked ? heardAs(workflow, heard.event) : null;
    if (event === null) return { jobs: [], notices: [], faults: [] };
    const given = event === "workflow_dispatch" ? inputsOf(workflow, trigger.inputs ?? {}) : null;
    if (given !== null && "fault" in given) return wrong(`${file}: ${given.fault}`);
    const inputs = given?.inputs ?? {};
    const github = githubOf(heard, { event, workflow, inputs });
    try {
      const expansion = expand(workflow, { github, inputs, vars: {} });
      return {
        jobs: plannedJobs(expansion, { workflow, github, inputs, suffix }),
        notices: noticesOf(workflow, this.#options.actionsUrl),
        faults: [],
      };
    } catch (error) {
      if (error instanceof DefinitionInvalid) return wrong(error.message);
      throw error;
    }
  }

  /**
   * The workflows of a check-in, by their paths.
   *
   * @param decides the check-in that says whether those of GitHub are meant
   */
  async #filesAt(
    project: Project,
    checkin: string,
    decides: string,
  ): Promise<ReadonlyMap<string, string>> {
    for (const folder of WORKFLOW_FOLDERS) {
      const files = await this.#filesIn(project, checkin, folder);
      if (files !== null) return files;
    }
    const files = await this.#filesIn(project, checkin, GITHUB_WORKFLOWS);
    if (files === null) return new Map();
    const definition = await definitionAt(this.#options.repositories, project, decides);
    return definition?.githubWorkflows === true ? files : new Map();
  }

  /** The workflows in a folder; null if there is no such folder. */
  async #filesIn(
    project: Project,
    checkin: string,
    path: string,
  ): Promise<ReadonlyMap<string, string> | null> {
    const { repositories } = this.#options;
    try {
      return await repositories.read(project, async (repository) => {
        const { entries } = await repository.tree({ checkin, path, withoutLastCheckin: true });
        const names = entries.filter(({ type, name }) => type === "file" && /\.ya?ml$/.test(name))
          .slice(0, MAX_FILES).map(({ name }) => `${path}/${name}`);
        const files = await Promise.all(names.map(async (name) => {
          const { content } = await repository.file({ checkin, path: name, maxBytes: MAX_BYTES });
          return [name, new TextDecoder().decode(content)] as const;
        }));
        return new Map(files);
      });
    } catch (error) {
      if (error instanceof NotFound) return null;
      throw error;
    }
  }

  async #heard(project: Project, trigger: Trigger): Promise<Heard> {
    const { git, repositories, reviews } = this.#options;
    const { cause, checkin, branch, askedBy, cron } = trigger;
    const [sha = null] = await git.commitsOf(project, [checkin]);
    const main = await repositories.mainBranches.of(project);
    const review = trigger.review === null ? null : await reviews.find(project.id, trigger.review);
    const name = `projects/${project.slug}`;
    const common = {
      sha: sha ?? "",
      repository: name,
      repository_owner: "projects",
      actor: askedBy.name,
      triggering_actor: askedBy.name,
      run_id: runIdOf(trigger),
      run_attempt: "1",
    };
    const about = {
      repository: { name: project.slug, full_name: name, default_branch: main },
      sender: { login: askedBy.name },
    };
    if (review !== null && (cause === "review" || cause === "landing")) {
      const activity = review.round > 1 ? "synchronize" : "opened";
      const pull = {
        number: review.number,
        title: review.title,
        body: review.description.slice(0, MAX_DESCRIPTION),
        state: "open",
        draft: false,
        merged: false,
        user: { login: review.author.name },
        head: { ref: review.workspace?.name ?? "", sha: sha ?? "" },
        base: { ref: branch },
      };
      return {
        event: {
          name: cause === "landing" ? "merge_group" : "pull_request",
          activity,
          branch,
          paths: review.filesChanged.length > MAX_PATHS ? null : review.filesChanged,
        },
        github: {
          ...common,
          ref: `refs/pull/${review.number}/head`,
          ref_name: `${review.number}/head`,
          ref_type: "branch",
          head_ref: review.workspace?.name ?? "",
          base_ref: branch,
          event: { ...about, action: activity, number: review.number, pull_request: pull },
        },
      };
    }
    const ref = `refs/heads/${branch}`;
    const onBranch = {
      ...common,
      ref,
      ref_name: branch,
      ref_type: "branch",
      head_ref: "",
      base_ref: "",
    };
    if (cause === "push") {
      return {
        // What a push has brought is not known: each passes the filters of paths.
        event: { name: "push", branch, paths: null },
        github: { ...onBranch, event: { ...about, ref, after: sha ?? "" } },
      };
    }
    if (cause === "cron") {
      return {
        event: { name: "schedule", branch, paths: null, cron },
        github: { ...onBranch, event: { ...about, schedule: cron ?? "" } },
      };
    }
    return {
      event: { name: "workflow_dispatch", branch, paths: null },
      github: { ...onBranch, event: { ...about, ref } },
    };
  }
}

/** What a file holds, or why it holds nothing. */
async function readOf(
  file: string,
  text: string,
): Promise<{ readonly workflow: Workflow } | { readonly fault: string }> {
  const { readWorkflow } = await import("../workflows/mod.ts");
  const { DefinitionInvalid } = await import("../definitions/mod.ts");
  try {
    return { workflow: readWorkflow(text, file) };
  } catch (error) {
    if (error instanceof DefinitionInvalid) return { fault: error.message };
    throw error;
  }
}

function githubOf(
  { github }: Heard,
  { event, workflow: { file, name }, inputs }: {
    readonly event: WorkflowEvent["name"];
    readonly workflow: Workflow;
    readonly inputs: Contexts;
  },
): Contexts {
  const { event: payload, repository, ref } = github;
  return {
    ...github,
    event_name: event,
    event: event === "workflow_dispatch" ? { ...payload as Contexts, inputs } : payload ?? {},
    workflow: name,
    workflow_ref: `${repository}/${file}@${ref}`,
  };
}

function plannedJobs(
  { jobs, concurrency, title }: Expansion,
  { workflow, github, inputs, suffix }: {
    readonly workflow: Workflow;
    readonly github: Contexts;
    readonly inputs: Contexts;
    readonly suffix: string;
  },
): PlannedJob[] {
  const contexts = Map.groupBy(jobs, ({ id }) => id);
  return jobs.map((job): PlannedJob => {
    const group = job.concurrency ?? concurrency;
    const { id, needs, condition, mayFail, failsFast, maxParallel, refusal, steps, payload } = job;
    const own: WorkflowSpec = {
      file: `${workflow.file}${suffix}`,
      title,
      id,
      needs,
      condition,
      mayFail,
      failsFast,
      maxParallel,
      refusal,
      steps,
      payload,
      github,
      inputs,
    };
    const spec: JobSpec = {
      commands: [],
      shell: "sh",
      timeoutSeconds: job.timeoutSeconds,
      network: true,
      image: null,
      env: {},
      secrets: secretsOf(payload),
      limits: LIMITS,
      artifacts: [],
      cache: null,
      sharesGroup: job.concurrency === null,
      workflow: own,
    };
    return {
      kind: "workflow",
      name: job.context,
      context: `${job.context}${suffix}`,
      counts: suffix === "",
      needs: needs.flatMap((need) =>
        (contexts.get(need) ?? []).map(({ context }) => `${context}${suffix}`)
      ),
      labels: job.labels,
      spec,
      group: group === null ? null : `${group.group}${suffix}`,
      cancelsGroup: group?.cancels ?? false,
    };
  });
}

/** The names of the secrets that a job reads. */
function secretsOf(payload: string): string[] {
  const names = payload.matchAll(/\bsecrets\s*(?:\.\s*|\[\s*')([A-Za-z_]\w{0,99})/g);
  return [...new Set(Array.from(names, ([, name = ""]) => name.toUpperCase()))];
}

/** A number for a run before it has one, as `github.run_id`: the same cause has the same. */
function runIdOf({ causeKey }: Trigger): string {
  return String(createHash("sha256").update(causeKey).digest().readUIntBE(0, 6));
}

function basename(file: string): string {
  return file.slice(file.lastIndexOf("/") + 1);
}
