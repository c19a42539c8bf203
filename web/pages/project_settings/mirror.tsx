import { NotFound } from "../../../services/kernel/errors.ts";
import type { MirrorView } from "../../../services/work/mirrors/mod.ts";
import {
  deleteMirror,
  getMirror,
  runMirror,
  setMirror,
} from "../../../services/work/mirrors/operations.ts";
import { ConfirmForm } from "../../parts/confirm.tsx";
import { ButtonForm, Form, TextField } from "../../parts/form.tsx";
import { Time } from "../../parts/time.tsx";
import type { OpenProject } from "../../project.ts";
import type { Visit } from "../../visit.ts";
import { definePart } from "./part.ts";

/** Where the project is pulled from and pushed to. */
export const mirror = definePart({
  words: "Mirror",
  isForServer: false,
  show,
  actions: {
    "set-mirror": set,
    "run-mirror": async (visit, { slug }) => {
      await visit.invoke(slug, runMirror, {});
      return "The mirror runs now.";
    },
    "remove-mirror": async (visit, { slug }) => {
      await visit.invoke(slug, deleteMirror, {});
      return "The mirror is ended. The remote stays as it is.";
    },
  },
});

async function read(visit: Visit, slug: string): Promise<MirrorView | null> {
  try {
    return await visit.invoke(slug, getMirror, {});
  } catch (error) {
    if (error instanceof NotFound) return null;
    throw error;
  }
}

async function show(visit: Visit, { slug }: OpenProject) {
  const mirror = await read(visit, slug);
  return (
    <>
      <h2>Mirror</h2>
      {mirror === null
        ? <p class="soft">This project is not mirrored.</p>
        : <State visit={visit} mirror={mirror} />}
      <Form visit={visit} action="set-mirror">
        <Remote
          visit={visit}
          name="git"
          legend="Push to a Git remote"
          remote={mirror?.git ?? null}
        />
        <Remote
          visit={visit}
          name="pull"
          legend="Follow a Git repository"
          remote={mirror?.pull?.git ?? null}
        />
        <Remote
          visit={visit}
          name="fossil"
          legend="Pull from a Fossil repository"
          remote={mirror?.fossil ?? null}
        />
        <TextField
          visit={visit}
          name="every_minutes"
          label="Minutes between two runs"
          type="number"
          value={String(mirror?.every_minutes ?? 60)}
        />
        <button class="primary" type="submit">
          {mirror === null ? "Start the mirror" : "Save"}
        </button>
      </Form>
    </>
  );
}

function State({ visit, mirror }: { readonly visit: Visit; readonly mirror: MirrorView }) {
  const { running, last_success_at, last_error, failures, next_run_at } = mirror;
  // The end of a run is no event.
  const isUnderWay = running || Date.parse(next_run_at) <= Date.now();
  return (
    <section
      class="card"
      data-live-part="mirror"
      data-live-on="mirror_changed"
      {...isUnderWay ? { "data-live-running": "" } : {}}
    >
      <p>
        {running
          ? <span class="badge warn">running</span>
          : last_error === null
          ? <span class="badge good">{last_success_at === null ? "waiting" : "up to date"}</span>
          : <span class="badge bad">failed {failures === 1 ? "once" : `${failures} times`}</span>}
        {" "}
        {last_success_at !== null && (
          <>
            last success <Time at={last_success_at} />,{" "}
          </>
        )}
        next run <Time at={next_run_at} />
      </p>
      {last_error !== null && <pre class="wrapped" tabindex={0}>{last_error}</pre>}
      <div class="row">
        <ButtonForm visit={visit} action="run-mirror" label="Run it now" />
        <ConfirmForm
          visit={visit}
          action="remove-mirror"
          label="End the mirror …"
          button="End it"
        >
          <p>Nothing is pushed or pulled any more. What is already there stays.</p>
        </ConfirmForm>
      </div>
    </section>
  );
}

function Remote({ visit, name, legend, remote }: {
  readonly visit: Visit;
  readonly name: "git" | "pull" | "fossil";
  readonly legend: string;
  readonly remote: MirrorView["git"];
}) {
  return (
    <fieldset class="card">
      <legend>{legend}</legend>
      <TextField
        visit={visit}
        name={`${name}-url`}
        label="URL"
        hint="Empty for none"
        type="url"
        value={remote?.url ?? ""}
      />
      <div class="field-grid">
        <TextField
          visit={visit}
          name={`${name}-username`}
          label="User"
          value={remote?.username ?? ""}
        />
        <TextField
          visit={visit}
          name={`${name}-password`}
          label="Password or token"
          type="password"
          autocomplete="new-password"
          {...(remote?.has_password === true ? { hint: "It stays if you leave this empty" } : {})}
        />
      </div>
    </fieldset>
  );
}

async function set(visit: Visit, { slug }: OpenProject): Promise<string> {
  const remote = (name: string) => {
    const field = (part: string) => {
      const value = visit.entered(`${name}-${part}`).trim();
      return value === "" ? {} : { [part]: value };
    };
    if (visit.entered(`${name}-url`).trim() === "") return undefined;
    return { ...field("url"), ...field("username"), ...field("password") };
  };
  const [git, fossil, upstream] = [remote("git"), remote("fossil"), remote("pull")];
  await visit.invoke(slug, setMirror, {
    ...git === undefined ? {} : { git },
    ...fossil === undefined ? {} : { fossil },
    ...upstream === undefined ? {} : { pull: { git: upstream } },
    every_minutes: Number(visit.entered("every_minutes")),
  });
  return "The mirror is set, and runs now.";
}
